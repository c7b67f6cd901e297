/* Sums up what each ranking is worth over many layers. */
#ifndef EXPERIMENTS_EXP_RANK_TOTALS_H
#define EXPERIMENTS_EXP_RANK_TOTALS_H

#include "experiments/polydl/exp_rank.h"

/* Chooses layers: of convolutions, those that the net has seen, and those it has not; GEMMs. */
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

/*
 * Returns the part by which rankings are compared: the convolutions that the net has not seen, or all of them if there
 * is no net. On layers that trained it the net knows the times.
 */
enum exp_rank_part exp_rank_fair_part(const struct exp_rank *r, enum exp_polydl_threads threads);

/* Returns a layer's place in its model, from 1. */
size_t exp_rank_place(const struct exp_polydl *p, size_t layer);

/* The target: a pick at 95 % of the best variant's speed, or above. */
#define EXP_RANK_NEAR_BEST 0.95

/* Tells whether a pick can miss that target: the layer's slowest variant does. */
bool exp_rank_can_fail(const struct exp_rank_layer *l, enum exp_polydl_threads threads);

struct exp_rank_total {
    size_t n;      /* layers with a verdict; 0: all else is NaN */
    size_t n_seen; /* of these, the layers that the net was trained on */
    double mean_share, geomean_share, worst_share;
    double near_best_percent; /* layers whose pick reaches EXP_RANK_NEAR_BEST */
    size_t n_can_fail;        /* layers where a pick can miss it */
    double can_fail_percent;  /* of those, the layers whose pick reaches it; NaN if there are none */
    double geomean_top_share;
    double mean_spearman, mean_kendall; /* of the layers that have one */
    double mean_seconds;                /* for a variant: mean of the layers' */
    double most_seconds;
};

/* Sums one ranking up. model, unless NULL, takes the layers of that model alone. Returns n = 0 on lack of memory. */
struct exp_rank_total exp_rank_total_of(const struct exp_rank *r, enum exp_polydl_threads threads,
                                        enum exp_ranking ranking, enum exp_rank_part part, const char *model);

/* By how much the picks of a ranking are faster than those of another, layer by layer. */
struct exp_rank_lead {
    size_t n;           /* layers on which both have a verdict */
    double mean, error; /* of the differences of their shares: mean and standard error; NaN for fewer than two layers */
    bool is_clear;      /* there are EXP_RANK_LEAST_LAYERS, and the mean is above twice its error */
};

enum { EXP_RANK_LEAST_LAYERS = 5 };

struct exp_rank_lead exp_rank_lead_of(const struct exp_rank *r, enum exp_polydl_threads threads,
                                      enum exp_ranking ranking, enum exp_ranking over, enum exp_rank_part part);

#endif
