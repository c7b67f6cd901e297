#include "experiments/base/exp_correlation.h"

#include <math.h>
#include <stdlib.h>

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

static double spearman(const double *x, const double *y, size_t n)
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

static int order_of(double a, double b)
{
    return a < b ? -1 : a > b;
}

static double kendall(const double *x, const double *y, size_t n)
{
    double xy = 0, xx = 0, yy = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            const int a = order_of(x[i], x[j]), b = order_of(y[i], y[j]);

            xy += a * b;
            xx += a * a;
            yy += b * b;
        }
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : (double)NAN;
}

/* Correlates the pairs that are finite. */
static double correlate(const double *x, const double *y, size_t n,
                        double (*by)(const double *x, const double *y, size_t n))
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
        result = by(pair, pair + n, kept);
    free(pair);
    return result;
}

double exp_correlation_spearman(const double *x, const double *y, size_t n)
{
    return correlate(x, y, n, spearman);
}

double exp_correlation_kendall(const double *x, const double *y, size_t n)
{
    return correlate(x, y, n, kendall);
}
