#include "experiments/study/exp_study_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_stats.h"

static double quantile(const double *sorted, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t low = (size_t)at;

    return low + 1 < n ? sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]) : sorted[n - 1];
}

struct exp_study_spread exp_study_spread_of(const double *ratio, size_t n)
{
    struct exp_study_spread s = { 0, (double)NAN, (double)NAN, (double)NAN };
    double *sorted = malloc((n + 1) * sizeof *sorted);

    for (size_t i = 0; i < n && sorted; i++) {
        if (isfinite(ratio[i]))
            sorted[s.n++] = ratio[i];
    }
    if (s.n) {
        exp_stats_sort_up(sorted, s.n);
        s.p10 = quantile(sorted, s.n, 0.1);
        s.median = quantile(sorted, s.n, 0.5);
        s.p90 = quantile(sorted, s.n, 0.9);
    }
    free(sorted);
    return s;
}

/* Returns the rank of x[i] among x[n]: the mean one of equal values. */
static double rank_of(const double *x, size_t n, size_t i)
{
    size_t below = 0, equal = 0;

    for (size_t j = 0; j < n; j++) {
        below += x[j] < x[i];
        equal += x[j] == x[i];
    }
    return (double)below + (double)(equal - 1) / 2;
}

static double correlation(const double *x, const double *y, size_t n)
{
    double mean = (double)(n - 1) / 2, xy = 0, xx = 0, yy = 0;

    for (size_t i = 0; i < n; i++) {
        double a = rank_of(x, n, i) - mean, b = rank_of(y, n, i) - mean;

        xy += a * b;
        xx += a * a;
        yy += b * b;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : (double)NAN;
}

double exp_study_rank(const double *x, const double *y, size_t n)
{
    double *pair = malloc((2 * n + 1) * sizeof *pair), result = (double)NAN;
    size_t kept = 0;

    for (size_t i = 0; i < n && pair; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i]))
            continue;
        pair[kept] = x[i];
        pair[n + kept++] = y[i];
    }
    if (kept >= 3)
        result = correlation(pair, pair + n, kept);
    free(pair);
    return result;
}
