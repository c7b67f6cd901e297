/* Runs of SConv: plans of a sample of layers, and the replay of the plans. */
#include "experiments/choices/study/study.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/bench/course/course.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/bench/case/estimate.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/dispatch.h"

enum { MAX_PARTS = 16, MAX_RUNS = 160 }; /* of a layer */

/* ---- methods ---- */

static struct csa_tiling halve_is(const struct conv_problem *p, const struct csa_caches *c, const struct conv_ukr *u)
{
    return csa_analyse(p, c, u->n_win, u->n_f, CSA_IS);
}

static struct csa_tiling halve_ws(const struct conv_problem *p, const struct csa_caches *c, const struct conv_ukr *u)
{
    return csa_analyse(p, c, u->n_win, u->n_f, CSA_WS);
}

static struct csa_tiling halve(const struct conv_problem *p, const struct csa_caches *c, const struct conv_ukr *u)
{
    const struct csa_tiling both[CSA_N_SCHEDULES] = { halve_is(p, c, u), halve_ws(p, c, u) };

    return both[csa_choose(both)];
}

/* Returns how many items fit, at least 1. */
static size_t at_most(double room, double each)
{
    return room >= each ? (size_t)(room / each) : 1;
}

/* Takes the largest Nc that fits, then the largest K2, then the largest K3: a search between 1 and all ends there. */
static struct csa_tiling search(const struct conv_problem *p, const struct csa_caches *c, const struct conv_ukr *u)
{
    struct csa_tiling own = halve(p, c, u);
    double taps = (double)(p->r * p->s) * (double)sizeof(float), n_win = (double)u->n_win, n_f = (double)u->n_f;
    double out = n_win * n_f * (double)sizeof(float), stationary, streaming;
    size_t n_c = min_size(at_most(c->l1_bytes - out, (n_win + n_f) * taps), conv_group_channels(p)), k2;
    struct csa_tiling t = csa2_tiling(p, u, own.schedule, n_c, SIZE_MAX, SIZE_MAX);

    stationary = (t.schedule == CSA_IS ? n_win : n_f) * (double)n_c * taps;
    streaming = (t.schedule == CSA_IS ? n_f : n_win) * (double)n_c * taps;
    k2 = min_size(at_most(c->l2_bytes - stationary, streaming + out), t.k2);
    return csa2_tiling(p, u, t.schedule, n_c, k2,
                       at_most(c->l3_bytes - (double)k2 * streaming, stationary + (double)k2 * out));
}

const struct exp_study_names exp_study_methods[EXP_STUDY_N_METHODS] = {
#define METHOD(upper, name, title, ...) { name, title },
#include "experiments/choices/study/methods.def"
#undef METHOD
    { "csa2", "csa2" },
};

static const struct method {
    struct csa_tiling (*plan)(const struct conv_problem *p, const struct csa_caches *caches, const struct conv_ukr *u);
    double share[3];
} methods[EXP_STUDY_CSA2S] = {
#define METHOD(upper, name, title, plan, alpha, beta, gamma) { plan, { alpha, beta, gamma } },
#include "experiments/choices/study/methods.def"
#undef METHOD
};

/* ---- runs ---- */

struct making {
    struct exp_study_runs *r;
    struct exp_study_runs_layer *layer;
    const struct sim_machine *machine;
    struct csa2_machine model;
    struct csa_caches caches;
};

static bool is_same(const struct exp_study_run *run, const struct csa_tiling *t, const struct conv_ukr *u)
{
    return run->ukr == u && run->tiling.schedule == t->schedule && run->tiling.n_c == t->n_c &&
           run->tiling.k2 == t->k2 && run->tiling.k3 == t->k3;
}

