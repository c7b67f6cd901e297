/* CSA's equations and tilings, held against the replay and the clock. */
#include "experiments/choices/study/study.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the equations ---- */

const struct exp_study_names exp_study_equations[EXP_STUDY_N_EQUATIONS] = {
#define EQUATION(upper, name, title, ...) [EXP_STUDY_##upper] = { name, title },
#include "experiments/choices/study/equations.def"
#undef EQUATION
};

/* The number of an equation for a run, and the number of the replay. */
struct pair {
    double predicted, simulated;
};

static struct pair pair_of(const struct csa_caches *c, const struct exp_study_run *run,
                           enum exp_study_equation equation, enum exp_study_without without)
{
    const struct conv_problem *p = &run->layer->problem;
    const struct csa_lines lines = csa_lines_of(p, c, &run->tiling);
    const double *served = run->counts.served[without];
    const double l2 = served[0], l3 = served[1], memory = served[2];
    /* Every line of the input and of the filters once. */
    const double elements = (double)(p->n * p->c * p->h * p->w) + (double)(p->k * conv_reduction(p));
    const double different = elements * (double)sizeof(float) / c->line_bytes;
    const struct pair pair[] = {
#define EQUATION(upper, name, title, what, predicted, simulated) [EXP_STUDY_##upper] = { predicted, simulated },
#include "experiments/choices/study/equations.def"
#undef EQUATION
    };

    return pair[equation];
}

struct exp_study_agreement exp_study_agreement_of(const struct exp_study_terms *t, enum exp_study_equation equation,
                                                  enum csa_schedule schedule, enum exp_study_without without)
{
    static const char *const withouts[EXP_STUDY_N_WITHOUT] = { "nothing", "packing", "output", "packing_and_output" };
    struct exp_study_agreement a = { t->name, csa_schedule_name(schedule), exp_study_equations[equation].name,
                                     withouts[without], .n = 0 };
    double *predicted, *simulated, *ratio;
    size_t n = 0;

    assert(equation < EXP_STUDY_N_EQUATIONS && without < EXP_STUDY_N_WITHOUT);

    for (size_t l = 0; l < t->runs.n_layers; l++)
        a.n += t->runs.layer[l].n_same;
    predicted = exp_new(3 * a.n, sizeof *predicted);
    simulated = predicted + a.n;
    ratio = simulated + a.n;
    for (size_t l = 0; l < t->runs.n_layers; l++) {
        const struct exp_study_runs_layer *layer = &t->runs.layer[l];
        const struct pair x = pair_of(&t->caches, exp_study_runs_own(&t->runs, layer, schedule), equation, without);

        for (size_t i = 0; i < layer->n_same; i++, n++) {
            predicted[n] = x.predicted;
            simulated[n] = x.simulated;
            ratio[n] = x.simulated > 0 ? x.predicted / x.simulated : (double)NAN;
            a.predicted += x.predicted;
            a.simulated += x.simulated;
            a.n_neither += x.predicted <= 0 && x.simulated <= 0;
            a.n_one += (x.predicted <= 0) != (x.simulated <= 0);
        }
    }
    a.spread = exp_spread_of(ratio, n);
    a.rank = exp_stats_spearman(predicted, simulated, n);
    free(predicted);
    return a;
}

static void tell(struct exp_study_view *view, const struct exp_study_run *run)
{
    view->lines = run ? run->counts.lines_in : (double)NAN;
    view->sim_cycles = run ? run->sim_cycles : (double)NAN;
}

void exp_study_terms_tell(const struct exp_study_terms *t, struct exp_study_source *s)
{
    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];
        const struct exp_study_runs_layer *l = exp_study_runs_find(&t->runs, &p->layer->problem);

        for (enum csa_schedule k = 0; k < CSA_N_SCHEDULES && p->state == CSA2_COLD && exp_study_has_schedules(p); k++)
            tell(&s->view[i][k], l ? exp_study_runs_own(&t->runs, l, k) : NULL);
    }
}

/* ---- csa2 on this computer ---- */

static double clock_cycles(const struct exp_study_tilings *t, const struct exp_study_run *run)
{
    return run->ns * (t->machine.issue.clock_ghz > 0 ? t->machine.issue.clock_ghz : 1);
}

static struct csa2_work work_of(const struct exp_study_tilings *t, const struct exp_study_run *run)
{
    return csa2_count(&run->layer->problem, &run->tiling, run->ukr, &t->model, CSA2_COLD);
}

void exp_study_tilings_fit(struct exp_study_tilings *t)
{
    struct exp_study_sample *sample = exp_new(t->runs.n, sizeof *sample);
    size_t n = 0;

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
    if (n) { /* else the committed costs stay */
        exp_study_fit(sample, n, CSA2_N_TERMS, t->model.cycles_of);
        t->model.fitted_on = t->name;
        t->model.is_fitted = true;
    }
    for (size_t i = 0; i < t->runs.n; i++) {
        struct csa2_work work = work_of(t, &t->runs.run[i]);

        t->runs.run[i].csa2_cycles = csa2_cycles(&work, &t->model);
    }
    free(sample);
}

static struct exp_study_time time_of(const struct exp_study_tilings *t, const struct exp_study_run *run)
{
    return (struct exp_study_time){
        .cycles = clock_cycles(t, run),
        .second_cycles = clock_cycles(t, run) / run->ns * run->median_ns,
        .ukr = run->ukr,
        .n_c = run->tiling.n_c,
        .k2 = run->tiling.k2,
        .k3 = run->tiling.k3,
    };
}

