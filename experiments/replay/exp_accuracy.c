#include "experiments/replay/exp_accuracy.h"

#include <math.h>
#include <stdlib.h>

static double error_of(const struct exp_accuracy_pair *p)
{
    return p->estimated / p->measured.value;
}

static int side_of(double ratio)
{
    return (ratio > 1) - (ratio < 1);
}

/* Pairs that lack a number come last. */
static int by_error(const void *a, const void *b)
{
    double x = error_of(a), y = error_of(b);

    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

/* Returns the value at a rank from 0 to 1 among the first n, between two of them where it falls there. */
static double quantile(const struct exp_accuracy_pair *pair, size_t n, double rank)
{
    double at = rank * (double)(n - 1);
    size_t low = (size_t)at, high = low + 1 < n ? low + 1 : low;

    return error_of(&pair[low]) + (at - (double)low) * (error_of(&pair[high]) - error_of(&pair[low]));
}

struct exp_accuracy exp_accuracy_of(struct exp_accuracy_pair *pair, size_t n)
{
    struct exp_accuracy a = { .p10 = (double)NAN, .median = (double)NAN, .p90 = (double)NAN };

    qsort(pair, n, sizeof *pair, by_error);
    while (a.n < n && !isnan(error_of(&pair[a.n]))) {
        int side = exp_ratio_side(&pair[a.n].measured);

        a.n_sided += side != 0;
        a.n_right += side && side == side_of(pair[a.n].estimated);
        a.n++;
    }
    if (a.n) {
        a.p10 = quantile(pair, a.n, 0.1);
        a.median = quantile(pair, a.n, 0.5);
        a.p90 = quantile(pair, a.n, 0.9);
    }
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
