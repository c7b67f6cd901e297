#include "experiments/study/exp_study_work.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/setup/exp_machine.h"
#include "experiments/setup/exp_options_shared.h"
#include "experiments/study/exp_study_timing.h"
#include "kernels/ukr/dispatch.h"

/* Shapes of more multiply-adds are left out of a sample: many tilings of each are tried. */
static const double most_macs = 250e6;
static const uint64_t enough_bytes = 64 << 20;

/* The paper's two machines: tilings are replayed there. */
static const char *const replayed[] = { "clx4208", "power10" };

/* CSA's plans of all layers are replayed on these machines: the paper's, and the recorded computers. */
static const char *const planned[EXP_STUDY_N_PLANNED] = { "clx4208", "power10", "zen3", "spr" };

const char exp_study_varied[] = "clx4208";

enum { N_REPLAYED = sizeof replayed / sizeof replayed[0] };

static int read_sources(struct exp_study_work *w)
{
    int err = 0;

    for (size_t i = 0; exp_study_recorded(i) && !err; i++)
        err = exp_study_source_read(&w->source[w->n_sources++], exp_study_recorded(i), w->models, w->why);
    return err;
}

/* A sample leaves large shapes out; who asks for all shapes gets them, too. */
static struct exp_study_sampling sampling_of(const struct exp_study_work *w, enum exp_study_scope scope)
{
    return (struct exp_study_sampling){ w->options->sample, w->options->sample ? most_macs : (double)INFINITY, scope };
}

/* Says which part begins, above its progress. */
static void say_part(const char *what, const char *where)
{
    fprintf(stderr, "%s: %s\n", where, what);
}

static int find_machine(const struct exp_study_work *w, const char *which, struct sim_machine *machine)
{
    return exp_machine_find(machine, which, w->options->results, w->why);
}

/* Has a machine's caches alone replayed through. */
static void set_caches(struct exp_setup *setup, const struct sim_machine *m)
{
    setup->machine = sim_machine_caches_alone(m);
    setup->machine.has_stack = false;
}

/*
 * Makes the runs of both schedules as CSA plans them for a machine, and replays them through the caches of w->spare,
 * which is released. err: of what came before.
 */
static int replay_schedules(struct exp_study_work *w, const struct exp_study_sampling *sampling,
                            const struct sim_machine *planned_for, struct exp_study_runs *r, int err)
{
    struct exp_setup *setup = &w->spare;

    if (!err)
        err = exp_setup_init(setup, "", "", w->why);
    if (!err)
        err = exp_study_runs_make(r, w->models, sampling, planned_for, setup->ukr, w->why);
    if (!err)
        err = exp_study_runs_replay(r, setup, w->options->jobs, w->why);
    exp_setup_release(setup);
    *setup = (struct exp_setup){ 0 };
    return err;
}

static struct exp_study_terms terms_of(const char *name, const struct sim_machine *m)
{
    return (struct exp_study_terms){ .name = name, .machine = *m, .caches = csa_caches_of(m, csa_default_share) };
}

/* ---- terms ---- */

static int replay_plans(struct exp_study_work *w, const char *which, struct exp_study_terms *t)
{
    const struct exp_study_sampling sampling = { 0, (double)INFINITY, EXP_STUDY_SCHEDULES };
    struct sim_machine machine;
    int err = find_machine(w, which, &machine);

    say_part("CSA's plans of all layers", which);
    if (err)
        return err;
    *t = terms_of(which, &machine);
    set_caches(&w->spare, &machine);
    return replay_schedules(w, &sampling, &t->machine, &t->runs, 0);
}

static int compare_terms(struct exp_study_work *w)
{
    int err = 0;

    for (size_t i = 0; i < EXP_STUDY_N_PLANNED && !err; i++)
        err = replay_plans(w, planned[i], &w->terms[w->n_terms++]);
    for (size_t i = 0; i < EXP_STUDY_N_PLANNED * w->n_sources && !err; i++) {
        const struct exp_study_terms *t = &w->terms[i % EXP_STUDY_N_PLANNED];
        struct exp_study_source *source = &w->source[i / EXP_STUDY_N_PLANNED];

        if (!strcmp(t->name, source->name))
            exp_study_terms_tell(t, source);
    }
    return err;
}

