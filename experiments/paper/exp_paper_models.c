#include "experiments/paper/exp_paper_numbers.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/base/exp_stats.h"
#include "experiments/paper/exp_paper_formulas.h"

/* Sums up both sides over the model's layers; NaN if one layer lacks it or there is none. */
static struct sum {
    double base, own;
} sum_of(const struct exp_paper_set *s, size_t model, enum exp_paper_value v)
{
    struct sum sum = { 0, 0 };
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (s->pair[i].base->model != model)
            continue;
        sum.base += s->pair[i].base->value[v];
        sum.own += s->pair[i].own->value[v];
        n++;
    }
    return n ? sum : (struct sum){ (double)NAN, (double)NAN };
}

double exp_paper_speedup(const struct exp_paper_set *s, size_t model, int arg)
{
    const struct sum t = sum_of(s, model, s->view->time);

    (void)arg;
    return t.base / t.own;
}

double exp_paper_model_speedup(const struct exp_paper_set *s, size_t model, int arg)
{
    return s->share ? exp_paper_amdahl(s->share[model], exp_paper_speedup(s, model, arg)) : (double)NAN;
}

static struct sum percent_of(const struct exp_paper_set *s, size_t model, enum exp_paper_value part,
                             enum exp_paper_value whole)
{
    const struct sum a = sum_of(s, model, part), b = sum_of(s, model, whole);

    return (struct sum){ 100 * a.base / b.base, 100 * a.own / b.own };
}

double exp_paper_base_packing_percent(const struct exp_paper_set *s, size_t model, int arg)
{
    (void)arg;
    return percent_of(s, model, s->view->packing, s->view->steps).base;
}

double exp_paper_own_packing_percent(const struct exp_paper_set *s, size_t model, int arg)
{
    (void)arg;
    return percent_of(s, model, s->view->packing, s->view->steps).own;
}

double exp_paper_base_kernel_percent(const struct exp_paper_set *s, size_t model, int arg)
{
    (void)arg;
    return percent_of(s, model, s->view->kernel, s->view->steps).base;
}

double exp_paper_own_kernel_percent(const struct exp_paper_set *s, size_t model, int arg)
{
    (void)arg;
    return percent_of(s, model, s->view->kernel, s->view->steps).own;
}

double exp_paper_packing_reduction(const struct exp_paper_set *s, size_t model, int arg)
{
    const struct sum t = sum_of(s, model, s->view->packing);

    (void)arg;
    return t.base / t.own;
}

double exp_paper_base_miss_percent(const struct exp_paper_set *s, size_t model, int level)
{
    return percent_of(s, model, exp_paper_misses_column(s, level), s->view->loads).base;
}

double exp_paper_own_miss_percent(const struct exp_paper_set *s, size_t model, int level)
{
    return percent_of(s, model, exp_paper_misses_column(s, level), s->view->loads).own;
}

double exp_paper_miss_ratio(const struct exp_paper_set *s, size_t model, int level)
{
    const struct sum m = sum_of(s, model, exp_paper_misses_column(s, level));

    return m.base / m.own;
}

/* ---- over the models ---- */

static double least(const double *x, size_t n)
{
    double found = x[0];

    for (size_t i = 1; i < n; i++)
        found = fmin(found, x[i]);
    return found;
}

static double most(const double *x, size_t n)
{
    double found = x[0];

    for (size_t i = 1; i < n; i++)
        found = fmax(found, x[i]);
    return found;
}

static double mean(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

double exp_paper_over(const struct exp_paper_set *s, exp_paper_model_fn of, enum exp_paper_over over, int arg)
{
    static double (*const ways[])(const double *, size_t) = { exp_stats_geomean, mean, least, most };
    double *x = calloc(s->n_models + 1, sizeof *x), result;
    size_t n = 0;

    for (size_t m = 0; m < s->n_models && x; m++) {
        x[n] = of(s, m, arg);
        if (!isnan(x[n]))
            n++;
    }
    result = n ? ways[over](x, n) : (double)NAN;
    free(x);
    return result;
}

double exp_paper_geomean_like(const struct exp_paper_set *s, exp_paper_model_fn of, int arg,
                              const struct exp_paper_set *like)
{
    double *x = calloc(s->n_models + 1, sizeof *x), result;
    size_t n = 0;

    for (size_t m = 0; m < s->n_models && x; m++) {
        if (exp_paper_set_has(like, m))
            x[n++] = of(s, m, arg);
    }
    result = exp_stats_geomean(x, n); /* NaN where one is NaN */
    free(x);
    return result;
}
