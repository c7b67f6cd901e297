#include "experiments/paper/exp_paper_numbers.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/base/exp_stats.h"
#include "experiments/paper/exp_paper_formulas.h"

/* ---- of one model ---- */

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

/* ---- of all layers ---- */

static double layer_speedup(const struct exp_paper_set *s, const struct exp_paper_pair *p)
{
    return p->base->value[s->view->time] / p->own->value[s->view->time];
}

static bool is_pointwise(const struct exp_paper_pair *p)
{
    return conv_is_pointwise(&p->base->layer->problem);
}

/* A share of the layers that are asked for; NaN without any. */
struct share {
    size_t part, whole;
};

static double percent(struct share x)
{
    return x.whole ? 100.0 * (double)x.part / (double)x.whole : (double)NAN;
}

static struct share won(const struct exp_paper_set *s, bool only_pointwise)
{
    struct share x = { 0, 0 };

    for (size_t i = 0; i < s->n; i++) {
        double speedup = layer_speedup(s, &s->pair[i]);

        if (isnan(speedup) || (only_pointwise && !is_pointwise(&s->pair[i])))
            continue;
        x.whole++;
        x.part += speedup > 1;
    }
    return x;
}

double exp_paper_won_percent(const struct exp_paper_set *s, int arg)
{
    (void)arg;
    return percent(won(s, false));
}

double exp_paper_pointwise_won_percent(const struct exp_paper_set *s, int arg)
{
    (void)arg;
    return percent(won(s, true));
}

static double most_speedup(const struct exp_paper_set *s, bool only_pointwise)
{
    double found = (double)NAN;

    for (size_t i = 0; i < s->n; i++) {
        if (!only_pointwise || is_pointwise(&s->pair[i]))
            found = fmax(found, layer_speedup(s, &s->pair[i]));
    }
    return found;
}

double exp_paper_most_speedup(const struct exp_paper_set *s, int arg)
{
    (void)arg;
    return most_speedup(s, false);
}

double exp_paper_most_pointwise_speedup(const struct exp_paper_set *s, int arg)
{
    (void)arg;
    return most_speedup(s, true);
}

double exp_paper_lost_pointwise_percent(const struct exp_paper_set *s, int arg)
{
    struct share x = { 0, 0 };

    (void)arg;
    for (size_t i = 0; i < s->n; i++) {
        bool is_lost = layer_speedup(s, &s->pair[i]) < 1;

        x.whole += is_lost;
        x.part += is_lost && is_pointwise(&s->pair[i]);
    }
    return percent(x);
}

double exp_paper_large_pointwise_lost_percent(const struct exp_paper_set *s, int size)
{
    struct share x = { 0, 0 };

    for (size_t i = 0; i < s->n; i++) {
        double speedup = layer_speedup(s, &s->pair[i]);

        if (isnan(speedup) || !is_pointwise(&s->pair[i]) || s->pair[i].base->layer->problem.h != (size_t)size)
            continue;
        x.whole++;
        x.part += speedup < 1;
    }
    return percent(x);
}

double exp_paper_best_peak_percent(const struct exp_paper_set *s, int arg)
{
    double found = (double)NAN;

    (void)arg;
    for (size_t i = 0; i < s->n; i++) {
        const struct exp_paper_row *own = s->pair[i].own;

        found =
            fmax(found, 100 * conv_macs(&own->layer->problem) / own->value[s->view->time] / own->value[s->view->peak]);
    }
    return found;
}

double exp_paper_models(const struct exp_paper_set *s, int arg)
{
    (void)arg;
    return (double)s->n_models;
}

double exp_paper_layers(const struct exp_paper_set *s, int arg)
{
    (void)arg;
    return (double)s->n;
}

static struct share pointwise(const struct exp_paper_set *s)
{
    struct share x = { 0, s->n };

    for (size_t i = 0; i < s->n; i++)
        x.part += is_pointwise(&s->pair[i]);
    return x;
}

double exp_paper_pointwise(const struct exp_paper_set *s, int arg)
{
    (void)arg;
    return (double)pointwise(s).part;
}

double exp_paper_pointwise_percent(const struct exp_paper_set *s, int arg)
{
    (void)arg;
    return percent(pointwise(s));
}

double exp_paper_largest_pointwise(const struct exp_paper_set *s, int arg)
{
    double found = (double)NAN;

    (void)arg;
    for (size_t i = 0; i < s->n; i++) {
        if (is_pointwise(&s->pair[i]))
            found = fmax(found, (double)s->pair[i].base->layer->problem.h);
    }
    return found;
}

