#include "experiments/study/exp_study_tilings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/study/exp_study_fit.h"

/* ---- csa2 on this computer ---- */

static double clock_cycles(const struct exp_study_tilings *t, const struct exp_study_run *run)
{
    return run->ns * (t->machine.issue.clock_ghz > 0 ? t->machine.issue.clock_ghz : 1);
}

static struct csa2_work work_of(const struct exp_study_tilings *t, const struct exp_study_run *run)
{
    return csa2_count(&run->layer->problem, &run->tiling, run->ukr, &t->model, CSA2_COLD);
}

int exp_study_tilings_fit(struct exp_study_tilings *t, char *why, size_t why_bytes)
{
    struct exp_study_sample *sample = calloc(t->runs.n + 1, sizeof *sample);
    size_t n = 0;

    if (!sample)
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory for the fit");
    for (size_t l = 0; l < t->runs.n_layers; l++) {
        const struct exp_study_runs_layer *layer = &t->runs.layer[l];

        for (size_t i = layer->first; i < layer->first + layer->n && layer->is_training; i++) {
            struct csa2_work work = work_of(t, &t->runs.run[i]);

            if (isnan(t->runs.run[i].ns))
                continue;
            memcpy(sample[n].amount, work.amount, sizeof work.amount);
            sample[n].cycles = clock_cycles(t, &t->runs.run[i]);
            sample[n++].weight = 1.0 / (double)layer->n;
        }
    }
    exp_study_fit(sample, n, CSA2_N_TERMS, t->model.cycles_of);
    t->model.fitted_on = t->name;
    t->model.is_fitted = true;
    for (size_t i = 0; i < t->runs.n; i++) {
        struct csa2_work work = work_of(t, &t->runs.run[i]);

        t->runs.run[i].csa2_cycles = csa2_cycles(&work, &t->model);
    }
    free(sample);
    return 0;
}

static struct exp_study_time time_of(const struct exp_study_tilings *t, const struct exp_study_run *run)
{
    return (struct exp_study_time){
        .cycles = clock_cycles(t, run),
        .other_cycles = clock_cycles(t, run) / run->ns * run->other_ns,
        .ukr = run->ukr,
        .n_c = run->tiling.n_c,
        .k2 = run->tiling.k2,
        .k3 = run->tiling.k3,
    };
}

int exp_study_tilings_source(const struct exp_study_tilings *t, struct exp_study_source *s, char *why, size_t why_bytes)
{
    int err;

    *s = (struct exp_study_source){ .name = t->name, .other = "median run", .machine = t->machine, .model = t->model };
    s->times.point = calloc(t->runs.n_layers + 1, sizeof *s->times.point);
    if (!s->times.point)
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory for the times");
    for (size_t l = 0; l < t->runs.n_layers; l++) {
        const struct exp_study_runs_layer *layer = &t->runs.layer[l];
        struct exp_study_point *p = &s->times.point[s->times.n++];

        *p = (struct exp_study_point){
            .model = layer->model, .layer = layer->layer, .is_training = layer->is_training, .weight = 1
        };
        for (size_t i = 0; i < EXP_N_ALGOS; i++)
            p->time[i].cycles = p->time[i].other_cycles = (double)NAN;
        p->time[exp_study_algo("sconv_is")] = time_of(t, &t->runs.run[layer->of_method[EXP_STUDY_HALVING_IS]]);
        p->time[exp_study_algo("sconv_ws")] = time_of(t, &t->runs.run[layer->of_method[EXP_STUDY_HALVING_WS]]);
    }
    err = exp_study_source_finish(s, why, why_bytes);
    memcpy(s->fitted, s->model.cycles_of, sizeof s->fitted); /* to all tilings, not to these alone */
    return err;
}

/* ---- comparing ---- */

static double ns_of(const struct exp_study_run *run)
{
    return run->ns;
}

static double sim_of(const struct exp_study_run *run)
{
    return run->sim_cycles;
}

static double csa_of(const struct exp_study_run *run)
{
    return run->csa_cycles;
}

static double csa2_of(const struct exp_study_run *run)
{
    return run->csa2_cycles;
}

typedef double (*cost_fn)(const struct exp_study_run *run);

static cost_fn cost_of(const struct exp_study_tilings *t)
{
    return t->measure == EXP_STUDY_BY_CLOCK ? ns_of : sim_of;
}

static bool belongs(const struct exp_study_runs_layer *l, enum exp_study_part part)
{
    return part == EXP_STUDY_ALL || l->is_training == (part == EXP_STUDY_TRAINING);
}

/* Compares the run that pick() returns for each layer with the best one. */
static struct exp_study_speed speed_of(const struct exp_study_tilings *t, enum exp_study_part part,
                                       size_t (*pick)(const struct exp_study_runs *r, size_t layer, size_t method),
                                       size_t method)
{
    struct exp_study_speed s = { 0, (double)NAN, (double)NAN };
    double *speed = malloc((t->runs.n_layers + 1) * sizeof *speed);

    for (size_t l = 0; l < t->runs.n_layers && speed; l++) {
        size_t best = exp_study_runs_best(&t->runs, l, cost_of(t)), own = pick(&t->runs, l, method);

        if (belongs(&t->runs.layer[l], part) && best != SIZE_MAX && !isnan(cost_of(t)(&t->runs.run[own])))
            speed[s.n++] = cost_of(t)(&t->runs.run[best]) / cost_of(t)(&t->runs.run[own]);
    }
    if (s.n) {
        s.geomean = exp_stats_geomean(speed, s.n);
        s.p10 = exp_study_spread_of(speed, s.n).p10;
    }
    free(speed);
    return s;
}

