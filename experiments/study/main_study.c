/*
 * The study of the cost models: does CSA choose what the clock says is faster, and can a model do that? `study --help`
 * lists the options; the Makefile passes them on.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/setup/exp_machine.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_models.h"
#include "experiments/setup/exp_results.h"
#include "experiments/study/exp_study_page.h"
#include "experiments/study/exp_study_timing.h"
#include "kernels/ukr/dispatch.h"

#define PAGE "study.md"

enum { MAX_SOURCES = 3, MAX_TILINGS = 3 };

/* Shapes of more multiply-adds are left out where many tilings are tried. */
static const double most_macs = 250e6;
static const uint64_t enough_bytes = 64 << 20;

/* The paper's two machines: tilings are replayed there. */
static const char *const replayed[] = { "clx4208", "power10" };

/* Where CSA's plans of all layers are replayed: those, and the recorded computers. */
static const char *const planned[] = { "clx4208", "power10", "zen3", "spr" };

/* Whose caches are varied. */
static const char varied[] = "clx4208";

enum { N_REPLAYED = sizeof replayed / sizeof replayed[0], N_PLANNED = sizeof planned / sizeof planned[0] };

struct session {
    struct exp_options options;
    struct exp_models models;
    struct exp_study_source source[MAX_SOURCES];
    struct exp_study_base base[MAX_SOURCES]; /* of each source */
    size_t n_sources;
    struct exp_study_tilings tilings[MAX_TILINGS];
    size_t n_tilings;
    struct exp_setup setup[MAX_TILINGS]; /* of those */
    struct exp_setup spare;              /* of the machine whose plans are being replayed */
    struct exp_study_terms terms[N_PLANNED];
    size_t n_terms;
    struct exp_study_sensitivity sensitivity[EXP_STUDY_N_VARIANTS];
    struct exp_results results;
    char what[512];
    char why[1024];
};

static int prepare(struct session *s)
{
    const struct exp_options *o = &s->options;
    int err = exp_main_models(&s->models, o, s->why, sizeof s->why);

    exp_say(s->what, sizeof s->what, "commit %s", *o->commit ? o->commit : "unknown");
    for (size_t i = 0; exp_study_recorded(i) && !err; i++)
        err =
            exp_study_source_read(&s->source[s->n_sources++], exp_study_recorded(i), &s->models, s->why, sizeof s->why);
    if (!err)
        err = exp_results_find(&s->results, EXP_STUDY, o, NULL, s->models.model, s->models.n, s->why, sizeof s->why);
    return err ? err : exp_results_open(&s->results, s->why, sizeof s->why);
}

/* Says which part begins, above its progress. */
static void say_part(const char *what, const char *where)
{
    fprintf(stderr, "%s: %s\n", where, what);
}

/* Finds a machine and sets up what is replayed on its caches alone. */
static int open_machine(struct session *s, const char *which, struct sim_machine *machine, struct exp_setup *setup)
{
    int err = exp_machine_find(machine, which, s->options.results, s->why, sizeof s->why);

    if (err)
        return err;
    setup->machine = sim_machine_caches_alone(machine);
    setup->machine.has_stack = false;
    return exp_setup_init(setup, "", "", s->why, sizeof s->why);
}

/* ---- terms ---- */

static int replay_plans(struct session *s, const char *which, struct exp_study_terms *t)
{
    const struct exp_study_sampling sampling = { 0, (double)INFINITY, EXP_STUDY_SCHEDULES };
    struct exp_setup *setup = &s->spare;
    int err = open_machine(s, which, &t->machine, setup);

    say_part("CSA's plans of all layers", which);
    t->name = which;
    t->caches = csa_caches_of(&t->machine, csa_default_share);
    if (!err)
        err = exp_study_runs_make(&t->runs, &s->models, &sampling, &t->machine, setup->ukr, s->why, sizeof s->why);
    if (!err)
        err = exp_study_runs_replay(&t->runs, setup, s->options.jobs, s->why, sizeof s->why);
    exp_setup_release(setup);
    *setup = (struct exp_setup){ 0 };
    return err;
}

