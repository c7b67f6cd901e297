#include <assert.h>
#include <math.h>

#include "experiments/base/stats.h"
#include "experiments/papers/paper/paper.h"
#include "kernels/shape/problem.h"

/* ---- formulas ---- */

double exp_paper_amdahl(double share, double speedup)
{
    return 1 / (1 - share + share / speedup);
}

double exp_paper_percent_faster(double speedup)
{
    return 100 * (speedup - 1);
}

double exp_paper_miss_improvement(double base_hit_percent, double own_hit_percent)
{
    return (100 - base_hit_percent) / (100 - own_hit_percent);
}

double exp_paper_im2col_bytes(const struct conv_problem *p)
{
    return 4.0 * (double)p->c * (double)p->r * (double)p->s * (double)p->p * (double)p->q;
}

double exp_paper_input_bytes(const struct conv_problem *p)
{
    return 4.0 * (double)p->c * (double)p->h * (double)p->w;
}

/* ---- numbers of a single model ---- */

/* A single side of a view's column. */
struct column {
    bool is_own;
    size_t member; /* of the view */
};

static const struct quotient {
    struct column above, below;
    double factor;
} quotients[] = {
#define side_base false
#define side_own true
#define COLUMN(side, name)                                                                                             \
    {                                                                                                                  \
        side_##side, offsetof(struct exp_paper_view, name)                                                             \
    }
#define QUOTIENT(name, side, column, other_side, other_column, factor)                                                 \
    [EXP_PAPER_OF_##name] = { COLUMN(side, column), COLUMN(other_side, other_column), factor },
#define LAYERS(...)
#define WHOLE(...)
#include "experiments/papers/paper/numbers.def"
};

/* The column of values at that place of a view; of misses, the column of a level. */
static enum exp_paper_value row_value(const struct exp_paper_set *s, size_t member, int level)
{
    enum exp_paper_value v = *(const enum exp_paper_value *)(const void *)((const char *)s->view + member);

    return v && member == offsetof(struct exp_paper_view, misses) ? v + (enum exp_paper_value)level : v;
}

/* Sums a column up over the model's layers; NaN if a layer lacks the number or there is no layer. */
static double sum_of(const struct exp_paper_set *s, size_t model, struct column column, int level)
{
    const enum exp_paper_value v = row_value(s, column.member, level);
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (s->pair[i].base->model != model)
            continue;
        sum += (column.is_own ? s->pair[i].own : s->pair[i].base)->value[v];
        n++;
    }
    return n ? sum : (double)NAN;
}

double exp_paper_of_model(const struct exp_paper_set *s, enum exp_paper_model_number of, size_t model, int arg)
{
    const struct quotient *q = &quotients[of];

    assert(model < s->n_models);
    return q->factor * sum_of(s, model, q->above, arg) / sum_of(s, model, q->below, arg);
}

/* ---- over the models ---- */

static double extreme(const double *x, size_t n, double (*of)(double, double))
{
    double found = x[0];

    for (size_t i = 1; i < n; i++)
        found = of(found, x[i]);
    return found;
}