double exp_paper_most_batch(const struct exp_paper_set *s, int arg)
{
    double found = (double)NAN;

    (void)arg;
    for (size_t i = 0; i < s->n; i++)
        found = fmax(found, (double)s->pair[i].base->layer->problem.n);
    return found;
}

/* Layers where its own number is less than Base's (sign -1), or more (1). */
static struct share compared(const struct exp_paper_set *s, enum exp_paper_value v, int sign)
{
    struct share x = { 0, 0 };

    for (size_t i = 0; i < s->n; i++) {
        double difference = s->pair[i].own->value[v] - s->pair[i].base->value[v];

        x.whole += isnan(difference) ? 0 : 1;
        x.part += sign * difference > 0;
    }
    return x;
}

static double count_or_percent(struct share x, int is_percent)
{
    return is_percent || !x.whole ? percent(x) : (double)x.part;
}

double exp_paper_fewer_loads(const struct exp_paper_set *s, int is_percent)
{
    return count_or_percent(compared(s, s->view->loads, -1), is_percent);
}

double exp_paper_more_loads(const struct exp_paper_set *s, int is_percent)
{
    return count_or_percent(compared(s, s->view->loads, 1), is_percent);
}

double exp_paper_more_misses(const struct exp_paper_set *s, int level)
{
    return count_or_percent(compared(s, exp_paper_misses_column(s, level), 1), false);
}

double exp_paper_more_misses_percent(const struct exp_paper_set *s, int level)
{
    return count_or_percent(compared(s, exp_paper_misses_column(s, level), 1), true);
}

double exp_paper_base_hit_percent(const struct exp_paper_set *s, int level)
{
    return 100 - exp_paper_over(s, exp_paper_base_miss_percent, EXP_PAPER_GEOMEAN, level);
}

double exp_paper_own_hit_percent(const struct exp_paper_set *s, int level)
{
    return 100 - exp_paper_over(s, exp_paper_own_miss_percent, EXP_PAPER_GEOMEAN, level);
}

double exp_paper_rate_improvement(const struct exp_paper_set *s, int level)
{
    return exp_paper_miss_improvement(exp_paper_base_hit_percent(s, level), exp_paper_own_hit_percent(s, level));
}

double exp_paper_most_miss_percent(const struct exp_paper_set *s, int level)
{
    return fmax(exp_paper_over(s, exp_paper_base_miss_percent, EXP_PAPER_MOST, level),
                exp_paper_over(s, exp_paper_own_miss_percent, EXP_PAPER_MOST, level));
}

/* The same in all layers, or NaN. */
static double same_of(const struct exp_paper_set *s, enum exp_paper_value v)
{
    double x = s->n ? s->pair[0].own->value[v] : (double)NAN;

    for (size_t i = 0; i < s->n; i++)
        x = s->pair[i].own->value[v] == x ? x : (double)NAN;
    return x;
}

double exp_paper_n_f(const struct exp_paper_set *s, int arg)
{
    (void)arg;
    return same_of(s, EXP_PAPER_N_F);
}

double exp_paper_n_win(const struct exp_paper_set *s, int arg)
{
    (void)arg;
    return same_of(s, EXP_PAPER_N_WIN);
}

double exp_paper_ws_percent(const struct exp_paper_set *s, int arg)
{
    struct share x = { 0, 0 };

    (void)arg;
    for (size_t i = 0; i < s->n; i++) {
        x.whole += isnan(s->pair[i].own->value[EXP_PAPER_IS_WS]) ? 0 : 1;
        x.part += s->pair[i].own->value[EXP_PAPER_IS_WS] == 1;
    }
    return percent(x);
}

double exp_paper_rounds(const struct exp_paper_set *s, int arg)
{
    double found = (double)NAN;

    (void)arg;
    for (size_t i = 0; i < s->n; i++)
        found = fmin(found, s->pair[i].own->value[EXP_PAPER_ROUNDS]);
    return found;
}

double exp_paper_calm_percent(const struct exp_paper_set *s, int limit)
{
    struct share x = { 0, 0 };

    for (size_t i = 0; i < s->n; i++) {
        double spread = s->pair[i].own->value[s->view->spread];

        x.whole += isnan(spread) ? 0 : 1;
        x.part += spread < limit;
    }
    return percent(x);
}
