/*
 * CSA before the judge. For every layer of whole networks it replays all schedules, finds the best one, names the price
 * of CSA's choice, and estimates the time of Base and SConv beside what the paper measured. `judge --help` lists the
 * options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/judge/exp_judge_plot.h"
#include "experiments/judge/exp_judge_report.h"
#include "experiments/replay/exp_replay.h"
#include "experiments/setup/exp_machine.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_model.h"
#include "experiments/setup/exp_options_shared.h"

extern const struct exp_question question_judge;

struct options {
    const char *model, *layers, *machine, *ukr, *core, *store, *results, *commit;
    unsigned cache, packs_filters, jobs;
};

static const struct exp_results_layout layout = { "/judgement", true, "layers.csv", NULL };

static struct exp_results_place place_of(const struct options *o)
{
    return (struct exp_results_place){ .layout = &layout,
                                       .options = o,
                                       .results = o->results,
                                       .model = o->model,
                                       .layers = o->layers,
                                       .machine = o->machine };
}

struct session {
    struct options options;
    struct exp_setup setup;
    struct exp_models models;
    struct exp_judge_report report;
    struct exp_forecast forecast;
    struct exp_tasks_counts replayed;
    struct exp_results results;
    char what[512];
    struct exp_why why;
};

static int open_results(struct session *s)
{
    int err =
        exp_results_find(&s->results, place_of(&s->options), &s->setup.machine, s->models.model, s->models.n, &s->why);

    return err ? err : exp_results_open(&s->results, &s->why);
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    int err = exp_main_models(&s->models, o->model, o->layers, &s->why);

    if (!err)
        err = exp_machine_find(&s->setup.machine, o->machine, o->results, &s->why);
    s->setup.packs_filters = o->packs_filters != 0;
    if (!err)
        err = exp_setup_init(&s->setup, o->ukr, o->core, &s->why);
    if (err)
        return err;
    snprintf(s->what, sizeof s->what, "%s; replayed with %s caches, SConv %s, Base OpenBLAS %s; commit %s",
             s->setup.machine.description[0] ? s->setup.machine.description : s->setup.machine.name,
             exp_cache_state_name((enum exp_cache_state)o->cache), s->setup.ukr->name,
             s->setup.core ? s->setup.core->name : "unknown core", *o->commit ? o->commit : "unknown");
    err = open_results(s);
    s->report.machine = &s->setup.machine;
    s->report.arch = exp_published_arch_of_machine(s->setup.machine.name, o->cache == EXP_WARM);
    s->report.has_whole_models = !*o->layers;
    s->report.has_whole_set = !*o->layers && !strcmp(o->model, "all");
    s->report.why_no_estimate = exp_estimate_why_not(&s->setup.machine);
    s->report.why_no_base = exp_algo_base()->why_not_replay(&s->setup);
    return err ? err : exp_judge_report_open(&s->report, &s->results.dir, EXP_EXPERIMENTS_DIR, s->what, &s->why);
}

/* ---- the work ---- */

/* Plans a model, and does something with the plan. */
static int with_plan(struct session *s, size_t model, struct exp_progress *progress,
                     int (*then)(struct session *s, struct exp_experiment *e, struct exp_progress *progress))
{
    struct exp_experiment e;
    unsigned algos;
    int err = exp_variants_select(&algos, &s->why);

    if (!err)
        err = exp_experiment_plan(&e, &s->setup, &s->models.model[model], algos, &s->why);
    if (err)
        return err;
    err = then(s, &e, progress);
    exp_experiment_release(&e);
    return err;
}

/* Returns the path of the table that an experiment with these options left; NULL, with a line in why. From malloc. */
static char *table_of_experiment(const struct session *s, const struct options *o, const struct exp_model *model,
                                 struct exp_why *why)
{
    struct exp_results_place place = place_of(o);
    struct exp_results experiment = { 0 };
    char *path = NULL;

    place.layout = &exp_results_of_models;
    if (!exp_results_find(&experiment, place, &s->setup.machine, model, 1, why))
        path = exp_format("%s/layers.csv", experiment.path);
    exp_results_release(&experiment);
    return path;
}

/* Finds the times of the layers that were asked for: an experiment's with the same LAYERS, else the whole model's. */
static char *find_times(const struct session *s, const struct exp_model *model, struct exp_why *why)
{
    struct options whole = s->options;
    char *path = table_of_experiment(s, &s->options, model, why);

    if (!*s->options.layers || (path && !access(path, F_OK)))
        return path;
    free(path);
    whole.layers = "";
    return table_of_experiment(s, &whole, model, why);
}

