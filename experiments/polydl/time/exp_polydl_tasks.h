/*
 * Times of a layer's variants, in turns, and of what they are held against: each timed run follows an untimed one of
 * its own, unless runs are long. One image and the thread's own clock; or an image for each thread, which a GEMM does
 * not have: its threads share the parallel loop; and the wall's clock.
 *
 * Variants that are about as fast as the fastest one have more rounds, until the clock repeats itself (exp_turns.h).
 *
 * Everything accumulates into its output, as the paper's loops do, which clear it beforehand; SConv, oneDNN and Base
 * overwrite it. Before they are timed, all variants have made the same output, which is SConv's.
 */
#ifndef EXPERIMENTS_EXP_POLYDL_TASKS_H
#define EXPERIMENTS_EXP_POLYDL_TASKS_H

#include "experiments/base/exp_error.h"
#include "experiments/measure/exp_dnnl.h"
#include "experiments/measure/exp_ruler.h"
#include "experiments/polydl/exp_polydl.h"
#include "experiments/setup/exp_algo.h"
#include "experiments/store/exp_tasks.h"
#include "kernels/ukr/small.h"

struct exp_polydl_timing {
    const struct exp_setup *setup; /* of SConv and Base */
    const struct exp_dnnl *dnnl;   /* NULL: it is not there */
    const struct conv_small *small;
    bool uses_xsmm;     /* variants run LIBXSMM's micro-kernels and not ours */
    uint64_t budget_ns; /* of each variant, half of it on two threads */
    uint64_t refine_ns; /* the same, which the variants of a layer that lead may have in all (exp_turns.h) */
    unsigned n_threads; /* up to so many are timed */
    struct exp_ruler
        *ruler; /* beside each timing of one thread, which are taken again for as long as they take; or NULL */
};

/* Holds what is timed of a layer: of_variant is [variants.n]. */
struct exp_polydl_times {
    struct exp_polydl_time (*of_variant)[EXP_N_POLYDL_THREADS];
    struct exp_polydl_time of_baseline[EXP_N_POLYDL_BASELINES];
};

/*
 * Times a layer that has variants. Returns 0; -EINTR; -ENOMEM; -EILSEQ if two outputs are not the same; with one line
 * in why.
 */
int exp_polydl_time(const struct exp_polydl_layer *l, const struct exp_polydl_timing *t, struct exp_polydl_times *times,
                    struct exp_why *why);

/*
 * Returns the share of the outermost loop's iterations that are timed of a baseline, from the first on: of the plain
 * loops, and of a GEMM's tiles of 16, which are slow. Times are scaled to all of them.
 */
double exp_polydl_timed_share(const struct exp_polydl_layer *l, enum exp_polydl_baseline b);

/* Tells how long that takes on a usual computer. */
double exp_polydl_time_seconds(const struct exp_polydl_layer *l, const struct exp_polydl_timing *t);

/*
 * ---- tasks ----
 *
 * The work on layers and variants as tasks of the results store, so that nothing is done twice, and what was stopped
 * goes on. Layers with the same variants, of whatever model, are one.
 *
 * Times are kept, too: they are of this computer, this program and this budget. Without a store they are taken again.
 */

/* Times all layers, one after the other. Returns as exp_tasks_run. */
int exp_polydl_measure(struct exp_polydl *p, const struct exp_polydl_timing *t, const struct exp_tasks_options *o,
                       struct exp_tasks_counts *counts, struct exp_why *why);

/* Simulates all variants, with the accesses of a micro-kernel. Returns as exp_tasks_run. */
int exp_polydl_simulate(struct exp_polydl *p, const struct conv_small *small, const struct exp_tasks_options *o,
                        struct exp_tasks_counts *counts, struct exp_why *why);

/* Tell how long these take on a usual computer, on one thread. */
double exp_polydl_measure_seconds(const struct exp_polydl *p, const struct exp_polydl_timing *t);
double exp_polydl_simulate_seconds(const struct exp_polydl *p);

#endif
