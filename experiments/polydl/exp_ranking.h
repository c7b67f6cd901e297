/*
 * The rankings: what each says a variant costs. A ranking is a line here, and a line of functions in exp_ranking.c.
 *
 * CSA and csa2 are not among them. They cost a tiling of SConv's own nest, whose operands are packed; a variant of
 * PolyDL's has blocked tensors, no packing, and an order that neither has a term for. They rank what they apply to in
 * experiments/study.
 */
#ifndef EXPERIMENTS_EXP_RANKING_H
#define EXPERIMENTS_EXP_RANKING_H

#include <stddef.h>

#include "experiments/base/exp_plot.h"
#include "experiments/polydl/analysis/exp_analysis.h"
#include "experiments/polydl/exp_polydl.h"

#define EXP_EACH_RANKING(X)                                                                                            \
    X(EXP_RANKING_POLYDL, "polydl", "PolyDL", "Eq. 1 of PolyDL's working sets")                                        \
    X(EXP_RANKING_DNN, "polydl_dnn", "PolyDL-DNN", "wins in the tournament of PolyDL's net that learnt from times")    \
    X(EXP_RANKING_HAYSTACK, "haystack", "HayStack", "exact misses of fully associative caches times latencies")        \
    X(EXP_RANKING_ALONE, "caches_alone", "exact simulation: caches", "cycles by exact simulation of the caches alone") \
    X(EXP_RANKING_WHOLE, "as_machine", "exact simulation: machine", "the same with prefetchers and TLBs")              \
    X(EXP_RANKING_TRAFFIC, "traffic", "exact simulation: traffic",                                                     \
      "lines that move in the caches alone by bandwidths")                                                             \
    X(EXP_RANKING_DEFAULT, "default_order", "Microkernel", "Figure 8's order or the first variant of a GEMM")          \
    X(EXP_RANKING_CLOCK, "clock", "the clock itself", "times of half of the rounds which the other half judges")

#define EXP_RANKING_NUMBER(number, name, title, meaning) number,
enum exp_ranking { EXP_EACH_RANKING(EXP_RANKING_NUMBER) EXP_N_RANKINGS };
#undef EXP_RANKING_NUMBER

const char *exp_ranking_name(enum exp_ranking r);    /* in columns */
const char *exp_ranking_title(enum exp_ranking r);   /* in figures */
const char *exp_ranking_meaning(enum exp_ranking r); /* one line */

/* A layer's variants, as so many threads run them. */
struct exp_ranking_case {
    const struct exp_polydl_layer *layer;
    const struct exp_analysis *analysis; /* [variants] */
    const unsigned *wins;                /* [variants], of the net; NULL without one */
    enum exp_polydl_threads threads;
};

/* Returns what a variant costs, the less the better; NaN if the ranking says nothing of it. */
double exp_ranking_score(enum exp_ranking r, const struct exp_ranking_case *c, size_t variant);

/* Returns the time by which the ranking is judged, in ns; NaN if the variant was not timed. */
double exp_ranking_time(enum exp_ranking r, const struct exp_ranking_case *c, size_t variant);

/* Returns the CPU seconds that the ranking took for a variant; NaN if nobody looked. */
double exp_ranking_seconds(enum exp_ranking r, const struct exp_ranking_case *c, size_t variant);

/*
 * ---- figures ----
 *
 * The figures of `make polydl`, and what their scripts know beside `figures` and `what`, as variables:
 *
 *   ranking_names, ranking_titles   in the order of EXP_EACH_RANKING; titles in quotes
 */

enum { EXP_N_RANK_VARIABLES = 2 };

/* The variables point into the texts: must stay where it is. */
struct exp_rank_plot {
    char names[256], titles[256];
    struct exp_plot_variable variable[EXP_N_RANK_VARIABLES];
};

void exp_rank_plot_init(struct exp_rank_plot *p);

#endif
