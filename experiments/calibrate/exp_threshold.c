#include "experiments/calibrate/exp_threshold.h"

#include <errno.h>

#include "experiments/base/exp_stats.h"

int exp_threshold_find(double *near, double *far, size_t n, double *threshold)
{
    double low, high;

    exp_stats_sort_up(near, n);
    exp_stats_sort_up(far, n);
    low = near[3 * n / 4];
    high = far[n / 4];
    *threshold = (low + high) / 2;
    return high - low >= 1 && high - low >= low / 4 ? 0 : -ENODATA;
}
