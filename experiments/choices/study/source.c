#include "experiments/choices/study/study.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/machine.h"
#include "experiments/show/counts.h"
#include "kernels/blas/gemm_core.h"
#include "kernels/ukr/dispatch.h"

/* ---- times ---- */

bool exp_study_is_training(const struct conv_problem *p)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

    for (size_t i = 0; i < CONV_N_FIELDS; i++) {
        hash ^= conv_field(p, i);
        hash *= 0x100000001b3;
    }
    return (hash >> 32) % 2 == 0;
}

size_t exp_study_algo(const char *name)
{
    size_t i = 0;

    while (i < exp_algo_count() && strcmp(exp_algo_at(i)->name, name) != 0)
        i++;
    assert(i < exp_algo_count());
    return i;
}

static struct exp_study_time time_of(const struct exp_times_row *row, double clock_ghz)
{
    const double ghz = isnan(row->ghz) ? clock_ghz : row->ghz;
    const double fastest = row->fastest_ns * ghz, median = row->median_ns * ghz;

    return (struct exp_study_time){
        .cycles = isnan(row->cycles) ? fastest : row->cycles,
        .second_cycles = isnan(row->cycles) ? median : fastest,
        .ukr = conv_ukr_find(row->ukr),
        .n_c = row->n_c,
        .k2 = row->k2,
        .k3 = row->k3,
    };
}

static const struct exp_layer *find_layer(const struct exp_models *models, const struct exp_times_row *row,
                                          const struct exp_model **model)
{
    for (size_t m = 0; m < models->n; m++) {
        *model = &models->model[m];
        for (size_t l = 0; l < (*model)->n_layers && !strcmp((*model)->name, row->model); l++) {
            const struct exp_layer *layer = &(*model)->layer[l];

            if (layer->index == row->layer_index && !strcmp(layer->name, row->layer))
                return layer;
        }
    }
    return NULL;
}

struct exp_study_point *exp_study_times_add(struct exp_study_times *t, const struct exp_model *model,
                                            const struct exp_layer *layer, enum csa2_state state)
{
    struct exp_study_point *p = &t->point[t->n++];

    assert(model && layer && state < CSA2_N_STATES);

    *p = (struct exp_study_point){
        .model = model,
        .layer = layer,
        .state = state,
        .is_training = exp_study_is_training(&layer->problem),
        .weight = 1,
    };
    for (size_t i = 0; i < exp_algo_count(); i++)
        p->time[i].cycles = p->time[i].second_cycles = (double)NAN;
    return p;
}

/* Says why a row is refused; NULL if the row is good. */
static const char *why_not_row(const struct exp_times_row *row, const struct exp_algo *algo)
{
    if (!algo || algo->members)
        return "no such algorithm in 'algo'";
    if (strcmp(row->caches, exp_cache_state_name(EXP_COLD)) != 0 &&
        strcmp(row->caches, exp_cache_state_name(EXP_WARM)) != 0)
        return "'caches' must be cold or warm";
    if (!(row->fastest_ns > 0))
        return "'fastest_ns' must be a time above 0";
    if (algo->when == EXP_ALGO_MEMBER && !(row->n_c && row->k2 && row->k3))
        return "'n_c', 'k2' and 'k3' must be numbers of at least 1 for a schedule of SConv";
    return NULL;
}

static int take_row(struct exp_study_times *t, const struct rec_rows *rows, size_t i, const struct exp_models *models,
                    double clock_ghz, struct exp_why *why)
{
    const struct exp_times_row *row = (const struct exp_times_row *)rows->row + i;
    const bool is_warm = !strcmp(row->caches, exp_cache_state_name(EXP_WARM));
    const enum csa2_state state = is_warm ? CSA2_WARM : CSA2_COLD;
    struct exp_study_point *point = t->n ? &t->point[t->n - 1] : NULL; /* rows of a point follow each other */
    const struct exp_algo *algo = exp_algo_find(row->algo);
    const char *wrong = why_not_row(row, algo);
    const struct exp_model *model;
    const struct exp_layer *layer = find_layer(models, row, &model);

    if (wrong)
        return exp_fail(why, -EINVAL, "%s:%u: %s", t->path, rows->table.line[i], wrong);
    if (!layer) /* left out by MODEL or LAYERS */
        return 0;
    if (!point || point->layer != layer || point->state != state)
        point = exp_study_times_add(t, model, layer, state);
    point->time[exp_study_algo(algo->name)] = time_of(row, clock_ghz);
    return 0;
}

static void weigh(struct exp_study_times *t)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t same = 0;

        for (size_t j = 0; j < t->n; j++)
            same += t->point[j].state == t->point[i].state &&
                    conv_problem_equal(&t->point[j].layer->problem, &t->point[i].layer->problem);
        t->point[i].weight = 1.0 / (double)same;
    }
}