/* Reports the model's layers, beside the times that an experiment left of them on this very machine. */
static int report_model(struct session *s, const struct exp_experiment *e)
{
    struct exp_why no_times = { "out of memory" };
    char *times = find_times(s, e->model, &no_times);
    int err =
        exp_judge_report_model(&s->report, e, (enum exp_cache_state)s->options.cache, times, no_times.text, &s->why);

    free(times);
    return err;
}

static int announce(struct session *s, struct exp_experiment *e, struct exp_progress *progress)
{
    (void)progress;
    for (size_t l = 0; l < e->model->n_layers; l++) {
        double seconds[EXP_N_WORKS] = { 0 };

        seconds[EXP_WORK_REPLAY] = exp_replay_seconds(e, (enum exp_cache_state)s->options.cache, s->options.jobs, l);
        exp_forecast_add(&s->forecast, e->model->layer[l].name, seconds);
    }
    return exp_interrupted() ? exp_fail(&s->why, -EINTR, "interrupted while planning") : 0;
}

static int replay(struct session *s, struct exp_experiment *e, struct exp_progress *progress)
{
    const struct options *o = &s->options;
    const struct exp_replay_asked asked = {
        .cache = (enum exp_cache_state)o->cache, .n_threads = o->jobs, .store = o->store, .results = o->results
    };
    int err = exp_replay_as_asked(e, &asked, progress, &s->replayed, &s->why);

    return err ? err : report_model(s, e);
}

static int work(void *session)
{
    struct session *s = session;
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_progress *progress;
    int err = 0;

    for (size_t i = 0; i < s->models.n && !err; i++)
        err = with_plan(s, i, NULL, announce);
    if (err)
        return err;
    exp_forecast_print(&s->forecast, stderr);
    seconds[EXP_WORK_REPLAY] = s->forecast.seconds;
    err = exp_main_progress(&progress, seconds, &s->why);
    for (size_t i = 0; i < s->models.n && !err; i++)
        err = with_plan(s, i, progress, replay);
    exp_progress_free(progress);
    return err ? err : exp_judge_report_finish(&s->report, s->what, &s->why);
}

static int print_answer(const void *session, FILE *out)
{
    return exp_judge_report_answer(&((const struct session *)session)->report, out);
}

static int draw(void *session)
{
    struct session *s = session;
    struct exp_judge_plot plot;
    const struct exp_main_figures figures = {
        .results = &s->results,
        .what = s->what,
        .variable = plot.variable,
        .n_variables = EXP_N_JUDGE_VARIABLES,
    };

    exp_judge_plot_init(&plot, &s->setup.machine, s->report.arch);
    return exp_main_draw(&question_judge, &figures, &s->why);
}

static int write_tables(void *session)
{
    struct session *s = session;
    int err = exp_results_write_machine(&s->results.dir, &s->setup.machine, s->options.machine, &s->why);

    if (!err)
        err = exp_outdir_write(&s->results.dir, "verdict.txt", print_answer, s, &s->why);
    if (!err)
        exp_judge_report_print(&s->report, stdout);
    return err;
}

static int answer(void *session)
{
    struct session *s = session;
    int err;

    printf("\n%s\ntables: %s/\n", s->what, s->results.path);
    exp_replay_say_kept(s->options.store, &s->replayed, stdout);
    printf("\n");
    err = exp_judge_report_answer(&s->report, stdout);
    return err ? exp_fail(&s->why, err, "out of memory for the verdict") : 0;
}

static void release(void *session)
{
    struct session *s = session;

    exp_judge_report_release(&s->report);
    exp_results_release(&s->results);
    exp_models_release(&s->models);
    exp_setup_release(&s->setup);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_MODELS_OPTIONS,
    EXP_MACHINE_OPTION,
    EXP_CACHE_OPTION,
    EXP_KERNEL_OPTIONS,
    EXP_REPLAY_JOBS_OPTION,
    EXP_STORE_OPTION,
    EXP_FOLDER("RESULTS",
               "folder for results (default results); this goes to RESULTS/<machine>/judgement/<models>/ (a name, "
               "names joined by +, or all; then ,<LAYERS>)",
               results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_judge = {
    .name = "judge",
    .asks = "Was CSA's choice of schedule right? All schedules of all layers",
    .takes = "10 seconds; minutes on machines with prefetchers.",
    .examples = { "make judge MACHINE=power10 MODEL=vgg16,resnet18" },
    .keeps = true,
    .figures = { "judge_schedules", "judge_speedups" },
    .options = options,
    .place = &layout,
    .chapter = { "ratios.csv", "CSA's choices judged", NULL },
    EXP_SESSION(struct session),
    .document = exp_judge_report_document,
    .results_at = offsetof(struct session, results),
    .prepare = prepare,
    .work = work,
    .write = write_tables,
    .draw = draw,
    .answer = answer,
    .release = release,
};
