/*
 * The study of the cost models: does CSA choose the faster schedule by the clock, and can a model do so? `study --help`
 * lists the options; the Makefile passes options on.
 */
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/choices/study/study.h"

#define PAGE "study.md"

struct session {
    struct exp_study_options options;
    struct exp_models models;
    struct exp_study_work work;
    struct exp_results results;
    char what[512];
    struct exp_why why;
};

/* Describes the study: models, layers, and this computer. */
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
    int err = exp_main_models(&s->models, o->model, EXP_MODEL_ASK(o), &s->why);

    s->results.sample = &s->options.sample;
    exp_results_time(&s->results, o->timing ? NULL : "without TIMING=1");
    if (!err)
        describe(s);
    return err;
}

static int work(void *session)
{
    struct session *s = session;

    s->work.options = &s->options;
    s->work.models = &s->models;
    return exp_study_work(&s->work, &s->why);
}

static int print_page(const void *session, FILE *out)
{
    const struct session *s = session;

    exp_study_page_print(&s->work, s->what, out);
    return 0;
}

static int write_tables(void *session)
{
    struct session *s = session;
    int err = exp_study_tables_write(&s->work, &s->results.dir, s->what, &s->why);

    return err ? err : exp_outdir_write(&s->results.dir, PAGE, print_page, s, &s->why);
}

static int answer(void *session)
{
    const struct session *s = session;

    printf("\npage: %s/" PAGE "\n\n", s->results.path);
    exp_study_answer_print(&s->work, stdout);
    printf("\n");
    exp_study_targets_print(&s->work, stdout);
    return 0;
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;

    exp_study_fill_screen(&s->work, screen);
    exp_screen_open(screen, "%s/" PAGE, s->results.path);
    if (!s->options.timing)
        exp_screen_next(screen, "make study TIMING=1", "this computer's times, too");
    exp_screen_next(screen, "make judge MACHINE=power10", "all schedules, by simulation");
    exp_screen_next(screen, "MORE=1 behind this command", "everything: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    exp_study_work_release(&((struct session *)session)->work);
}

/* Copies the first paragraph of study.md. */
static void find(const char *folder, char *text, size_t bytes)
{
    char *page = exp_text_of(folder, "study.md");
    const char *line = page;

    while (*line == '#' || *line == '\n') {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    exp_say(text, bytes, "%.*s", (int)strcspn(line, "\n"), line);
    free(page);
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
    EXP_MORE_OPTION,
    EXP_RESULTS_OPTIONS("host/study"),
    EXP_OPTIONS_END,
};

const struct exp_question question_study = {
    .name = "study",
    .asks = "Does the cost model deserve the credit, by the clock?",
    .wants = { "know whether the cost model deserves the credit|make study" },
    .takes = "The rival csa2 is a model that predicts cycles. A study takes 1 to 2 minutes, and 6 with TIMING=1.",
    .examples = { "make study TIMING=1 SAMPLE=0" },
    .libraries = "blas",
    .figures = { "study_choices", "study_tilings", "study_micro_kernels", "study_rates" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/study", true, "choices.csv", NULL },
    .chapter = { "study.md", "cost models studied", .found = find },
    .tables = { &exp_study_choices_table, &exp_study_predictions_table, &exp_study_costs_table, &exp_study_terms_table,
                &exp_study_ablation_table, &exp_study_tilings_table, &exp_study_methods_table,
                &exp_study_sensitivity_table, &exp_study_hybrid_table, &exp_study_rates_table, &exp_study_micro_table },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .models_at = offsetof(struct session, models),
    .prepare = prepare,
    .prepares_from_files = true,
    .work = work,
    .write = write_tables,
    .answer = answer,
    .screen = fill_screen,
    .release = release,
};