int exp_study_times_read(struct exp_study_times *t, const char *path, const struct exp_models *models, double clock_ghz,
                         struct exp_why *why)
{
    struct rec_rows rows;
    int err = exp_times_read(&rows, path, why);

    *t = (struct exp_study_times){ .path = path };
    if (err)
        return err;
    t->point = exp_new(rows.n, sizeof *t->point);
    for (size_t i = 0; i < rows.n && !err; i++)
        err = take_row(t, &rows, i, models, clock_ghz, why);
    rec_release(&rows);
    weigh(t);
    if (err) {
        free(t->point);
        *t = (struct exp_study_times){ 0 };
    }
    return err;
}

const struct exp_study_time *exp_study_base_time(const struct exp_study_point *p)
{
    return &p->time[exp_study_algo("base")];
}

static const char *const schedule_algos[CSA_N_SCHEDULES] = { [CSA_IS] = "sconv_is", [CSA_WS] = "sconv_ws" };

const struct exp_study_time *exp_study_schedule_time(const struct exp_study_point *p, enum csa_schedule schedule)
{
    assert(schedule < CSA_N_SCHEDULES);
    return &p->time[exp_study_algo(schedule_algos[schedule])];
}

bool exp_study_has_schedules(const struct exp_study_point *point)
{
    const struct exp_study_time *is = exp_study_schedule_time(point, CSA_IS);
    const struct exp_study_time *ws = exp_study_schedule_time(point, CSA_WS);

    return is->ukr && ws->ukr && !isnan(is->cycles) && !isnan(ws->cycles);
}

bool exp_study_decides(const struct exp_study_point *p)
{
    const struct exp_study_time *is = exp_study_schedule_time(p, CSA_IS), *ws = exp_study_schedule_time(p, CSA_WS);

    return (is->cycles < ws->cycles && is->second_cycles < ws->second_cycles) ||
           (is->cycles > ws->cycles && is->second_cycles > ws->second_cycles);
}

/* ---- costs ---- */

enum { ROUNDS = 12, SWEEPS = 20000 };

static const double usual_error = 0.04;

/* Adds a sample, whose right answer is the ratio 1. A sample that the costs so far do not explain weighs less. */
static void add(struct exp_costs *c, const struct exp_study_sample *s, const double *cost)
{
    const double sum = exp_costs_sum(c->n, s->amount, cost), error = sum > 0 ? fabs(log(sum / s->cycles)) : 0;

    exp_costs_add(c, s->amount, s->cycles, s->cycles, s->weight * (error > usual_error ? usual_error / error : 1));
}

void exp_study_fit(const struct exp_study_sample *sample, size_t n, size_t n_terms, double *cost)
{
    memset(cost, 0, n_terms * sizeof *cost);
    for (int round = 0; round < ROUNDS; round++) {
        struct exp_costs costs = { .n = n_terms };

        for (size_t i = 0; i < n; i++)
            add(&costs, &sample[i], cost);
        exp_costs_solve(&costs, SWEEPS, cost);
    }
}

/* ---- Base ---- */

double exp_study_lanes(const struct exp_study_source *s)
{
    return s->machine.issue.mac_columns > 0 ? (double)s->machine.issue.mac_columns : 1;
}

struct exp_study_sample exp_study_base_work(const struct exp_study_source *s, const struct csa2_machine *m,
                                            const struct exp_study_point *point)
{
    const struct conv_problem *p = &point->layer->problem;
    const double element = sizeof(float), line = m->line_bytes, times = (double)(p->n * p->groups);
    const struct conv_gemm_core *core = conv_gemm_core_find(s->machine.gemm_core);
    const double block = core ? (double)core->q : 384; /* of the reduction; 384: OpenBLAS's core is not on record */
    const bool is_cold = point->state == CSA2_COLD;
    double windows = (double)conv_windows(p), reduction = (double)conv_reduction(p);
    double filters = (double)conv_group_filters(p), matrix = windows * reduction;
    double lowered = conv_is_pointwise(p) ? 0 : matrix;
    double input = (double)(conv_group_channels(p) * p->h * p->w);
    double tensors = input + filters * reduction + filters * windows;
    double all_bytes = (tensors + lowered) * element;
    double far = is_cold ? 1 : csa2_share_beyond(all_bytes, m->l3_bytes);
    double beyond_l2 = csa2_share_beyond(matrix * element, m->l2_bytes);
    double beyond_l3 = csa2_share_beyond(matrix * element, m->l3_bytes);
    double near = is_cold ? 0 : csa2_share_beyond(all_bytes, m->l2_bytes) - far;

    return (struct exp_study_sample){
        .cycles = exp_study_base_time(point)->cycles,
        .weight = point->weight,
        .amount = {
            [EXP_STUDY_BASE_ISSUE] = times * matrix * filters / exp_study_lanes(s) / m->slots_per_cycle,
            [EXP_STUDY_BASE_LOWERED] = times * lowered,
            [EXP_STUDY_BASE_PACKED] = times * (matrix + filters * reduction),
            [EXP_STUDY_BASE_OUTPUT] = times * windows * filters * ceil(reduction / block),
            [EXP_STUDY_BASE_L3_LINES] =
                times * element / line * (2 * lowered * (beyond_l2 - beyond_l3) + tensors * fmax(0, near)),
            [EXP_STUDY_BASE_MEMORY_LINES] =
                times * element / line * (tensors * far + lowered * (far * (1 - beyond_l3) + 2 * beyond_l3)),
            [EXP_STUDY_BASE_GROUPS] = times,
        },
    };
}