void exp_study_tilings_source(const struct exp_study_tilings *t, const struct conv_ukr *other,
                              struct exp_study_source *s)
{
    const struct exp_study_run *(*run)[CSA_N_SCHEDULES] = exp_new(t->runs.n_layers, sizeof *run);

    *s = (struct exp_study_source){
        .name = t->name, .other = "median run", .machine = t->machine, .model = t->model, .is_other_tile = other
    };
    if (other) {
        exp_say(s->tile_name, sizeof s->tile_name, "%s %zux%zu", t->name, other->n_win, other->n_f);
        s->name = s->tile_name;
    }
    s->times.point = exp_new(t->runs.n_layers, sizeof *s->times.point);
    for (size_t l = 0; l < t->runs.n_layers; l++) {
        const struct exp_study_run **own = run[s->times.n];
        struct exp_study_point *p;

        for (enum csa_schedule k = 0; k < CSA_N_SCHEDULES; k++)
            own[k] = exp_study_runs_planned(&t->runs, l, other ? other : t->setup.ukr, k);
        if (!own[CSA_IS] || isnan(own[CSA_IS]->ns) || !own[CSA_WS] || isnan(own[CSA_WS]->ns))
            continue;
        p = exp_study_times_add(&s->times, t->runs.layer[l].model, t->runs.layer[l].layer, CSA2_COLD);
        p->time[exp_study_algo("sconv_is")] = time_of(t, own[CSA_IS]);
        p->time[exp_study_algo("sconv_ws")] = time_of(t, own[CSA_WS]);
    }
    exp_study_source_finish(s);
    for (size_t i = 0; i < CSA_N_SCHEDULES * s->times.n; i++)
        tell(&s->view[i / CSA_N_SCHEDULES][i % CSA_N_SCHEDULES], run[i / CSA_N_SCHEDULES][i % CSA_N_SCHEDULES]);
    memcpy(s->fitted, s->model.cycles_of, sizeof s->fitted); /* fitted to all tilings */
    free(run);
}

/* ---- tilings ---- */

static double cost(const struct exp_study_tilings *t, size_t run)
{
    return exp_study_run_cost(&t->runs.run[run], t->cost);
}

static size_t pick(const struct exp_study_runs *r, size_t layer, size_t method)
{
    const size_t best = method == EXP_STUDY_BY_MEDIAN
                            ? exp_study_runs_best(r, layer, offsetof(struct exp_study_run, median_ns))
                            : exp_study_runs_of(r, layer, method);

    return best == SIZE_MAX ? exp_study_runs_of(r, layer, EXP_STUDY_HALVING) : best;
}

struct exp_study_speed exp_study_speed_of(const struct exp_study_tilings *t, size_t method, enum exp_study_part part)
{
    struct exp_study_speed s = { t->name,
                                 t->measure,
                                 exp_study_part_names[part],
                                 method < EXP_STUDY_N_METHODS ? exp_study_methods[method].name : "median",
                                 0,
                                 (double)NAN,
                                 (double)NAN };
    double *speed = exp_new(t->runs.n_layers, sizeof *speed);

    assert(method <= EXP_STUDY_BY_MEDIAN && part < EXP_STUDY_N_PARTS);

    for (size_t l = 0; l < t->runs.n_layers; l++) {
        const size_t best = exp_study_runs_best(&t->runs, l, t->cost), own = pick(&t->runs, l, method);

        if (exp_study_is_in(t->runs.layer[l].is_training, part) && best != SIZE_MAX && !isnan(cost(t, own)))
            speed[s.n++] = cost(t, best) / cost(t, own);
    }
    if (s.n) {
        s.percent = 100 * exp_stats_geomean(speed, s.n);
        s.p10_percent = 100 * exp_spread_of(speed, s.n).p10;
    }
    free(speed);
    return s;
}

double exp_study_rank(const struct exp_study_tilings *t, size_t predicted, enum exp_study_part part)
{
    double *rank = exp_new(t->runs.n_layers, sizeof *rank), *x = exp_new(2 * t->runs.n, sizeof *x), median;
    size_t n = 0;

    for (size_t l = 0; l < t->runs.n_layers; l++) {
        const struct exp_study_runs_layer *layer = &t->runs.layer[l];

        if (!exp_study_is_in(layer->is_training, part))
            continue;
        for (size_t i = 0; i < layer->n; i++) {
            x[i] = exp_study_run_cost(&t->runs.run[layer->first + i], predicted);
            x[layer->n + i] = cost(t, layer->first + i);
        }
        rank[n++] = exp_stats_spearman(x, x + layer->n, layer->n);
    }
    median = exp_spread_of(rank, n).median;
    free(rank);
    free(x);
    return median;
}

struct exp_spread exp_study_tilings_spread(const struct exp_study_tilings *t, enum exp_study_part part)
{
    double *ratio = exp_new(t->runs.n, sizeof *ratio);
    struct exp_spread s;
    size_t n = 0;

    for (size_t l = 0; l < t->runs.n_layers; l++) {
        const struct exp_study_runs_layer *layer = &t->runs.layer[l];

        if (!exp_study_is_in(layer->is_training, part))
            continue;
        for (size_t i = layer->first; i < layer->first + layer->n; i++)
            ratio[n++] = t->runs.run[i].csa2_cycles / clock_cycles(t, &t->runs.run[i]);
    }
    s = exp_spread_of(ratio, n);
    free(ratio);
    return s;
}