static int compare_terms(struct session *s)
{
    int err = 0;

    for (size_t i = 0; i < N_PLANNED && !err; i++)
        err = replay_plans(s, planned[i], &s->terms[s->n_terms++]);
    for (size_t i = 0; i < N_PLANNED * s->n_sources && !err; i++) {
        const struct exp_study_terms *t = &s->terms[i % N_PLANNED];
        struct exp_study_source *source = &s->source[i / N_PLANNED];

        if (!strcmp(t->name, source->name))
            exp_study_terms_tell(t, source);
    }
    return err;
}

/* ---- variants ---- */

static int replay_variant(struct session *s, size_t variant)
{
    const struct exp_study_sampling sampling = { s->options.sample, most_macs, EXP_STUDY_SCHEDULES };
    struct exp_setup *setup = &s->spare;
    struct exp_study_runs runs = { 0 };
    int err = exp_machine_find(&setup->machine, varied, s->options.results, s->why, sizeof s->why);

    if (!err)
        err = exp_study_variant_make(&setup->machine, variant, s->why, sizeof s->why);
    if (!err)
        err = exp_setup_init(setup, "", "", s->why, sizeof s->why);
    if (!err)
        err = exp_study_runs_make(&runs, &s->models, &sampling, &setup->machine, setup->ukr, s->why, sizeof s->why);
    if (!err)
        err = exp_study_runs_replay(&runs, setup, s->options.jobs, s->why, sizeof s->why);
    if (!err)
        s->sensitivity[variant] = exp_study_sensitivity_of(&runs);
    exp_study_runs_release(&runs);
    exp_setup_release(setup);
    *setup = (struct exp_setup){ 0 };
    return err;
}