/* ---- sources ---- */

static const struct {
    const char *name, *other;
} recorded[] = { { "zen3", "fastest run" }, { "spr", "median run" }, { NULL, NULL } };

const char *exp_study_recorded(size_t i)
{
    return recorded[i].name;
}

int exp_study_source_read(struct exp_study_source *s, const char *name, const struct exp_models *models,
                          struct exp_why *why)
{
    char *path = exp_format("results/reference/%s/times/times.csv", name);
    int err = exp_machine_find(&s->machine, name, "results", why);

    s->name = name;
    for (size_t i = 0; recorded[i].name; i++)
        s->other = strcmp(recorded[i].name, name) ? s->other : recorded[i].other;
    s->model = csa2_machine_of(&s->machine);
    err = err ? err : exp_study_times_read(&s->times, path, models, s->machine.issue.clock_ghz, why);
    free(path);
    if (!err)
        exp_study_source_finish(s);
    return err;
}

struct csa2_work exp_study_csa2_work(const struct csa2_machine *m, const struct exp_study_point *p,
                                     enum csa_schedule schedule)
{
    const struct exp_study_time *t = exp_study_schedule_time(p, schedule);
    struct csa_tiling tiling = csa2_tiling(&p->layer->problem, t->ukr, schedule, t->n_c, t->k2, t->k3);

    return csa2_count(&p->layer->problem, &tiling, t->ukr, m, p->state);
}

enum csa_schedule exp_study_csa2_choice(const struct exp_study_source *s, size_t point)
{
    const struct exp_study_view *view = s->view[point];
    const double cycles[CSA_N_SCHEDULES] = { view[CSA_IS].csa2_cycles, view[CSA_WS].csa2_cycles };

    return csa2_choose_schedule(cycles, &s->model, s->times.point[point].state);
}

/*
 * Fills the view of a point's schedule, and makes a sample. A single micro-kernel ran: loads per multiply-add are equal
 * in all layers. A fit cannot separate the cost of loads from the cost of multiply-adds, so loads count as 0.
 */
static struct exp_study_sample view_schedule(struct exp_study_source *s, size_t point, enum csa_schedule schedule)
{
    const struct exp_study_point *p = &s->times.point[point];
    const struct exp_study_time *t = exp_study_schedule_time(p, schedule);
    struct csa2_work work = exp_study_csa2_work(&s->model, p, schedule);
    struct exp_study_sample sample = { .cycles = t->cycles, .weight = p->weight };

    s->view[point][schedule] = (struct exp_study_view){
        .csa_cycles = csa_analyse(&p->layer->problem, &s->caches, t->ukr->n_win, t->ukr->n_f, schedule).total_cycles,
        .csa2_cycles = csa2_cycles(&work, &s->model),
        .lines = (double)NAN,
        .sim_cycles = (double)NAN,
    };
    memcpy(sample.amount, work.amount, sizeof work.amount);
    sample.amount[CSA2_LOADS] = 0;
    return sample;
}

void exp_study_source_finish(struct exp_study_source *s)
{
    struct exp_study_sample *sconv = exp_new(CSA_N_SCHEDULES * s->times.n, sizeof *sconv);
    struct exp_study_sample *base = exp_new(s->times.n, sizeof *base);
    size_t n_sconv = 0, n_base = 0;

    s->caches = csa_caches_of(&s->machine, csa_default_share);
    s->view = exp_new(s->times.n, sizeof *s->view);
    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];

        for (enum csa_schedule k = 0; k < CSA_N_SCHEDULES && exp_study_has_schedules(p); k++) {
            sconv[n_sconv] = view_schedule(s, i, k);
            n_sconv += p->is_training;
        }
        base[n_base] = exp_study_base_work(s, &s->model, p);
        n_base += p->is_training && !isnan(base[n_base].cycles);
    }
    exp_study_fit(sconv, n_sconv, CSA2_N_TERMS, s->fitted);
    exp_study_fit(base, n_base, EXP_STUDY_N_BASE_TERMS, s->base_cost);
    free(sconv);
    free(base);
}

void exp_study_source_release(struct exp_study_source *s)
{
    free(s->times.point);
    free(s->view);
    *s = (struct exp_study_source){ 0 };
}
