/* What each ranking is worth over many layers. */
#ifndef EXPERIMENTS_EXP_RANK_TOTALS_H
#define EXPERIMENTS_EXP_RANK_TOTALS_H

#include "experiments/polydl/exp_rank.h"

/* Which layers: of convolutions, those that the net has seen, and those it has not; GEMMs. */
#define EXP_EACH_RANK_PART(X)                                                                                          \
    X(EXP_RANK_ALL, "convolutions", "all convolutions")                                                                \
    X(EXP_RANK_HELD_OUT, "held_out", "convolutions that the net was not trained on")                                   \
    X(EXP_RANK_SEEN, "training", "convolutions that the net was trained on")                                           \
    X(EXP_RANK_GEMMS, "gemms", "matrix multiplications")

#define EXP_RANK_PART_NUMBER(number, name, meaning) number,
enum exp_rank_part { EXP_EACH_RANK_PART(EXP_RANK_PART_NUMBER) EXP_N_RANK_PARTS };
#undef EXP_RANK_PART_NUMBER

const char *exp_rank_part_name(enum exp_rank_part p);
const char *exp_rank_part_meaning(enum exp_rank_part p);

/* Tells whether a layer of r, by its number, belongs to a part. */
bool exp_rank_is_in(const struct exp_rank *r, size_t layer, enum exp_rank_part part);

/* Returns a layer's place in its model, from 1. */
size_t exp_rank_place(const struct exp_polydl *p, size_t layer);

/* The target: a pick at 95 % of the best variant's speed, or above. */
#define EXP_RANK_NEAR_BEST 0.95

struct exp_rank_total {
    size_t n; /* layers with a verdict; 0: all else is NaN */
    double mean_share, geomean_share, worst_share;
    double near_best_percent; /* layers whose pick reaches EXP_RANK_NEAR_BEST */
    double geomean_top_share;
    double mean_spearman, mean_kendall; /* of the layers that have one */
    double mean_seconds;                /* for a variant: mean of the layers' */
    double most_seconds;
};

/* Sums one ranking up. model, unless NULL, takes the layers of that model alone. Returns n = 0 on lack of memory. */
struct exp_rank_total exp_rank_total_of(const struct exp_rank *r, enum exp_polydl_threads threads,
                                        enum exp_ranking ranking, enum exp_rank_part part, const char *model);

#endif
