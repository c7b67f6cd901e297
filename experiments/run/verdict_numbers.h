/* Numbers of a verdict (run.h), for its sentences, its table and its screen. Unknown numbers are NaN. */
#ifndef EXPERIMENTS_RUN_VERDICT_NUMBERS_H
#define EXPERIMENTS_RUN_VERDICT_NUMBERS_H

#include "experiments/run/run.h"

/* A simulation: the loads, and the misses of the first level. */
struct verdict_view {
    enum measure loads, misses;
    const char *words; /* before and after the machine's name */
    const char *more;
};

extern const struct verdict_view verdict_as_it_is, verdict_alone, verdict_with_all;

/* Returns the sum of a measure over the layers; NaN if any layer lacks the measure. */
double verdict_sum(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure q);

/* Return a part of the time step by step, in %: of a layer, of all layers. */
double verdict_layer_percent(const struct exp_verdict_layer *x, enum measure part);
double verdict_percent(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure part);

/*
 * Sums a measure of `of` over the layers in which x and the reference have the measure `known`; counts layers in which
 * both have a measure.
 */
double verdict_sum_where(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure known,
                         const struct exp_verdict_variant *of, enum measure q);
size_t verdict_count_known(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure q);

/* Return a measure divided by the reference's: of the layers in which both have the measure; of a layer. */
double verdict_to_reference(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure q);
double verdict_layer_to_reference(const struct exp_verdict *v, const struct exp_verdict_variant *x, size_t layer,
                                  enum measure q);

/* Tells whether the whole model was timed against the reference. */
bool verdict_is_compared(const struct exp_verdict_variant *x);

/* Returns the measured speed-up of the whole model, or else of the timed layers. */
struct exp_ratio verdict_speedup(const struct exp_verdict_variant *x);

/* Returns the layer with the least (sign -1) or greatest (1) speed-up; n_layers without a speed-up. */
size_t verdict_extreme_layer(const struct exp_verdict *v, const struct exp_verdict_variant *x, int sign);

/* Count layers: on a side (1, 0, -1); with a speed-up at all. */
size_t verdict_count_side(const struct exp_verdict *v, const struct exp_verdict_variant *x, int side);
size_t verdict_count_compared(const struct exp_verdict *v, const struct exp_verdict_variant *x);

/* Returns the measure of a level's misses in a view. */
enum measure verdict_misses_of(const struct verdict_view *view, size_t level);

/* Counts the layers that were simulated for a variant and for the reference. */
size_t verdict_count_simulated(const struct exp_verdict *v, const struct exp_verdict_variant *x);

/* Sums a measure of `of` over the layers simulated for x. */
double verdict_sum_beside(const struct exp_verdict *v, const struct exp_verdict_variant *x,
                          const struct exp_verdict_variant *of, enum measure q);

/* Returns the misses of `of` in % of the loads, over the layers simulated for x. */
double verdict_percent_of_loads(const struct exp_verdict *v, const struct exp_verdict_variant *x,
                                const struct exp_verdict_variant *of, const struct verdict_view *view, size_t level);

/* Tell whether the reference has estimated cycles, simulated cycles. */
bool verdict_has_estimates(const struct exp_verdict *v);
bool verdict_has_clock(const struct exp_verdict *v);

/* Tells whether a variant has simulated cycles beside the reference, in some layer. */
bool verdict_has_cycles(const struct exp_verdict *v, const struct exp_verdict_variant *x);

/* Returns the speed-up by simulated or estimated cycles. */
double verdict_estimate(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure cycles);

/*
 * Returns the speed-up by simulated cycles with the 95 % interval of sampled replays; with exact counts, the interval is
 * NaN. The intervals of replays are independent.
 */
struct exp_ratio verdict_by_cycles(const struct exp_verdict *v, const struct exp_verdict_variant *x);

/* Tells whether an interval holds 1: neither side is known to be faster. False without an interval. */
bool verdict_is_open(const struct exp_ratio *r);

/* Returns half of a ratio's interval, rounded up to two decimals. */
double verdict_half_width(const struct exp_ratio *r);

/* Returns the smallest simulated share of a replay's accesses, in percent; 100: all counts are exact. */
double verdict_sampled_percent(const struct exp_verdict *v);

/* Returns the variant with the greatest measured speed-up; NULL without times. */
const struct exp_verdict_variant *verdict_fastest(const struct exp_verdict *v);

/* Returns the variant with the least of a measure over the whole model; NULL without the measure. */
const struct exp_verdict_variant *verdict_least(const struct exp_verdict *v, enum measure q);
bool verdict_is_simulated(const struct exp_verdict *v, const struct exp_verdict_variant *x);

/* Tells whether a variant's times are the simulated machine's own. */
bool verdict_is_checked(const struct exp_verdict *v, const struct exp_verdict_variant *x);

#endif
