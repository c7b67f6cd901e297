/*
 * The study of the cost models: does CSA choose what the clock says is faster, and can a model do that? `study --help`
 * lists the options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_model.h"
#include "experiments/setup/exp_options_shared.h"
#include "experiments/setup/exp_results.h"
#include "experiments/study/exp_study_page.h"
#include "experiments/study/exp_study_timing.h"

extern const struct exp_question question_study;

#define PAGE "study.md"

static const struct exp_results_layout layout = { "/study", true, "choices.csv", NULL };

static struct exp_results_place place_of(const struct exp_study_options *o)
{
    return (struct exp_results_place){
        .layout = &layout, .options = o, .results = o->results, .model = o->model, .layers = o->layers
    };
}

struct session {
    struct exp_study_options options;
    struct exp_models models;
    struct exp_study_work work;
    struct exp_results results;
    char what[512];
    struct exp_why why;
};

/* Says what was studied: models, layers, and the computer that times here are of. */
static void describe(struct session *s)
{
    const char *commit = *s->options.commit ? s->options.commit : "unknown";
    size_t n_layers = 0;
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    for (size_t i = 0; i < s->models.n; i++)
        n_layers += s->models.model[i].n_layers;
    exp_say(s->what, sizeof s->what, "%s%s, %zu convolutions; this computer ('here'): %s; commit %s",
            s->models.n == 1 ? s->models.model->name : "", s->models.n == 1 ? "" : "several models", n_layers, cpu,
            commit);
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct exp_study_options *o = &s->options;
    int err = exp_main_models(&s->models, o->model, o->layers, &s->why);

    s->results.sample = &s->options.sample;
    exp_results_time(&s->results, o->timing ? NULL : "without TIMING=1");
    if (!err)
        describe(s);
    if (!err)
        err = exp_results_find(&s->results, place_of(o), NULL, s->models.model, s->models.n, &s->why);
    return err ? err : exp_results_open(&s->results, &s->why);
}

/* ---- results ---- */

static struct exp_study_page page_of(const struct session *s)
{
    return (struct exp_study_page){ s->what, &s->work };
}

static int print_page(const void *session, FILE *out)
{
    const struct exp_study_page page = page_of(session);

    exp_study_page_print(&page, out);
    return 0;
}

static int draw(void *session)
{
    struct session *s = session;
    const struct exp_main_figures figures = {
        .results = &s->results,
        .what = s->what,
    };

    return exp_main_draw(&question_study, &figures, &s->why);
}

static int write_tables(void *session)
{
    struct session *s = session;
    const struct exp_outdir *dir = &s->results.dir;
    const struct exp_study_work *w = &s->work;
    int err = exp_study_choices_write(w->source, w->n_sources, dir, s->what, &s->why);

    if (!err)
        err = exp_study_terms_write(w->terms, w->n_terms, dir, s->what, &s->why);
    if (!err)
        err = exp_study_ablation_write(w->ablation, EXP_STUDY_N_PLANNED, dir, s->what, &s->why);
    if (!err)
        err = exp_study_tilings_write(w->tilings, w->n_tilings, dir, s->what, &s->why);
    if (!err)
        err = exp_study_sensitivity_write(w->sensitivity, exp_study_varied, dir, s->what, &s->why);
    if (!err)
        err = exp_study_micro_write(w->micro, exp_study_varied, dir, s->what, &s->why);
    if (!err)
        err = exp_study_hybrid_write(w->source, w->base, w->n_sources, dir, s->what, &s->why);
    if (!err)
        err = exp_outdir_write(dir, PAGE, print_page, s, &s->why);
    return err;
}

static int answer(void *session)
{
    const struct session *s = session;
    const struct exp_study_page page = page_of(s);

    printf("\npage: %s/" PAGE "\n\n", s->results.path);
    exp_study_page_summary(&page, stdout);
    return 0;
}

static int work(void *session)
{
    struct session *s = session;

    s->work.options = &s->options;
    s->work.models = &s->models;
    s->work.why = &s->why;
    return exp_study_work(&s->work);
}

static void release(void *session)
{
    struct session *s = session;

    exp_study_work_release(&s->work);
    exp_results_release(&s->results);
    exp_models_release(&s->models);
}

static void document(FILE *out)
{
    exp_study_choices_document(out);
    exp_study_terms_document(out);
    exp_study_ablation_document(out);
    exp_study_tilings_document(out);
    exp_study_sensitivity_document(out);
    exp_study_hybrid_document(out);
    exp_study_micro_document(out);
    exp_study_kept_document(out);
}

#define OPTIONS struct exp_study_options

static const struct exp_option options[] = {
    EXP_MODELS_OPTIONS,
    EXP_NUMBER("SAMPLE",
               "layers of different shapes for the parts that take long, spread over all up to 250 million "
               "multiply-adds (default 60); 0: all shapes, the largest too, which takes long",
               sample, 60, 0, 100000),
    EXP_WORD("TIMING",
             "1: layers and tilings of the sample are timed on this computer, too; 0 (default): recorded times and "
             "replays only",
             timing, 0, "0", "1"),
    EXP_NUMBER("LIMIT", "seconds of timing after which no round begins, but for the first three (default 240)", limit,
               240, 1, 1000000),
    EXP_RULER_OPTION,
    EXP_REPLAY_JOBS_OPTION,
    EXP_FOLDER("RESULTS",
               "folder for results (default results); this goes to RESULTS/host/study/<models>/ (a name, names joined "
               "by +, or all; then ,<LAYERS>)",
               results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_study = {
    .name = "study",
    .asks = "Does the cost model deserve the credit? CSA, csa2 and the clock",
    .takes = "csa2 is a model that predicts cycles. 1 to 2 minutes; 6 with TIMING=1.",
    .examples = { "make study TIMING=1 SAMPLE=0" },
    .libraries = "blas",
    .figures = { "study_choices", "study_tilings", "study_micro_kernels", "study_rates" },
    .options = options,
    .place = &layout,
    .chapter = { "study.md", "cost models studied", NULL },
    EXP_SESSION(struct session),
    .document = document,
    .results_at = offsetof(struct session, results),
    .prepare = prepare,
    .work = work,
    .write = write_tables,
    .draw = draw,
    .answer = answer,
    .release = release,
};