static int replay_variants(struct session *s)
{
    int err = 0;

    say_part("both schedules on variants of the caches", varied);
    for (size_t i = 0; i < EXP_STUDY_N_VARIANTS && !err; i++)
        err = replay_variant(s, i);
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
static struct exp_study_tilings *open_tilings(struct session *s, const char *name, const char *which,
                                              enum exp_study_measure measure, int *err)
{
    const struct exp_study_sampling sampling = { s->options.sample, most_macs,
                                                 measure == EXP_STUDY_BY_CLOCK ? EXP_STUDY_SEARCH_UKRS
                                                                               : EXP_STUDY_SEARCH };
    struct exp_study_tilings *t = &s->tilings[s->n_tilings];
    struct exp_setup *setup = &s->setup[s->n_tilings++];

    say_part("tilings of the sample", name);
    t->name = name;
    t->measure = measure;
    *err = open_machine(s, which, &t->machine, setup);
    if (*err)
        return t;
    shrink_last_level(&setup->alone);
    shrink_last_level(&setup->machine);
    setup->classified = setup->machine;
    t->model = csa2_machine_of(&t->machine);
    *err = exp_study_runs_make(&t->runs, &s->models, &sampling, &t->machine, setup->ukr, s->why, sizeof s->why);
    return t;
}

static int replay_tilings(struct session *s)
{
    int err = 0;

    for (size_t i = 0; i < N_REPLAYED && !err; i++) {
        struct exp_study_tilings *t = open_tilings(s, replayed[i], replayed[i], EXP_STUDY_BY_REPLAY, &err);

        if (!err)
            err = exp_study_runs_replay(&t->runs, &s->setup[s->n_tilings - 1], s->options.jobs, s->why, sizeof s->why);
    }
    return err;
}

/* Times tilings here, fits csa2 to them, and takes CSA's plans as a source of its own. */
static int time_tilings(struct session *s)
{
    const struct exp_rounds rounds = exp_options_rounds(&s->options, EXP_STUDY);
    struct exp_study_tilings *t;
    struct exp_setup *setup;
    int err;

    t = open_tilings(s, "here", "host", EXP_STUDY_BY_CLOCK, &err);
    setup = &s->setup[s->n_tilings - 1];
    if (!err)
        err = exp_study_runs_replay(&t->runs, setup, s->options.jobs, s->why, sizeof s->why);
    if (!err)
        err = exp_study_time_runs(&t->runs, setup, &rounds, s->why, sizeof s->why);
    if (!err)
        err = exp_study_tilings_fit(t, s->why, sizeof s->why);
    return err ? err : exp_study_tilings_source(t, &s->source[s->n_sources++], s->why, sizeof s->why);
}

static int fit_base(struct session *s)
{
    int err = 0;

    for (size_t i = 0; i < s->n_sources && !err; i++)
        err = exp_study_base_fit(&s->base[i], &s->source[i], s->why, sizeof s->why);
    return err;
}

/* ---- results ---- */

static struct exp_study_page page_of(const struct session *s)
{
    return (struct exp_study_page){ s->what,    s->source,  s->base,      s->n_sources,   s->terms,
                                    s->n_terms, s->tilings, s->n_tilings, s->sensitivity, varied };
}

static int print_page(const void *session, FILE *out)
{
    const struct exp_study_page page = page_of(session);

    exp_study_page_print(&page, out);
    return 0;
}

static int draw(struct session *s)
{
    static const char *const names[] = { "study_choices", "study_tilings", "study_rates" };
    const struct exp_main_figures figures = {
        .program = EXP_STUDY,
        .results = &s->results,
        .figure = names,
        .n_figures = sizeof names / sizeof names[0],
        .what = s->what,
    };

    return exp_main_draw(&figures, s->why, sizeof s->why);
}

static int finish(struct session *s)
{
    const struct exp_outdir *dir = &s->results.dir;
    struct exp_study_page page;
    int drawn, err = exp_study_choices_write(s->source, s->n_sources, dir, s->what, s->why, sizeof s->why);

    if (!err)
        err = exp_study_terms_write(s->terms, s->n_terms, dir, s->what, s->why, sizeof s->why);
    if (!err)
        err = exp_study_tilings_write(s->tilings, s->n_tilings, dir, s->what, s->why, sizeof s->why);
    if (!err)
        err = exp_study_sensitivity_write(s->sensitivity, varied, dir, s->what, s->why, sizeof s->why);
    if (!err)
        err = exp_study_hybrid_write(s->source, s->base, s->n_sources, dir, s->what, s->why, sizeof s->why);
    if (!err)
        err = exp_outdir_write(dir, PAGE, print_page, s, s->why, sizeof s->why);
    if (err)
        return err;
    drawn = draw(s);
    err = exp_results_commit(&s->results, s->why, sizeof s->why);
    if (err)
        return err;
    printf("\n");
    page = page_of(s);
    exp_study_page_summary(&page, stdout);
    printf("\npage: %s/" PAGE "\n", s->results.path);
    return exp_program_drawn(drawn, s->why, sizeof s->why);
}

static int run(void *session)
{
    struct session *s = session;
    int err = prepare(s);

    if (!err)
        err = compare_terms(s);
    if (!err)
        err = replay_variants(s);
    if (!err)
        err = replay_tilings(s);
    if (!err && s->options.timing)
        err = time_tilings(s);
    if (!err)
        err = fit_base(s);
    return err ? err : finish(s);
}

static void release(void *session)
{
    struct session *s = session;

    for (size_t i = 0; i < s->n_sources; i++)
        exp_study_source_release(&s->source[i]);
    for (size_t i = 0; i < s->n_terms; i++)
        exp_study_runs_release(&s->terms[i].runs);
    exp_setup_release(&s->spare);
    for (size_t i = 0; i < s->n_tilings; i++) {
        exp_study_runs_release(&s->tilings[i].runs);
        exp_setup_release(&s->setup[i]);
    }
    exp_results_release(&s->results);
    exp_models_release(&s->models);
}

static void document(FILE *out)
{
    exp_study_choices_document(out);
    exp_study_terms_document(out);
    exp_study_tilings_document(out);
    exp_study_sensitivity_document(out);
    exp_study_hybrid_document(out);
}

int main(int argc, char **argv)
{
    static struct session s;
    const struct exp_main course = {
        .program = EXP_STUDY,
        .options = &s.options,
        .document = document,
        .run = run,
        .release = release,
        .session = &s,
        .why = s.why,
        .why_bytes = sizeof s.why,
    };

    return exp_main(&course, argc, argv);
}
