/*
 * PolyDL's analysis of a nest: how much is touched between a use of an element and its next and last ones, for every
 * dependence (its Algorithm 1), what of it each cache can hold (its Algorithm 2), and what that costs (its Eq. 1).
 *
 * A dependence whose pairs differ in a parallel iterator has one working set: all that the iterations of the outermost
 * parallel loop touch. Any other has that up to the first target, and that up to the last one where this is another.
 */
#ifndef EXPERIMENTS_EXP_WORKING_SETS_H
#define EXPERIMENTS_EXP_WORKING_SETS_H

#include "experiments/polydl/exp_affine.h"
#include "experiments/polydl/exp_sources.h"

enum { EXP_MAX_WORKING_SETS = 2 * EXP_MAX_DEPENDENCES };

struct exp_working_sets {
    size_t n;
    uint64_t elements[EXP_MAX_WORKING_SETS]; /* ascending */
};

/* Finds the working sets of a nest. Returns 0, -EINVAL for a nest without loops, or -ENOMEM. */
int exp_working_sets_find(struct exp_working_sets *w, const struct exp_affine_nest *n);

/* Bytes of the working sets that are reused from each source, memory last. */
struct exp_resident {
    uint64_t bytes[EXP_MAX_SOURCES];
};

/* Gives each working set, the smallest first, to the first cache that still has room for it; memory has the others. */
struct exp_resident exp_working_sets_place(const struct exp_working_sets *w, size_t element_bytes,
                                           const struct exp_sources *s);

/* Returns Eq. 1: bytes * latency / bandwidth, summed over the sources. */
double exp_working_sets_cost(const struct exp_resident *r, const struct exp_sources *s);

#endif