/* Returns the number of the run with this tiling; adds the run if no run has the tiling. */
static size_t add_run(struct making *m, struct csa_tiling t, const struct conv_ukr *u)
{
    const struct conv_problem *p = &m->layer->layer->problem;
    struct csa_lines lines;
    size_t i = m->layer->first;

    t = csa2_tiling(p, u, t.schedule, t.n_c, t.k2, t.k3);
    while (i < m->r->n && !is_same(&m->r->run[i], &t, u))
        i++;
    if (i < m->r->n || m->layer->n == MAX_RUNS)
        return min_size(i, m->r->n - 1);
    lines = csa_lines_of(p, &m->caches, &t);
    m->r->run[m->r->n++] = (struct exp_study_run){
        .layer = m->layer->layer,
        .tiling = t,
        .ukr = u,
        .csa2_cycles = csa2_predict(p, &t, u, &m->model, CSA2_COLD),
        .csa_cycles = csa_cycles_of(&lines, &m->caches),
        .sim_cycles = (double)NAN,
        .ns = (double)NAN,
        .median_ns = (double)NAN,
    };
    m->layer->n++;
    return i;
}

/* Adds tilings of both schedules: Nc, K2 and K3 divide channels and tiles into 1, 2, 4, 8 or 16 nearly equal parts. */
static void add_exhaustive(struct making *m, const struct conv_ukr *u)
{
    const struct conv_problem *p = &m->layer->layer->problem;

    for (enum csa_schedule s = 0; s < CSA_N_SCHEDULES; s++) {
        for (size_t c = 1; c <= MAX_PARTS; c *= 2) {
            struct csa_tiling all = csa2_tiling(p, u, s, ceil_div(conv_group_channels(p), c), SIZE_MAX, SIZE_MAX);

            for (size_t i = 1; i <= MAX_PARTS; i *= 4) {
                for (size_t j = 1; j <= (i > 1 ? 4 : 1); j *= 4)
                    add_run(m, csa2_tiling(p, u, all.schedule, all.n_c, ceil_div(all.k2, i), ceil_div(all.k3, j)), u);
            }
        }
    }
}

/* Adds both schedules for all further micro-kernels of the instruction set, the square micro-kernel last. */
static void add_further_ukrs(struct making *m, const struct conv_ukr *u)
{
    const struct conv_problem *p = &m->layer->layer->problem;

    for (size_t i = 0; i <= conv_ukr_count(); i++) {
        const struct conv_ukr *further = i < conv_ukr_count() ? conv_ukr_at(i) : &m->r->square;

        if (!further->name || further == u || further->isa != u->isa || further->walk)
            continue;
        add_run(m, halve_is(p, &m->caches, further), further);
        add_run(m, halve_ws(p, &m->caches, further), further);
    }
}

/*
 * Makes a square micro-kernel, in which tiles of filters are as large as tiles of windows: an edge tile of a larger
 * micro-kernel, whose function computes edge tiles, too.
 */
static void make_square(struct exp_study_runs *r, const struct conv_ukr *u)
{
    for (size_t i = 0; i < conv_ukr_count() && !r->square.name; i++) {
        const struct conv_ukr *larger = conv_ukr_at(i);

        if (larger->isa != u->isa || larger->walk || larger->n_f <= larger->n_win)
            continue;
        exp_say(r->square_name, sizeof r->square_name, "%s/%zu", larger->name, larger->n_win);
        r->square = *larger;
        r->square.name = r->square_name;
        r->square.n_f = r->square.f_panel = larger->n_win;
    }
}

static void add_method(struct making *m, size_t method, const struct conv_ukr *u)
{
    struct csa_caches caches = csa_caches_of(m->machine, 1);

    caches.l1_bytes *= methods[method].share[0];
    caches.l2_bytes *= methods[method].share[1];
    caches.l3_bytes *= methods[method].share[2];
    m->layer->of_method[method] = add_run(m, methods[method].plan(&m->layer->layer->problem, &caches, u), u);
}

static void make_layer(struct making *m, const struct conv_ukr *u, enum exp_study_scope scope)
{
    m->layer->first = m->r->n;
    add_method(m, EXP_STUDY_HALVING_IS, u);
    add_method(m, EXP_STUDY_HALVING_WS, u);
    for (size_t i = 0; i < EXP_STUDY_CSA2S && scope != EXP_STUDY_SCHEDULES; i++)
        add_method(m, i, u);
    if (scope != EXP_STUDY_SCHEDULES)
        add_exhaustive(m, u);
    if (scope == EXP_STUDY_SEARCH_UKRS)
        add_further_ukrs(m, u);
}

