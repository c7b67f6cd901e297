/*
 * Analyses of variants, without running or simulating any: PolyDL's working sets, HayStack's misses, and the time of
 * both.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_ANALYSIS_ANALYSIS_H
#define EXPERIMENTS_PAPERS_POLYDL_ANALYSIS_ANALYSIS_H

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/papers/polydl/analysis/affine.h"
#include "experiments/papers/polydl/polydl.h"
#include "sim/machine/machine.h"

/*
 * ---- sources ----
 *
 * Data are reused from sources, as PolyDL's and HayStack's models see a machine: caches from the core outwards, each
 * fully associative, then memory.
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
 * Reads the sources off a machine of n_cores busy cores (at least 1), which share the last cache equally if there are
 * three caches or more. A first cache without a stated bandwidth has the core's loads per cycle; all else without a
 * stated bandwidth has a line in every latency: the bandwidth of dependent reads.
 */
struct exp_sources exp_sources_of(const struct sim_machine *m, unsigned n_cores);

/*
 * ---- footprints ----
 *
 * Counts how many elements a nest touches between two iterations: exactly, without listing elements. The iterations
 * between are a few boxes; an access touches a product of sets of numbers in a box; and products that overlap
 * are counted once by splitting each axis where its sets differ.
 */

/*
 * Stores the number of distinct elements, of all arrays together, that iterations from first to last (both
 * included, in the order of the loops) read or write. Returns 0, or -EINVAL if last comes before first. The subscripts
 * of a single access must use different loops.
 */
int exp_footprint_between(const struct exp_affine_nest *n, const struct exp_affine_point *first,
                          const struct exp_affine_point *last, uint64_t *elements);

/* Returns the number for all iterations that agree with `at` in the outermost n_fixed loops. */
uint64_t exp_footprint_within(const struct exp_affine_nest *n, size_t n_fixed, const struct exp_affine_point *at);

/*
 * ---- working sets ----
 *
 * PolyDL's analysis of a nest: the elements touched between a use of an element and the next and last uses, for every
 * dependence (Algorithm 1), the part that each cache can hold (Algorithm 2), and the cost (Eq. 1).
 *
 * A dependence whose pairs differ in a parallel iterator has a single working set: all elements that the iterations of
 * the outermost parallel loop touch. Further dependences have a working set up to the first target, and a working set
 * up to the last target where the last is not the first.
 */

enum { EXP_MAX_WORKING_SETS = 2 * EXP_MAX_DEPENDENCES };

struct exp_working_sets {
    size_t n;
    uint64_t elements[EXP_MAX_WORKING_SETS]; /* ascending */
};

/* Finds the working sets of a nest with loops. */
void exp_working_sets_find(struct exp_working_sets *w, const struct exp_affine_nest *n);

/* Bytes of the working sets that are reused from each source, memory last. */
struct exp_resident {
    uint64_t bytes[EXP_MAX_SOURCES];
};

/* Gives each working set, the smallest first, to the first cache with room; memory has the rest. */
struct exp_resident exp_working_sets_place(const struct exp_working_sets *w, size_t element_bytes,
                                           const struct exp_sources *s);

/* Returns Eq. 1: bytes * latency / bandwidth, summed over the sources. */
double exp_working_sets_cost(const struct exp_resident *r, const struct exp_sources *s);

/*
 * ---- misses ----
 *
 * HayStack's measure (Gysi et al., as PolyDL's section 6.3.1 uses the measure): the exact misses of fully associative
 * caches, of which each sees all uses, times the latency of the next source.
 *
 * Lines are used: each call of the micro-kernel uses the lines of its operands once, operand by operand in the order of
 * the nest's accesses, lines in the order of addresses. Every tensor starts a line.
 */
struct exp_haystack {
    double share;                    /* of the counted calls; the rest is scaled */
    uint64_t uses;                   /* of lines */
    uint64_t misses[SIM_MAX_LEVELS]; /* of each cache of the sources */
};

enum { EXP_HAYSTACK_CALLS = 1 << 19 }; /* of a nest with more calls, the first calls are counted */

/*
 * Counts the misses of a variant that a single thread runs. Returns 0, or -ENOMEM. Takes some 100 ns for each operand
 * of a call, because lines that are always used together are used as a single line.
 */
int exp_haystack_count(struct exp_haystack *h, const struct exp_variant *v, const struct exp_sources *s);

/* Returns the cycles that the misses wait: of each cache, for the next cache; of the last, for memory. */
double exp_haystack_cycles(const struct exp_haystack *h, const struct exp_sources *s);

/* ---- all analyses, of each variant of each layer ---- */

/* The results of all analyses of a variant. */
struct exp_analysis {
    /*
     * PolyDL's. On a single thread, all loops are sequential and the thread has the last cache alone; two have an image
     * each, or share the parallel loop of a GEMM, and the last cache.
     */
    struct {
        struct exp_resident resident;
        double cost, seconds;
    } polydl[EXP_N_POLYDL_THREADS];
    /* HayStack's, of a single thread. */
    struct exp_haystack haystack;
    double haystack_cycles, haystack_seconds;
};

struct exp_analyses {
    struct exp_sources sources[EXP_N_POLYDL_THREADS];
    size_t n_layers;
    struct exp_analysis **of; /* [layers][variants] */
};

/* Returns the time of all analyses on n_jobs threads of a usual computer. */
double exp_analyses_seconds(const struct exp_polydl *p, size_t n_jobs);

/*
 * Analyses all variants, on n_jobs threads. progress may be NULL. Returns 0, or -EINTR or another -errno with a line
 * in why.
 */
int exp_analyses_make(struct exp_analyses *a, const struct exp_polydl *p, size_t n_jobs, struct exp_progress *progress,
                      struct exp_why *why);
void exp_analyses_release(struct exp_analyses *a); /* { 0 } is fine */

#endif
