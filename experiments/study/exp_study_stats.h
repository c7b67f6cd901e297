/* Statistics of predictions. Pure functions; arrays are not changed. */
#ifndef EXPERIMENTS_EXP_STUDY_STATS_H
#define EXPERIMENTS_EXP_STUDY_STATS_H

#include <stddef.h>

/* How far predictions are from what was measured or simulated: quantiles of predicted / measured. */
struct exp_study_spread {
    size_t n; /* 0: the others are NaN */
    double p10, median, p90;
};

/* Returns the quantiles of ratios; those that are not finite are left out. On lack of memory, n is 0. */
struct exp_study_spread exp_study_spread_of(const double *ratio, size_t n);

#endif