/* ---- the sample ---- */

static int by_macs(const void *a, const void *b)
{
    double x = conv_macs(&((const struct exp_study_runs_layer *)a)->layer->problem);
    double y = conv_macs(&((const struct exp_study_runs_layer *)b)->layer->problem);

    return (x > y) - (x < y);
}

struct exp_study_runs_layer *exp_study_runs_find(const struct exp_study_runs *r, const struct conv_problem *p)
{
    for (size_t i = 0; i < r->n_layers; i++) {
        if (conv_problem_equal(&r->layer[i].layer->problem, p))
            return &r->layer[i];
    }
    return NULL;
}

static void take_shapes(struct exp_study_runs *r, const struct exp_model *m, double most_macs)
{
    for (const struct exp_layer *layer = m->layer; layer < m->layer + m->n_layers; layer++) {
        struct exp_study_runs_layer *shape = exp_study_runs_find(r, &layer->problem);

        if (conv_macs(&layer->problem) > most_macs)
            continue;
        if (!shape) {
            shape = exp_append(&r->layer, &r->n_layers, sizeof *shape);
            shape->model = m;
            shape->layer = layer;
            shape->is_training = exp_study_is_training(&layer->problem);
        }
        shape->n_same++;
    }
}

static void thin_out(struct exp_study_runs *r, size_t n)
{
    size_t all = r->n_layers;

    qsort(r->layer, all, sizeof *r->layer, by_macs);
    if (!n || n >= all)
        return;
    for (size_t i = 0; i < n; i++)
        r->layer[i] = r->layer[i * all / n];
    r->n_layers = n;
}

void exp_study_runs_make(struct exp_study_runs *r, const struct exp_models *models,
                         const struct exp_study_sampling *sampling, const struct sim_machine *m,
                         const struct conv_ukr *ukr)
{
    struct making making = {
        .r = r, .machine = m, .model = csa2_machine_of(m), .caches = csa_caches_of(m, csa_default_share)
    };

    assert(sampling->scope <= EXP_STUDY_SEARCH_UKRS && ukr);
    *r = (struct exp_study_runs){ 0 };
    for (size_t i = 0; i < models->n; i++)
        take_shapes(r, &models->model[i], sampling->most_macs);
    thin_out(r, sampling->n);
    r->run = exp_new(r->n_layers * MAX_RUNS, sizeof *r->run);
    if (sampling->scope == EXP_STUDY_SEARCH_UKRS)
        make_square(r, ukr);
    for (size_t i = 0; i < r->n_layers; i++) {
        making.layer = &r->layer[i];
        make_layer(&making, ukr, sampling->scope);
    }
}

void exp_study_runs_release(struct exp_study_runs *r)
{
    free(r->layer);
    free(r->run);
    *r = (struct exp_study_runs){ 0 };
}

double exp_study_run_cost(const struct exp_study_run *run, size_t member)
{
    assert(member % sizeof(double) == 0 && member < sizeof *run);
    return *(const double *)((const char *)run + member);
}

size_t exp_study_runs_best(const struct exp_study_runs *r, size_t layer, size_t member)
{
    const struct exp_study_runs_layer *l = &r->layer[layer];
    size_t best = SIZE_MAX;

    assert(layer < r->n_layers);

    for (size_t i = l->first; i < l->first + l->n; i++) {
        const double cost = exp_study_run_cost(&r->run[i], member);

        if (!isnan(cost) && (best == SIZE_MAX || cost < exp_study_run_cost(&r->run[best], member)))
            best = i;
    }
    return best;
}

const struct exp_study_run *exp_study_runs_own(const struct exp_study_runs *r, const struct exp_study_runs_layer *l,
                                               enum csa_schedule schedule)
{
    return &r->run[l->of_method[schedule == CSA_IS ? EXP_STUDY_HALVING_IS : EXP_STUDY_HALVING_WS]];
}

