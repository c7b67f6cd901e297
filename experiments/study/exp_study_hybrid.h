/*
 * Finds what the models are good for beyond one algorithm's tiles: the better of SConv and Base for each layer, by
 * prediction; and what becomes of both when the micro-kernel gets faster and nothing else does.
 */
#ifndef EXPERIMENTS_EXP_STUDY_HYBRID_H
#define EXPERIMENTS_EXP_STUDY_HYBRID_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/study/exp_study_base.h"
#include "experiments/study/exp_study_choices.h"

/* SConv as csa2 schedules it, and Base: sums over layers where both were timed. */
struct exp_study_hybrid {
    size_t n, n_sconv, n_right; /* layers; SConv is predicted to be faster; the faster one was chosen */
    double base, sconv, chosen, best;
    struct exp_spread base_spread; /* of Base's predicted cycles over the measured ones */
    double by_shape, by_other;     /* chosen by the median of the same shape's layers, and by the second measure */
    const struct exp_layer *worst; /* a layer of the shape that costs most by wrong choices; NULL: none does */
    size_t n_worst;                /* layers of that shape */
    double worst_share;            /* of all that wrong choices cost */
};

struct exp_study_hybrid exp_study_hybrid_of(const struct exp_study_source *s, const struct exp_study_base *b,
                                            enum csa2_state state, enum exp_study_part part);

/* A micro-kernel that does so many multiply-adds per cycle: all layers, cold, predicted. */
struct exp_study_rate {
    double macs_per_cycle;
    double base, sconv;                 /* cycles */
    double base_packing, sconv_packing; /* of those: im2col and packing */
};

struct exp_study_rate exp_study_rate_of(const struct exp_study_source *s, const struct exp_study_base *b,
                                        double macs_per_cycle);

/* Write hybrid.csv and rates.csv. Return 0, or -errno with one line in why. */
int exp_study_hybrid_write(const struct exp_study_source *source, const struct exp_study_base *base, size_t n,
                           const struct exp_outdir *dir, const char *what, struct exp_why *why);
void exp_study_hybrid_print(const struct exp_study_source *source, const struct exp_study_base *base, size_t n,
                            FILE *out);
void exp_study_hybrid_document(FILE *out);

#endif
