#include "experiments/study/exp_study_stats.h"

#include <math.h>
#include <stdlib.h>

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
