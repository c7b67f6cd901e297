/*
 * The numbers that the paper makes of such pairs: of a model, and of all layers. A number is NaN where a view has no such
 * column, or no layer with it.
 */
#ifndef EXPERIMENTS_EXP_PAPER_NUMBERS_H
#define EXPERIMENTS_EXP_PAPER_NUMBERS_H

#include "experiments/paper/exp_paper_cases.h"

/* ---- of one model ---- */

/* arg: a level (0, 1, 2) where misses are asked for; else ignored. */
typedef double (*exp_paper_model_fn)(const struct exp_paper_set *s, size_t model, int arg);

double exp_paper_speedup(const struct exp_paper_set *s, size_t model, int arg);
double exp_paper_model_speedup(const struct exp_paper_set *s, size_t model, int arg); /* Amdahl with s->share */
double exp_paper_base_packing_percent(const struct exp_paper_set *s, size_t model, int arg);
double exp_paper_own_packing_percent(const struct exp_paper_set *s, size_t model, int arg);
double exp_paper_base_kernel_percent(const struct exp_paper_set *s, size_t model, int arg);
double exp_paper_own_kernel_percent(const struct exp_paper_set *s, size_t model, int arg);
double exp_paper_packing_reduction(const struct exp_paper_set *s, size_t model, int arg);
double exp_paper_base_miss_percent(const struct exp_paper_set *s, size_t model, int level);
double exp_paper_own_miss_percent(const struct exp_paper_set *s, size_t model, int level);
double exp_paper_miss_ratio(const struct exp_paper_set *s, size_t model, int level); /* Base's misses over its own */

/* Says what is made of the models' numbers; models without one are left out. */
enum exp_paper_over { EXP_PAPER_GEOMEAN, EXP_PAPER_MEAN, EXP_PAPER_LEAST, EXP_PAPER_MOST };

double exp_paper_over(const struct exp_paper_set *s, exp_paper_model_fn of, enum exp_paper_over over, int arg);

/* The geometric mean over those models that another set has; NaN if one of them has no such number in s. */
double exp_paper_geomean_like(const struct exp_paper_set *s, exp_paper_model_fn of, int arg,
                              const struct exp_paper_set *like);

/* ---- of all layers ---- */

typedef double (*exp_paper_all_fn)(const struct exp_paper_set *s, int arg);

double exp_paper_won_percent(const struct exp_paper_set *s, int arg);
double exp_paper_pointwise_won_percent(const struct exp_paper_set *s, int arg);
double exp_paper_most_speedup(const struct exp_paper_set *s, int arg);
double exp_paper_most_pointwise_speedup(const struct exp_paper_set *s, int arg);
double exp_paper_lost_pointwise_percent(const struct exp_paper_set *s, int arg);        /* of the lost layers */
double exp_paper_large_pointwise_lost_percent(const struct exp_paper_set *s, int size); /* of those of size x size */
double exp_paper_best_peak_percent(const struct exp_paper_set *s, int arg);
double exp_paper_models(const struct exp_paper_set *s, int arg);
double exp_paper_layers(const struct exp_paper_set *s, int arg);
double exp_paper_pointwise(const struct exp_paper_set *s, int arg);
double exp_paper_pointwise_percent(const struct exp_paper_set *s, int arg);
double exp_paper_largest_pointwise(const struct exp_paper_set *s, int arg);
double exp_paper_most_batch(const struct exp_paper_set *s, int arg);
double exp_paper_fewer_loads(const struct exp_paper_set *s, int is_percent);
double exp_paper_more_loads(const struct exp_paper_set *s, int is_percent);
double exp_paper_more_misses(const struct exp_paper_set *s, int level);
double exp_paper_more_misses_percent(const struct exp_paper_set *s, int level);
double exp_paper_base_hit_percent(const struct exp_paper_set *s,
                                  int level); /* 100 less the geometric mean of the models */
double exp_paper_own_hit_percent(const struct exp_paper_set *s, int level);
double exp_paper_rate_improvement(const struct exp_paper_set *s,
                                  int level); /* geometric mean rates, Base over its own */
double exp_paper_most_miss_percent(const struct exp_paper_set *s, int level); /* of any model, Base or its own */
double exp_paper_n_f(const struct exp_paper_set *s, int arg);
double exp_paper_n_win(const struct exp_paper_set *s, int arg);
double exp_paper_ws_percent(const struct exp_paper_set *s, int arg); /* of the layers: weight stationary */
double exp_paper_rounds(const struct exp_paper_set *s, int arg);
double exp_paper_calm_percent(const struct exp_paper_set *s, int percent); /* layers with a deviation below */

#endif
