/*
 * The rankings, judged by time: how fast is the variant that each puts first, of every layer?
 *
 * Of variants that a ranking finds equal, the one that was generated first goes first.
 */
#ifndef EXPERIMENTS_EXP_RANK_H
#define EXPERIMENTS_EXP_RANK_H

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_rank_learn.h"
#include "experiments/polydl/exp_ranking.h"

/* Says what a ranking is worth on a layer. */
struct exp_rank_verdict {
    size_t n;                 /* variants that it ranks and that were timed; 0: there is no verdict */
    size_t picked;            /* the variant that it puts first */
    double time_ns;           /* of that */
    double share;             /* of the best variant's speed that the picked one has: 1 is the best */
    double top_share;         /* the same of the best among the first 5 % (at least one) */
    double spearman, kendall; /* between costs and times; NaN for fewer than three variants, or where all are equal */
    double seconds;           /* CPU time for a variant, mean; NaN if nobody looked */
};

struct exp_rank_layer {
    bool is_training;                                                     /* the net has seen it */
    double best_ns[EXP_N_POLYDL_THREADS], worst_ns[EXP_N_POLYDL_THREADS]; /* of the variants; NaN without times */
    struct exp_rank_verdict verdict[EXP_N_POLYDL_THREADS][EXP_N_RANKINGS];
};

struct exp_rank {
    const struct exp_polydl *polydl;
    struct exp_analyses analyses;
    struct exp_rank_learnt learnt[EXP_N_POLYDL_THREADS];
    struct exp_rank_layer *layer; /* [polydl->n_layers] */
};

/*
 * Analyses all variants on n_jobs threads, trains the nets, and judges. p must outlive r; progress may be NULL. Returns
 * 0; -EINTR; -ENOMEM or another -errno, with one line in why.
 */
int exp_rank_make(struct exp_rank *r, const struct exp_polydl *p, size_t n_jobs, struct exp_progress *progress,
                  struct exp_why *why);
void exp_rank_release(struct exp_rank *r); /* { 0 } is fine */

/* Returns the variant of a layer that PolyDL's analysis puts first, timed or not. The layer has variants. */
size_t exp_rank_first(const struct exp_rank *r, size_t layer, enum exp_polydl_threads threads);

/* Judges one ranking of a layer: costs[n] beside times[n], those of all variants; what is not known is NaN. */
struct exp_rank_verdict exp_rank_judge(const double *costs, const double *times, size_t n);

#endif
