/* Asks the analyses about each variant of each layer, without running or simulating any, and notes what that took. */
#ifndef EXPERIMENTS_EXP_ANALYSIS_H
#define EXPERIMENTS_EXP_ANALYSIS_H

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_progress.h"
#include "experiments/polydl/analysis/exp_haystack.h"
#include "experiments/polydl/analysis/exp_working_sets.h"
#include "experiments/polydl/exp_polydl.h"

/* Holds what the analyses say of one variant. */
struct exp_analysis {
    /* PolyDL's. On one thread, all loops are sequential and the last cache is its own; two have an image each, or share
       the parallel loop of a GEMM, and the last cache. */
    struct {
        struct exp_resident resident;
        double cost, seconds;
    } polydl[EXP_N_POLYDL_THREADS];
    /* HayStack's, of one thread. */
    struct exp_haystack haystack;
    double haystack_cycles, haystack_seconds;
};

struct exp_analyses {
    struct exp_sources sources[EXP_N_POLYDL_THREADS];
    size_t n_layers;
    struct exp_analysis **of; /* [layers][variants] */
};

/* Returns how many threads that is. */
unsigned exp_polydl_n_threads(enum exp_polydl_threads threads);

/* Returns how long that takes on n_jobs threads of a usual computer. */
double exp_analyses_seconds(const struct exp_polydl *p, size_t n_jobs);

/*
 * Analyses all variants, on n_jobs threads. progress may be NULL. Returns 0; -EINTR; -ENOMEM or another -errno, with
 * one line in why.
 */
int exp_analyses_make(struct exp_analyses *a, const struct exp_polydl *p, size_t n_jobs, struct exp_progress *progress,
                      struct exp_why *why);
void exp_analyses_release(struct exp_analyses *a); /* { 0 } is fine */

#endif
