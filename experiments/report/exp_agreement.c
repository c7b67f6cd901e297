#include "experiments/report/exp_agreement.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_stats.h"

static const struct {
    const char *name, *label;
} views[EXP_N_VIEWS] = {
    [EXP_CACHES_ALONE] = { "caches_alone", "caches alone" },
    [EXP_AS_MACHINE] = { "as_machine", "as the machine is" },
};

const char *exp_view_name(enum exp_view v)
{
    return views[v].name;
}

const char *exp_view_label(enum exp_view v)
{
    return views[v].label;
}

/* ---- points ---- */

struct exp_point *exp_points_add(struct exp_points *p, const struct exp_experiment *e, const struct exp_case *c)
{
    struct exp_point *point;

    if (p->n == p->n_allocated) {
        size_t n = p->n_allocated ? 2 * p->n_allocated : 64;

        point = realloc(p->point, n * sizeof *point);
        if (!point)
            return NULL;
        p->point = point;
        p->n_allocated = n;
    }
    point = &p->point[p->n++];
    *point = (struct exp_point){ .model = e->model->name, .layer = c->layer, .algo = c->algo };
    for (size_t q = 0; q < EXP_MAX_QUANTITIES; q++) {
        point->measured[q] = (double)NAN;
        for (unsigned v = 0; v < EXP_N_VIEWS; v++)
            point->simulated[v][q] = (double)NAN;
    }
    return point;
}

void exp_points_release(struct exp_points *p)
{
    free(p->point);
    *p = (struct exp_points){ 0 };
}

static void take_view(double *simulated, const struct sim_machine *m, const struct exp_simulated *s)
{
    struct sim_cell sum;

    if (s->why_not)
        return;
    sum = sim_stats_total(&s->stats);
    for (size_t q = 0; q < ctr_n_quantities(); q++)
        simulated[q] = exp_quantity_simulated(q, m, &sum);
}

void exp_point_simulate(struct exp_point *point, const struct exp_setup *setup, const struct exp_case *c)
{
    take_view(point->simulated[EXP_CACHES_ALONE], &setup->alone, &c->alone);
    take_view(point->simulated[EXP_AS_MACHINE], &setup->machine, &c->simulated);
}

bool exp_point_is_in(const struct exp_point *p, const struct exp_selection *of)
{
    return !*p->why_not && (!of->model || !strcmp(p->model, of->model)) &&
           (!of->algo || !strcmp(p->algo->name, of->algo));
}

/* ---- statistics ---- */

static void add_quantiles(struct exp_agreement *a, double *error, size_t n)
{
    const struct exp_spread errors = exp_spread_of(error, n);

    a->p10 = errors.p10;
    a->median = errors.median;
    a->p90 = errors.p90;
    for (size_t i = 0; i < n; i++)
        error[i] = fabs(error[i]);
    a->median_size = exp_spread_of(error, n).median;
}

int exp_agreement_of(struct exp_agreement *a, const struct exp_points *p, const struct exp_selection *of, size_t q,
                     enum exp_view v)
{
    const size_t loads_q = ctr_quantity_index("loads");
    double *error = calloc(p->n ? p->n : 1, sizeof *error), loads = 0;
    size_t n_errors = 0;

    *a = (struct exp_agreement){ 0 };
    if (!error)
        return -ENOMEM;
    for (size_t i = 0; i < p->n; i++) {
        const struct exp_point *x = &p->point[i];
        double measured = x->measured[q], simulated = x->simulated[v][q];

        if (!exp_point_is_in(x, of) || isnan(measured) || isnan(simulated))
            continue;
        a->n++;
        a->measured += measured;
        a->simulated += simulated;
        loads += x->measured[loads_q];
        if (measured > 0)
            error[n_errors++] = 100 * (simulated / measured - 1);
    }
    a->percent = 100 * (a->simulated / a->measured - 1);
    a->share_error = 100 * (a->simulated - a->measured) / loads;
    add_quantiles(a, error, n_errors);
    free(error);
    return 0;
}

/* Base's point of the same layer, or NULL. */
static const struct exp_point *base_of(const struct exp_points *p, const struct exp_point *x)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct exp_point *y = &p->point[i];

        if (y->layer == x->layer && y->algo == exp_algo_at(0) && !*y->why_not)
            return y;
    }
    return NULL;
}

static bool has_both(const struct exp_point *x, size_t q, enum exp_view v)
{
    return x && x->measured[q] > 0 && x->simulated[v][q] > 0;
}

struct exp_agreement_ratio exp_agreement_no_ratio(void)
{
    return (struct exp_agreement_ratio){ 0, (double)NAN, (double)NAN, (double)NAN };
}

int exp_agreement_ratio_of(struct exp_agreement_ratio *r, const struct exp_points *p, const struct exp_selection *of,
                           size_t q, enum exp_view v)
{
    double *measured = calloc(2 * p->n + 1, sizeof *measured), *simulated = measured ? measured + p->n : NULL;
    double base_measured = 0, base_simulated = 0, own_measured = 0, own_simulated = 0;

    *r = exp_agreement_no_ratio();
    if (!measured)
        return -ENOMEM;
    for (size_t i = 0; i < p->n; i++) {
        const struct exp_point *x = &p->point[i], *base = exp_point_is_in(x, of) ? base_of(p, x) : NULL;

        if (!has_both(base, q, v) || !has_both(x, q, v))
            continue;
        base_measured += base->measured[q];
        base_simulated += base->simulated[v][q];
        own_measured += x->measured[q];
        own_simulated += x->simulated[v][q];
        measured[r->n] = base->measured[q] / x->measured[q];
        simulated[r->n++] = base->simulated[v][q] / x->simulated[v][q];
    }
    if (r->n) {
        r->measured = base_measured / own_measured;
        r->simulated = base_simulated / own_simulated;
    }
    r->rank_correlation = exp_stats_spearman(measured, simulated, r->n);
    free(measured);
    return 0;
}