const struct exp_study_run *exp_study_runs_planned(const struct exp_study_runs *r, size_t layer,
                                                   const struct conv_ukr *ukr, enum csa_schedule schedule)
{
    const struct exp_study_runs_layer *l = &r->layer[layer];
    const struct exp_study_run *own = exp_study_runs_own(r, l, schedule);

    assert(layer < r->n_layers && ukr);

    for (size_t i = l->first; i < l->first + l->n && own->ukr != ukr; i++) {
        if (r->run[i].ukr == ukr && r->run[i].tiling.schedule == schedule)
            return &r->run[i];
    }
    return own->ukr == ukr ? own : NULL;
}

size_t exp_study_runs_of(const struct exp_study_runs *r, size_t layer, size_t method)
{
    assert(layer < r->n_layers && method < EXP_STUDY_N_METHODS);
    return method == EXP_STUDY_CSA2S ? exp_study_runs_best(r, layer, offsetof(struct exp_study_run, csa2_cycles))
                                     : r->layer[layer].of_method[method];
}

/* ---- replaying ---- */

static void count_cell(struct exp_study_counts *c, const struct sim_stats *s, unsigned tensor, unsigned phase)
{
    const struct sim_cell *cell = &s->cell[tensor][phase];

    for (enum exp_study_without w = 0; w < EXP_STUDY_N_WITHOUT; w++) {
        const bool is_both = w == EXP_STUDY_WITHOUT_BOTH;

        if ((phase == CONV_PHASE_PACK && (is_both || w == EXP_STUDY_WITHOUT_PACKING)) ||
            (tensor == CONV_OUTPUT && (is_both || w == EXP_STUDY_WITHOUT_OUTPUT)))
            continue;
        for (size_t source = 0; source < 3; source++)
            c->served[w][source] += exp_loads_served(s, cell, source);
    }
    c->lines_in += (double)(cell->level[0].read_misses + cell->level[0].write_misses);
}

static void take_counts(struct exp_study_run *run, const struct sim_stats *s, const struct csa_caches *c)
{
    const double *all = run->counts.served[EXP_STUDY_WITHOUT_NOTHING];

    run->counts = (struct exp_study_counts){ 0 };
    for (unsigned tensor = 0; tensor < CONV_N_TENSORS; tensor++) {
        for (unsigned phase = 0; phase < CONV_N_PHASES; phase++)
            count_cell(&run->counts, s, tensor, phase);
    }
    run->sim_cycles = all[0] * c->l2_cycles + all[1] * c->l3_cycles + all[2] * c->dram_cycles;
}

int exp_study_replay(struct exp_experiment *e, unsigned n_threads, struct exp_why *why)
{
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_progress *progress;
    int err;

    for (size_t i = 0; i < e->n_cases / e->n_algos; i++)
        seconds[EXP_WORK_REPLAY] += exp_replay_seconds(e, EXP_COLD, n_threads, i);
    progress = exp_main_progress(seconds);
    err = exp_replay_all(e, EXP_COLD, n_threads, progress, why);
    exp_progress_free(progress);
    return err;
}

int exp_study_runs_replay(struct exp_study_runs *r, const struct exp_setup *setup, unsigned n_threads,
                          struct exp_why *why)
{
    struct exp_experiment e = {
        .setup = setup, .n_algos = 1, .n_cases = r->n, .cases = exp_new(r->n, sizeof *e.cases)
    };
    int err = 0;

    for (size_t i = 0; i < r->n && !err; i++) {
        const struct exp_study_run *run = &r->run[i];
        struct exp_case *c = &e.cases[i];

        c->layer = run->layer;
        c->algo = exp_algo_find(run->tiling.schedule == CSA_IS ? "sconv_is" : "sconv_ws");
        c->same_as = i;
        err = conv_plan_sconv(&c->plan, &run->layer->problem, run->ukr, &run->tiling, false);
        if (err)
            exp_fail(why, err, "layer '%s': its buffers exceed the address space", run->layer->name);
    }
    err = err ? err : exp_study_replay(&e, n_threads, why);
    for (size_t i = 0; i < r->n && !err; i++)
        take_counts(&r->run[i], &e.cases[i].simulated.stats, &setup->caches);
    exp_experiment_release(&e);
    return err;
}
