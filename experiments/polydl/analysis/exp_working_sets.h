/*
 * PolyDL's analysis of a nest: how much is touched between a use of an element and its next and last ones, for every
 * dependence (its Algorithm 1), what of it each cache can hold (its Algorithm 2), and what that costs (its Eq. 1).
 *
 * A dependence whose pairs differ in a parallel iterator has one working set: all that the iterations of the outermost
 * parallel loop touch. Any other has that up to the first target, and that up to the last one where this is another.
 */
#ifndef EXPERIMENTS_EXP_WORKING_SETS_H
#define EXPERIMENTS_EXP_WORKING_SETS_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/polydl/analysis/exp_affine.h"
#include "sim/machine/machine.h"

/*
 * ---- sources ----
 *
 * Sources are what data are reused from, as PolyDL's and HayStack's models see a machine: its caches from the core
 * outwards, each fully associative, then memory.
 */

enum { EXP_MAX_SOURCES = SIM_MAX_LEVELS + 1 };

struct exp_source {
    uint64_t bytes;   /* 0 for memory, which holds everything */
    double latency;   /* cycles */
    double bandwidth; /* bytes per cycle towards the core; above 0 */
};

struct exp_sources {
    size_t n_caches;
    uint64_t line_bytes;                       /* of the first cache */
    struct exp_source source[EXP_MAX_SOURCES]; /* n_caches + 1 */
};

/*
 * Reads them off a machine of n_cores busy cores (at least 1), which share its last cache equally if it has three or
 * more. A bandwidth that the machine file does not state is, of the first cache, what the core can load per cycle;
 * else, and if the core's is not stated either, one line in every latency: what reads give that wait for each other.
 */
struct exp_sources exp_sources_of(const struct sim_machine *m, unsigned n_cores);

/*
 * ---- footprints ----
 *
 * Counts how many elements a nest touches between two of its iterations: exactly, without listing them. The iterations
 * between are a few boxes; what an access touches in a box is a product of sets of numbers; and products that overlap
 * are counted once by splitting each axis where its sets differ.
 */

/*
 * Stores the number of distinct elements, of all arrays together, that iterations from first to last (both of them
 * included, in the order of the loops) read or write. Returns 0, -EINVAL if last comes before first, or -ENOMEM.
 * The subscripts of one access must use different loops.
 */
int exp_footprint_between(const struct exp_affine_nest *n, const struct exp_affine_point *first,
                          const struct exp_affine_point *last, uint64_t *elements);

/* Does the same for all iterations that agree with `at` in their outermost n_fixed loops. */
int exp_footprint_within(const struct exp_affine_nest *n, size_t n_fixed, const struct exp_affine_point *at,
                         uint64_t *elements);

/* ---- working sets ---- */

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
