/*
 * Statistics: of samples of times, which are whole numbers, and of numbers. Pure functions; arrays that are const need no
 * order and are not changed. Quantiles, medians and Spearman's correlation are those of the GNU Scientific Library.
 */
#ifndef EXPERIMENTS_EXP_STATS_H
#define EXPERIMENTS_EXP_STATS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the middle one of n >= 1 samples; of an even number, the mean of the two in the middle. Quadratic time: for hundreds of
 * samples.
 */
double exp_stats_median(const uint64_t *sample, size_t n);
uint64_t exp_stats_min(const uint64_t *sample, size_t n);
uint64_t exp_stats_max(const uint64_t *sample, size_t n);

/* Returns the mean of the smallest quarter, of one sample at least. Quadratic time likewise. */
double exp_stats_low_mean(const uint64_t *sample, size_t n);

/* What is reported of the rounds of one thing that was timed, or of the sums of several, in ns. */
struct exp_times {
    double low_mean; /* exp_stats_low_mean: what speed-ups are made of */
    double fastest, median;
};

/* Returns the times of n samples; all NaN if n is 0. */
struct exp_times exp_times_of(const uint64_t *sample, size_t n);
void exp_times_add(struct exp_times *sum, const struct exp_times *x);

/* Returns how far the median lies above the fastest round, in percent of that; NaN if nothing was timed. */
double exp_times_median_percent(const struct exp_times *x);

/* Sort numbers, none of them NaN: ascending, descending. */
void exp_stats_sort_up(double *x, size_t n);
void exp_stats_sort_down(double *x, size_t n);

/* Quantiles of numbers, between two of them where one falls there; the median of an even number is the two's mean. */
struct exp_spread {
    size_t n; /* 0: the others are NaN */
    double p10, median, p90;
};

/* Sorts the finite ones of n numbers to the front, and returns their quantiles. */
struct exp_spread exp_spread_of(double *x, size_t n);

/* Returns the geometric mean, which is how ratios are averaged; NaN if n is 0 or one of them is not a positive number. */
double exp_stats_geomean(const double *x, size_t n);

/*
 * Return Spearman's rank correlation, and Kendall's (tau-b, in quadratic time); pairs with a value that is not finite are
 * left out. NaN for fewer than three pairs, where all values of a list are equal, or on lack of memory.
 */
double exp_stats_spearman(const double *x, const double *y, size_t n);
double exp_stats_kendall(const double *x, const double *y, size_t n);

#endif
