#include "experiments/replay/exp_accuracy.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

static int side_of(double ratio)
{
    return (ratio > 1) - (ratio < 1);
}

static int by_estimated(const void *a, const void *b)
{
    double x = ((const struct exp_accuracy_pair *)a)->estimated, y = ((const struct exp_accuracy_pair *)b)->estimated;

    return (x > y) - (x < y);
}

/* Brings pairs with both numbers to the front, with the error in place of what was estimated; counts them. */
static void find_errors(struct exp_accuracy *a, struct exp_accuracy_pair *pair, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct exp_accuracy_pair p = pair[i];
        const int side = exp_ratio_side(&p.measured);

        if (isnan(p.estimated / p.measured.value))
            continue;
        a->n_sided += side != 0;
        a->n_right += side && side == side_of(p.estimated);
        pair[a->n++].estimated = p.estimated / p.measured.value;
    }
}

struct exp_accuracy exp_accuracy_of(struct exp_accuracy_pair *pair, size_t n)
{
    enum { STRIDE = sizeof *pair / sizeof pair->estimated }; /* from one number to the next */
    struct exp_accuracy a = { .p10 = (double)NAN, .median = (double)NAN, .p90 = (double)NAN };
    const double *error = &pair->estimated;

    find_errors(&a, pair, n);
    if (!a.n)
        return a;
    qsort(pair, a.n, sizeof *pair, by_estimated);
    a.p10 = gsl_stats_quantile_from_sorted_data(error, STRIDE, a.n, 0.1);
    a.median = gsl_stats_median_from_sorted_data(error, STRIDE, a.n);
    a.p90 = gsl_stats_quantile_from_sorted_data(error, STRIDE, a.n, 0.9);
    return a;
}

void exp_accuracy_print(const struct exp_accuracy *a, FILE *out)
{
    if (!a->n) {
        fprintf(out, "no layer has both an estimate and a time");
        return;
    }
    fprintf(out, "estimated / measured %.2f, %.2f, %.2f (p10, median, p90 of %zu layer%s)", a->p10, a->median, a->p90,
            a->n, a->n == 1 ? "" : "s");
    if (a->n_sided)
        fprintf(out, ", on the right side of 1 in %zu of %zu", a->n_right, a->n_sided);
}

void exp_accuracy_say(const struct exp_accuracy *a, double estimate, const char *assumption, struct exp_ratio measured,
                      FILE *out)
{
    int side = exp_ratio_side(&measured);

    if (side && side != side_of(estimate))
        fprintf(out, "withdrawn, %.2f %s: the clock says %.2f; ", estimate, assumption, measured.value);
    else
        fprintf(out, "%.2f %s, measured %.2f; ", estimate, assumption, measured.value);
    exp_accuracy_print(a, out);
}