/* ---- what is left out ---- */

/* Replays plans for a machine's caches through other ones. */
static int leave_out(struct exp_study_work *w, const char *which, struct exp_study_ablation *a)
{
    const struct exp_study_sampling sampling = sampling_of(w, EXP_STUDY_SCHEDULES);
    struct sim_machine own;
    int err = find_machine(w, which, &own);

    say_part("what CSA leaves out, one by one", which);
    for (size_t i = 0; i < EXP_STUDY_N_LEFT_OUT && !err; i++) {
        if (exp_study_left_out[i].keeps_prefetchers && !exp_study_has_prefetchers(&own))
            continue;
        a->terms[i] = terms_of(which, &own);
        err = exp_study_variant_make(&exp_study_left_out[i], &own, &w->spare.machine, w->why);
        err = replay_schedules(w, &sampling, &own, &a->terms[i].runs, err);
    }
    return err;
}

static int leave_out_all(struct exp_study_work *w)
{
    int err = 0;

    for (size_t i = 0; i < EXP_STUDY_N_PLANNED && !err; i++)
        err = leave_out(w, planned[i], &w->ablation[i]);
    return err;
}

/* ---- variants ---- */

static int replay_variants(struct exp_study_work *w)
{
    const struct exp_study_sampling sampling = sampling_of(w, EXP_STUDY_SCHEDULES);
    struct sim_machine own, *varied = &w->spare.machine;
    int err = find_machine(w, exp_study_varied, &own);

    say_part("both schedules on variants of the caches", exp_study_varied);
    for (size_t i = 0; i < EXP_STUDY_N_VARIANTS && !err; i++) {
        struct exp_study_runs runs = { 0 };
        struct sim_machine planned_for;

        err = exp_study_variant_make(&exp_study_variants[i], &own, varied, w->why);
        planned_for = *varied;
        err = replay_schedules(w, &sampling, &planned_for, &runs, err);
        if (!err)
            w->sensitivity[i] = exp_study_sensitivity_of(&runs);
        exp_study_runs_release(&runs);
    }
    return err;
}

/* ---- micro-kernels ---- */

static int replay_micro_kernels(struct exp_study_work *w)
{
    const struct exp_study_sampling sampling = sampling_of(w, EXP_STUDY_SCHEDULES);
    struct exp_study_runs sample = { 0 };
    struct sim_machine machine;
    int err = find_machine(w, exp_study_varied, &machine);

    say_part("Base and SConv with micro-kernels of all speeds", exp_study_varied);
    if (!err)
        err = exp_study_runs_make(&sample, w->models, &sampling, &machine, conv_ukr_at(0), w->why);
    if (!err)
        err = exp_study_micro_replay(w->micro, &sample, &machine, w->options->jobs, w->why);
    exp_study_runs_release(&sample);
    return err;
}

/* ---- tilings ---- */

/*
 * Takes sets off a last level that is larger than anything the sampled shapes use: a simulation of many short runs
 * would spend its time on emptying it.
 */
static void shrink_last_level(struct sim_machine *m)
{
    struct sim_level *last = &m->level[m->n_levels - 1];

    while (sim_level_bytes(last) > enough_bytes && last->n_sets % 2 == 0)
        last->n_sets /= 2;
}

/* Makes the runs of a sample on a machine, planned for its caches. */
static struct exp_study_tilings *open_tilings(struct exp_study_work *w, const char *name, const char *which,
                                              enum exp_study_measure measure, int *err)
{
    const struct exp_study_sampling sampling =
        sampling_of(w, measure == EXP_STUDY_BY_CLOCK ? EXP_STUDY_SEARCH_UKRS : EXP_STUDY_SEARCH);
    struct exp_study_tilings *t = &w->tilings[w->n_tilings];
    struct exp_setup *setup = &w->setup[w->n_tilings++];

    say_part("tilings of the sample", name);
    t->name = name;
    t->measure = measure;
    *err = find_machine(w, which, &t->machine);
    set_caches(setup, &t->machine);
    *err = *err ? *err : exp_setup_init(setup, "", "", w->why);
    if (*err)
        return t;
    shrink_last_level(&setup->alone);
    shrink_last_level(&setup->machine);
    setup->classified = setup->machine;
    t->model = csa2_machine_of(&t->machine);
    t->ukr = setup->ukr;
    *err = exp_study_runs_make(&t->runs, w->models, &sampling, &t->machine, setup->ukr, w->why);
    return t;
}