static double mean(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

double exp_paper_over(const struct exp_paper_set *s, enum exp_paper_model_number of, enum exp_paper_over over, int arg)
{
    double x[EXP_MAX_MODELS];
    size_t n = 0;

    for (size_t m = 0; m < s->n_models; m++) {
        x[n] = exp_paper_of_model(s, of, m, arg);
        n += isnan(x[n]) ? 0 : 1;
    }
    if (!n)
        return (double)NAN;
    return over == EXP_PAPER_GEOMEAN ? exp_stats_geomean(x, n)
           : over == EXP_PAPER_MEAN  ? mean(x, n)
                                     : extreme(x, n, over == EXP_PAPER_LEAST ? fmin : fmax);
}

double exp_paper_geomean_of(const struct exp_paper_set *s, enum exp_paper_model_number of, int arg, uint64_t models)
{
    double x[EXP_MAX_MODELS];
    size_t n = 0;

    for (size_t m = 0; m < s->n_models; m++) {
        if (models >> m & 1)
            x[n++] = exp_paper_of_model(s, of, m, arg);
    }
    return exp_stats_geomean(x, n); /* NaN where one is NaN */
}

/* ---- of all layers ---- */

double exp_paper_pair_speedup(const struct exp_paper_set *s, const struct exp_paper_pair *p)
{
    return p->base->value[s->view->time] / p->own->value[s->view->time];
}

static bool is_pointwise(const struct exp_paper_pair *p)
{
    return conv_is_pointwise(&p->base->layer->problem);
}

static double height(const struct exp_paper_pair *p)
{
    return (double)p->base->layer->problem.h;
}

static double difference(const struct exp_paper_pair *p, enum exp_paper_value v)
{
    return p->own->value[v] - p->base->value[v];
}

static double peak_percent(const struct exp_paper_set *s, const struct exp_paper_pair *p)
{
    const double *own = p->own->value;

    return 100 * conv_macs(&p->own->layer->problem) / own[s->view->time] / own[s->view->peak];
}

static enum exp_paper_value misses_of(const struct exp_paper_set *s, int level)
{
    return row_value(s, offsetof(struct exp_paper_view, misses), level);
}

static double hit_percent(const struct exp_paper_set *s, enum exp_paper_model_number misses, int level)
{
    return 100 - exp_paper_over(s, misses, EXP_PAPER_GEOMEAN, level);
}

static double most_of(const struct exp_paper_set *s, enum exp_paper_model_number of, int arg)
{
    return exp_paper_over(s, of, EXP_PAPER_MOST, arg);
}

/* Returns the number of a layer. *counts: the layer belongs to the layers of the number. */
static double number_of(const struct exp_paper_set *s, const struct exp_paper_pair *p, enum exp_paper_layers_number of,
                        int arg, bool *counts)
{
    switch (of) {
#define QUOTIENT(...)
#define WHOLE(...)
#define LAYERS(name, number, which, ...)                                                                               \
    case EXP_PAPER_OF_ALL_##name:                                                                                      \
        *counts = which;                                                                                               \
        return number;
#include "experiments/papers/paper/numbers.def"
    default:
        *counts = false;
        return (double)NAN;
    }
}

/* Ways to make a number from the numbers of all layers. */
enum way { MOST, LEAST, SAME, PART_ABOVE, PART_BELOW, PERCENT_ABOVE, PERCENT_BELOW };

static double gather(const struct exp_paper_set *s, enum exp_paper_layers_number of, int arg, enum way way,
                     double limit)
{
    double found = (double)NAN;
    size_t part = 0, n = 0;

    for (size_t i = 0; i < s->n; i++) {
        bool counts;
        const double x = number_of(s, &s->pair[i], of, arg, &counts);

        if (!counts)
            continue;
        found = way == MOST ? fmax(found, x) : way == LEAST ? fmin(found, x) : !i || x == found ? x : (double)NAN;
        part += way == PART_ABOVE || way == PERCENT_ABOVE ? x > limit : x < limit;
        n += isnan(x) ? 0 : 1;
    }
    if (way < PART_ABOVE)
        return found;
    return !n ? (double)NAN : way < PERCENT_ABOVE ? (double)part : 100.0 * (double)part / (double)n;
}

double exp_paper_of_layers(const struct exp_paper_set *s, enum exp_paper_layers_number of, int arg)
{
    switch (of) {
#define QUOTIENT(...)
#define WHOLE(name, number)                                                                                            \
    case EXP_PAPER_OF_ALL_##name:                                                                                      \
        return number;
#define LAYERS(name, number, which, ...)                                                                               \
    case EXP_PAPER_OF_ALL_##name:                                                                                      \
        return gather(s, of, arg, __VA_ARGS__);
#include "experiments/papers/paper/numbers.def"
    default:
        return (double)NAN;
    }
}
