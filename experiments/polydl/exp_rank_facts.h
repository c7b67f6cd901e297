/*
 * These functions say what printed.csv has of ours that is no speed of a pick: what was run, what analyses took, what
 * fusing brings. Each says its number as text, or "" if this run does not have it.
 */
#ifndef EXPERIMENTS_EXP_RANK_FACTS_H
#define EXPERIMENTS_EXP_RANK_FACTS_H

#include "experiments/polydl/exp_rank_report.h"

typedef void exp_rank_fact_fn(const struct exp_rank_results *x, char *text, size_t bytes);

exp_rank_fact_fn exp_rank_fact_l1, exp_rank_fact_l2, exp_rank_fact_l3; /* of the machine */
exp_rank_fact_fn exp_rank_fact_images;                                 /* of a convolution */
exp_rank_fact_fn exp_rank_fact_layers, exp_rank_fact_variants, exp_rank_fact_rounds;
exp_rank_fact_fn exp_rank_fact_blocked;  /* PolyDL's layers that have blocks, of all that its scripts list */
exp_rank_fact_fn exp_rank_fact_training; /* layers that train the net */
exp_rank_fact_fn exp_rank_fact_polydl_seconds, exp_rank_fact_haystack_seconds; /* for a variant */
exp_rank_fact_fn exp_rank_fact_bnorm, exp_rank_fact_bnorm_onednn,
    exp_rank_fact_conv; /* fused, how many times as fast */

#endif