static size_t pick_method(const struct exp_study_runs *r, size_t layer, size_t method)
{
    return r->layer[layer].of_method[method];
}

static size_t pick_csa2(const struct exp_study_runs *r, size_t layer, size_t method)
{
    (void)method;
    return exp_study_runs_csa2(r, layer);
}

struct exp_study_speed exp_study_method_speed(const struct exp_study_tilings *t, size_t method,
                                              enum exp_study_part part)
{
    return speed_of(t, part, pick_method, method);
}

struct exp_study_speed exp_study_csa2_speed(const struct exp_study_tilings *t, enum exp_study_part part)
{
    return speed_of(t, part, pick_csa2, 0);
}

static double layer_rank(const struct exp_study_tilings *t, size_t layer, cost_fn predicted)
{
    const struct exp_study_runs_layer *l = &t->runs.layer[layer];
    double *x = malloc(2 * (l->n + 1) * sizeof *x), rank = (double)NAN;

    for (size_t i = 0; i < l->n && x; i++) {
        x[i] = predicted(&t->runs.run[l->first + i]);
        x[l->n + i] = cost_of(t)(&t->runs.run[l->first + i]);
    }
    if (x)
        rank = exp_study_rank(x, x + l->n, l->n);
    free(x);
    return rank;
}

static double median_rank(const struct exp_study_tilings *t, enum exp_study_part part, cost_fn predicted)
{
    double *rank = malloc((t->runs.n_layers + 1) * sizeof *rank), median = (double)NAN;
    size_t n = 0;

    for (size_t l = 0; l < t->runs.n_layers && rank; l++) {
        if (belongs(&t->runs.layer[l], part))
            rank[n++] = layer_rank(t, l, predicted);
    }
    if (rank)
        median = exp_study_spread_of(rank, n).median;
    free(rank);
    return median;
}

double exp_study_csa_rank(const struct exp_study_tilings *t, enum exp_study_part part)
{
    return median_rank(t, part, csa_of);
}

double exp_study_csa2_rank(const struct exp_study_tilings *t, enum exp_study_part part)
{
    return median_rank(t, part, csa2_of);
}

double exp_study_replay_rank(const struct exp_study_tilings *t, enum exp_study_part part)
{
    return median_rank(t, part, sim_of);
}

/*
 * Finds a layer's run with CSA's plan of a schedule for a micro-kernel: the method's for the one that all methods plan
 * for, the only one of others. NULL if there is none.
 */
static const struct exp_study_run *csa_run(const struct exp_study_tilings *t, size_t layer, const struct conv_ukr *ukr,
                                           enum csa_schedule schedule)
{
    const struct exp_study_runs_layer *l = &t->runs.layer[layer];
    const struct exp_study_run *own =
        &t->runs.run[l->of_method[schedule == CSA_IS ? EXP_STUDY_HALVING_IS : EXP_STUDY_HALVING_WS]];

    for (size_t i = l->first; i < l->first + l->n && own->ukr != ukr; i++) {
        if (t->runs.run[i].ukr == ukr && t->runs.run[i].tiling.schedule == schedule)
            return &t->runs.run[i];
    }
    return own->ukr == ukr ? own : NULL;
}

static void add_choice(struct exp_study_tile_choice *c, enum csa_schedule chosen, const double cost[CSA_N_SCHEDULES])
{
    c->n_is += chosen == CSA_IS;
    c->n_right += cost[chosen] <= fmin(cost[CSA_IS], cost[CSA_WS]);
    c->chosen += cost[chosen];
}

struct exp_study_tile exp_study_tile_of(const struct exp_study_tilings *t, const struct conv_ukr *ukr)
{
    struct exp_study_tile tile = { .ukr = ukr };

    for (size_t l = 0; l < t->runs.n_layers; l++) {
        const struct exp_study_run *is = csa_run(t, l, ukr, CSA_IS), *ws = csa_run(t, l, ukr, CSA_WS);
        double cost[CSA_N_SCHEDULES], csa2[CSA_N_SCHEDULES];

        if (!is || !ws || isnan(cost_of(t)(is)) || isnan(cost_of(t)(ws)))
            continue;
        cost[CSA_IS] = cost_of(t)(is);
        cost[CSA_WS] = cost_of(t)(ws);
        csa2[CSA_IS] = is->csa2_cycles;
        csa2[CSA_WS] = ws->csa2_cycles;
        tile.n++;
        tile.best += fmin(cost[CSA_IS], cost[CSA_WS]);
        add_choice(&tile.csa, ws->csa_cycles < is->csa_cycles ? CSA_WS : CSA_IS, cost);
        add_choice(&tile.csa2, csa2_choose_schedule(csa2), cost);
        add_choice(&tile.always_ws, CSA_WS, cost);
    }
    return tile;
}

struct exp_study_spread exp_study_tilings_spread(const struct exp_study_tilings *t, enum exp_study_part part)
{
    struct exp_study_spread s = { 0, (double)NAN, (double)NAN, (double)NAN };
    double *ratio = malloc((t->runs.n + 1) * sizeof *ratio);
    size_t n = 0;

    for (size_t l = 0; l < t->runs.n_layers && ratio; l++) {
        const struct exp_study_runs_layer *layer = &t->runs.layer[l];

        for (size_t i = layer->first; i < layer->first + layer->n && belongs(layer, part); i++)
            ratio[n++] = t->runs.run[i].csa2_cycles / clock_cycles(t, &t->runs.run[i]);
    }
    if (ratio)
        s = exp_study_spread_of(ratio, n);
    free(ratio);
    return s;
}
