#include "experiments/base/exp_stats.h"

#include <assert.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

/*
 * Returns the sample that would stand at index k if they were sorted. It is found by counting, so that nothing is
 * copied.
 */
static uint64_t ranked(const uint64_t *sample, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++) {
        size_t n_less = 0, n_equal = 0;

        for (size_t j = 0; j < n; j++) {
            n_less += sample[j] < sample[i];
            n_equal += sample[j] == sample[i];
        }
        if (n_less <= k && k < n_less + n_equal)
            return sample[i];
    }
    assert(0); /* k < n */
    return 0;
}

double exp_stats_median(const uint64_t *sample, size_t n)
{
    assert(n);
    return n % 2 ? (double)ranked(sample, n, n / 2)
                 : 0.5 * ((double)ranked(sample, n, n / 2 - 1) + (double)ranked(sample, n, n / 2));
}

/* Returns how many samples stand before this one if they are sorted; equal ones as they come. */
static size_t rank_of(const uint64_t *sample, size_t n, size_t which)
{
    size_t rank = 0;

    for (size_t i = 0; i < n; i++)
        rank += sample[i] < sample[which] || (sample[i] == sample[which] && i < which);
    return rank;
}

double exp_stats_low_mean(const uint64_t *sample, size_t n)
{
    const size_t n_low = (n + 3) / 4;
    double sum = 0;

    assert(n);
    for (size_t i = 0; i < n; i++) {
        if (rank_of(sample, n, i) < n_low)
            sum += (double)sample[i];
    }
    return sum / (double)n_low;
}

uint64_t exp_stats_min(const uint64_t *sample, size_t n)
{
    uint64_t low = sample[0];

    assert(n);
    for (size_t i = 1; i < n; i++)
        low = sample[i] < low ? sample[i] : low;
    return low;
}

uint64_t exp_stats_max(const uint64_t *sample, size_t n)
{
    uint64_t high = sample[0];

    assert(n);
    for (size_t i = 1; i < n; i++)
        high = sample[i] > high ? sample[i] : high;
    return high;
}

struct exp_times exp_times_of(const uint64_t *sample, size_t n)
{
    if (!n)
        return (struct exp_times){ (double)NAN, (double)NAN, (double)NAN };
    return (struct exp_times){
        .low_mean = exp_stats_low_mean(sample, n),
        .fastest = (double)exp_stats_min(sample, n),
        .median = exp_stats_median(sample, n),
    };
}

void exp_times_add(struct exp_times *sum, const struct exp_times *x)
{
    sum->low_mean += x->low_mean;
    sum->fastest += x->fastest;
    sum->median += x->median;
}

double exp_times_median_percent(const struct exp_times *x)
{
    return 100 * (x->median / x->fastest - 1);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int descending(const void *a, const void *b)
{
    return ascending(b, a);
}

void exp_stats_sort_up(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
}

void exp_stats_sort_down(double *x, size_t n)
{
    qsort(x, n, sizeof *x, descending);
}

struct exp_spread exp_spread_of(double *x, size_t n)
{
    struct exp_spread s = { 0, (double)NAN, (double)NAN, (double)NAN };

    for (size_t i = 0; i < n; i++) {
        if (isfinite(x[i]))
            x[s.n++] = x[i];
    }
    if (!s.n)
        return s;
    exp_stats_sort_up(x, s.n);
    s.p10 = gsl_stats_quantile_from_sorted_data(x, 1, s.n, 0.1);
    s.median = gsl_stats_median_from_sorted_data(x, 1, s.n);
    s.p90 = gsl_stats_quantile_from_sorted_data(x, 1, s.n, 0.9);
    return s;
}

double exp_stats_geomean(const double *x, size_t n)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++) {
        if (!(x[i] > 0))
            return (double)NAN;
        sum += log(x[i]);
    }
    return n ? exp(sum / (double)n) : (double)NAN;
}

/* ---- correlations ---- */

/* The pairs of two lists that are finite, and room for the ranks of both. From malloc. */
struct pairs {
    double *x, *y, *work;
    size_t n;
};

/* Leaves none where there is no memory. */
static struct pairs finite_pairs(const double *x, const double *y, size_t n)
{
    struct pairs p = { .x = malloc((4 * n + 1) * sizeof *p.x) };

    if (!p.x)
        return p;
    p.y = p.x + n;
    p.work = p.y + n;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(x[i]) && isfinite(y[i])) {
            p.x[p.n] = x[i];
            p.y[p.n++] = y[i];
        }
    }
    return p;
}

enum { LEAST_PAIRS = 3 };

double exp_stats_spearman(const double *x, const double *y, size_t n)
{
    struct pairs p = finite_pairs(x, y, n);
    double rho = p.n < LEAST_PAIRS ? (double)NAN : gsl_stats_spearman(p.x, 1, p.y, 1, p.n, p.work);

    free(p.x);
    return rho;
}

static int order_of(double a, double b)
{
    return a < b ? -1 : a > b;
}

double exp_stats_kendall(const double *x, const double *y, size_t n)
{
    struct pairs p = finite_pairs(x, y, n);
    double xy = 0, xx = 0, yy = 0;

    for (size_t i = 0; i < p.n && p.n >= LEAST_PAIRS; i++) {
        for (size_t j = i + 1; j < p.n; j++) {
            const int a = order_of(p.x[i], p.x[j]), b = order_of(p.y[i], p.y[j]);

            xy += a * b;
            xx += a * a;
            yy += b * b;
        }
    }
    free(p.x);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : (double)NAN;
}