static int replay_tilings(struct exp_study_work *w)
{
    int err = 0;

    for (size_t i = 0; i < N_REPLAYED && !err; i++) {
        struct exp_study_tilings *t = open_tilings(w, replayed[i], replayed[i], EXP_STUDY_BY_REPLAY, &err);

        if (!err)
            err = exp_study_runs_replay(&t->runs, &w->setup[w->n_tilings - 1], w->options->jobs, w->why);
    }
    return err;
}

static bool has_same_tile(const struct conv_ukr *a, const struct conv_ukr *b)
{
    return a->n_win == b->n_win && a->n_f == b->n_f;
}

/* Takes CSA's plans as sources of their own, one for each micro-kernel that was timed. */
static int take_sources(struct exp_study_work *w, const struct exp_study_tilings *t)
{
    int err = exp_study_tilings_source(t, NULL, &w->source[w->n_sources++], w->why);
    const struct conv_ukr *ukr;

    for (size_t i = 0; (ukr = exp_study_runs_ukr(&t->runs, i)) && !err; i++) {
        struct exp_study_source *source = &w->source[w->n_sources];

        if (w->n_sources == EXP_STUDY_MAX_SOURCES || !exp_study_runs_planned(&t->runs, 0, ukr, CSA_IS) ||
            has_same_tile(ukr, t->ukr))
            continue;
        err = exp_study_tilings_source(t, ukr, source, w->why);
        w->n_sources++;
    }
    return err;
}

/* Times tilings here, and fits csa2 to them. */
static int time_tilings(struct exp_study_work *w)
{
    struct exp_study_keeping keeping = {
        .results = w->options->results,
        .commit = w->options->commit,
        .rounds = exp_rounds_of(0, 3, 9, w->options->limit),
        .ruler_ns = exp_ruler_limit_ns(w->options->ruler, w->options->limit),
    };
    struct exp_study_tilings *t;
    struct exp_study_timed timed;
    struct exp_setup *setup;
    char ruled[160];
    int err;

    t = open_tilings(w, "here", "host", EXP_STUDY_BY_CLOCK, &err);
    setup = &w->setup[w->n_tilings - 1];
    keeping.machine = &t->machine;
    if (!err)
        err = exp_study_runs_replay(&t->runs, setup, w->options->jobs, w->why);
    if (!err)
        err = exp_study_time_runs(&t->runs, setup, &keeping, &timed, w->why);
    if (!err) {
        exp_ruler_say(&timed.ruled, ruled, sizeof ruled);
        printf("%zu layers timed, %zu kept from earlier runs; %s\n", t->runs.n_layers - timed.n_kept, timed.n_kept,
               ruled);
    }
    if (!err)
        err = exp_study_tilings_fit(t, w->why);
    return err ? err : take_sources(w, t);
}

static int fit_base(struct exp_study_work *w)
{
    int err = 0;

    for (size_t i = 0; i < w->n_sources && !err; i++)
        err = exp_study_base_fit(&w->base[i], &w->source[i], w->why);
    return err;
}

int exp_study_work(struct exp_study_work *w)
{
    int (*const steps[])(struct exp_study_work *) = { read_sources,    compare_terms,        leave_out_all,
                                                      replay_variants, replay_micro_kernels, replay_tilings };
    int err = 0;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !err; i++)
        err = steps[i](w);
    if (!err && w->options->timing)
        err = time_tilings(w);
    return err ? err : fit_base(w);
}

void exp_study_work_release(struct exp_study_work *w)
{
    for (size_t i = 0; i < w->n_sources; i++)
        exp_study_source_release(&w->source[i]);
    for (size_t i = 0; i < w->n_terms; i++)
        exp_study_runs_release(&w->terms[i].runs);
    for (size_t i = 0; i < EXP_STUDY_N_PLANNED; i++)
        exp_study_ablation_release(&w->ablation[i]);
    exp_setup_release(&w->spare);
    for (size_t i = 0; i < w->n_tilings; i++) {
        exp_study_runs_release(&w->tilings[i].runs);
        exp_setup_release(&w->setup[i]);
    }
}
