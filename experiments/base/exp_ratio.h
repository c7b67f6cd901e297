/*
 * Speed-ups out of rounds: how many times as fast as Base an algorithm is, over a layer or over all layers of a model,
 * and how sure that is.
 *
 * The value: the sum over the layers of Base's times, divided by the same sum of the algorithm. A time is the mean of
 * the fastest quarter of a layer's rounds. What disturbs a run mostly adds time, so the fast rounds repeat where the
 * median does not; and the single fastest may be too lucky to repeat. Five runs each, on two cores with a load of
 * about 15, 9 and 9, gave tuned over Base within 1.2, 2.2 and 5.4 % by quarters (SqueezeNet twice, ResNet-18), 1.8,
 * 4.6 and 4.4 % by medians, 3.0, 1.5 and 3.3 % by the fastest: none is exact on a machine that others use. With no other
 * program running there, by quarters: within 1.7 % (SqueezeNet) and 5.4 % (ResNet-18; without one of the five, 2.6 %).
 *
 * The interval: the same ratio out of a random half of the rounds, for EXP_RATIO_DRAWS halves; low and high hold the
 * middle 95 % of them, and the value. A half has the same rounds for both sides, is drawn for each layer by itself and
 * without putting back (drawing with replacement, the usual bootstrap, counts fast rounds twice), by a generator that
 * always starts alike: equal samples have equal intervals. Below EXP_RATIO_LEAST_ROUNDS there is no interval: NaN.
 *
 * A ratio stands when its interval is no wider than EXP_RATIO_PERCENT of its value. It tells what other rounds of the
 * same run would have made of it; what disturbed the whole run alike, exp_disturbance.h tells.
 */
#ifndef EXPERIMENTS_EXP_RATIO_H
#define EXPERIMENTS_EXP_RATIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXP_RATIO_DRAWS = 400, EXP_RATIO_LEAST_ROUNDS = 4, EXP_RATIO_PERCENT = 1 };

/* NaN where there is nothing to tell. */
struct exp_ratio {
    double value, low, high;
    double by_median; /* the same ratio of sums of medians */
};

/* The rounds of one layer; base_ns is NULL where Base did not run: then the ratio is of 1 ns to the algorithm's sum. */
struct exp_pair {
    const uint64_t *base_ns, *algo_ns; /* [n_rounds]; the same index is the same round */
    size_t n_rounds;
};

/* Returns the ratio over n_layers layers; all NaN if there is none or one has no rounds. */
struct exp_ratio exp_ratio_of(const struct exp_pair *layer, size_t n_layers);

/* For cells of low and high that are empty though there is a value. */
#define EXP_RATIO_NO_INTERVAL "fewer than 4 rounds make no interval"

/* Returns a ratio that is not known: all NaN. */
struct exp_ratio exp_ratio_none(void);

bool exp_ratio_stands(const struct exp_ratio *r);

/*
 * Tells on which side of 1 the whole interval lies (the value, where there is no interval): 1 above, -1 below. 0: the
 * interval holds 1, or nothing is known.
 */
int exp_ratio_side(const struct exp_ratio *r);

#endif
