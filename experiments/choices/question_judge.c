/*
 * CSA before the judge. For every layer of whole networks, all schedules are replayed, the best schedule is found, and
 * the price of CSA's choice is named. Estimated times of Base and SConv stand beside the paper's. `judge --help` lists
 * the options; the Makefile passes options on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/choices/judge.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/course/options_shared.h"

struct options {
    const char *model, *layers, *input, *machine, *ukr, *core, *store, *results, *commit, *sample;
    unsigned batch, links, cache, packs_filters, jobs, more;
};

struct session {
    struct options options;
    struct exp_setup setup;
    struct exp_models models;
    unsigned algos;
    struct exp_judge_report report;
    struct exp_forecast forecast;
    struct exp_tasks_counts replayed;
    struct exp_results results;
    char what[512];
    struct exp_why why;
};

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    int err = exp_main_models(&s->models, o->model, EXP_MODEL_ASK(o), &s->why);

    err = err ? err : exp_machine_find(&s->setup.machine, o->machine, o->results, &s->why);
    s->setup.packs_filters = o->packs_filters != 0;
    err = err ? err : exp_variants_select(&s->algos, &s->why);
    err =
        err ? err
            : exp_replay_settle_sampling(&s->setup, o->sample, s->models.model, s->models.n, s->algos, false, &s->why);
    err = err ? err : exp_setup_init(&s->setup, o->ukr, o->core, &s->why);
    if (err)
        return err;
    snprintf(s->what, sizeof s->what, "%s; replayed with %s caches, SConv %s, Base OpenBLAS %s; commit %s",
             s->setup.machine.description[0] ? s->setup.machine.description : s->setup.machine.name,
             exp_cache_state_name(o->cache), s->setup.ukr->name, s->setup.core ? s->setup.core->name : "unknown core",
             *o->commit ? o->commit : "unknown");
    s->report.machine = &s->setup.machine;
    s->report.caches = o->cache;
    s->report.arch = exp_published_arch_of_machine(s->setup.machine.name, o->cache == EXP_WARM);
    s->report.has_whole_models = !*o->layers;
    s->report.has_whole_set = !*o->layers && !strcmp(o->model, "all");
    return 0;
}

/* ---- the work ---- */

/* Plans a model, and does something with the plan. */
static int with_plan(struct session *s, size_t model, struct exp_progress *progress,
                     int (*then)(struct session *s, struct exp_experiment *e, struct exp_progress *progress))
{
    struct exp_experiment e;
    int err = exp_experiment_plan(&e, &s->setup, &s->models.model[model], s->algos, &s->why);

    if (err)
        return err;
    err = then(s, &e, progress);
    exp_experiment_release(&e);
    return err;
}

/* Returns the path of layers.csv of an experiment with these layers, from malloc; NULL, with a line in why. */
static char *table_of_experiment(const struct session *s, const char *layers, const struct exp_model *model,
                                 struct exp_why *why)
{
    const struct options *o = &s->options;
    const struct exp_results_place place = { .layout = &exp_results_of_models,
                                             .results = o->results,
                                             .model = o->model,
                                             .layers = layers,
                                             .machine = o->machine };
    struct exp_results experiment = { 0 };
    char *path = NULL;

    if (!exp_results_find(&experiment, place, &s->setup.machine, model, 1, why))
        path = exp_format("%s/layers.csv", experiment.path);
    exp_results_release(&experiment);
    return path;
}

/* Finds the times of LAYERS: of an experiment with equal LAYERS, else of an experiment with the whole model. */
static char *find_times(const struct session *s, const struct exp_model *model, struct exp_why *why)
{
    char *path = table_of_experiment(s, s->options.layers, model, why);

    if (!*s->options.layers || (path && !access(path, F_OK)))
        return path;
    free(path);
    return table_of_experiment(s, "", model, why);
}

static int announce(struct session *s, struct exp_experiment *e, struct exp_progress *progress)
{
    (void)progress;
    for (size_t l = 0; l < e->model->n_layers; l++) {
        double seconds[EXP_N_WORKS] = { 0 };

        seconds[EXP_WORK_REPLAY] = exp_replay_seconds(e, s->options.cache, s->options.jobs, l);
        exp_forecast_add(&s->forecast, e->model->layer[l].name, seconds);
    }
    return exp_interrupted() ? exp_fail(&s->why, -EINTR, "interrupted while planning") : 0;
}

static int replay(struct session *s, struct exp_experiment *e, struct exp_progress *progress)
{
    const struct options *o = &s->options;
    const struct exp_replay_asked asked = {
        .cache = o->cache, .n_threads = o->jobs, .store = o->store, .results = o->results
    };
    int err = exp_replay_as_asked(e, &asked, progress, &s->replayed, &s->why);
    struct exp_why no_times;
    char *times;

    if (err)
        return err;
    times = find_times(s, e->model, &no_times);
    exp_judge_report_model(&s->report, e, times, no_times.text);
    free(times);
    return 0;
}

static int work(void *session)
{
    struct session *s = session;
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_progress *progress;
    int err = exp_published_read(&s->report.published, EXP_EXPERIMENTS_DIR, &s->why);

    for (size_t i = 0; i < s->models.n && !err; i++)
        err = with_plan(s, i, NULL, announce);
    if (err)
        return err;
    exp_forecast_print(&s->forecast, stderr);
    seconds[EXP_WORK_REPLAY] = s->forecast.seconds;
    progress = exp_main_progress(seconds);
    for (size_t i = 0; i < s->models.n && !err; i++)
        err = with_plan(s, i, progress, replay);
    exp_progress_free(progress);
    if (!err)
        exp_judge_report_finish(&s->report);
    return err;
}

static int write_tables(void *session)
{
    struct session *s = session;
    int err = exp_judge_tables_write(&s->report, &s->results.dir, s->what, &s->why);

    if (!err)
        exp_judge_report_print(&s->report, stdout);
    return err;
}

static int print_verdict(const void *session, FILE *out)
{
    return exp_judge_report_answer(&((const struct session *)session)->report, out);
}

/* Tells figures of the simulated machine, of the paper's figures about it, of variants and yardsticks. */
static bool set_variables(const void *session, struct exp_variables *v)
{
    const struct session *s = session;
    const struct sim_machine *m = &s->setup.machine;

    exp_variables_set(v, "machine", m->name);
    exp_variables_set(v, "first_level", exp_level_name(m, 0));
    exp_variables_set(v, "figure_letter", strcmp(s->report.arch, "P10") ? "a" : "b");
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        exp_variables_add(v, "variant_names", "", exp_variants[i].name);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        exp_variables_add(v, "variant_titles", "", exp_variants[i].title);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        exp_variables_add(v, "variant_labels", "\"", exp_variants[i].what);
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++)
        exp_variables_add(v, "yardstick_names", "", exp_yardsticks[y].name);
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++) {
        char label[64];

        exp_yardstick_label(y, m, label, sizeof label);
        exp_variables_add(v, "yardstick_labels", "\"", label);
    }
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++)
        exp_variables_add(v, "yardstick_colours", "", exp_yardsticks[y].colour);
    return true;
}

static void say_kept(const void *session, FILE *out)
{
    const struct session *s = session;

    exp_replay_say_kept(s->options.store, &s->replayed, out);
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;

    exp_judge_fill_screen(&s->report, screen);
    exp_screen_open(screen, "%s/verdict.txt, layers.csv", s->results.path);
    exp_screen_next(screen, "make study", "cost models by recorded times");
    exp_screen_next(screen, "MORE=1 behind this command", "everything: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    struct session *s = session;

    exp_judge_report_release(&s->report);
    exp_setup_release(&s->setup);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_MODELS_OPTIONS, EXP_MACHINE_OPTION, EXP_CACHE_OPTION,
    EXP_SAMPLE_OPTION,  EXP_KERNEL_OPTIONS, EXP_REPLAY_JOBS_OPTION,
    EXP_STORE_OPTION,   EXP_MORE_OPTION,    EXP_RESULTS_OPTIONS("<machine>/judgement"),
    EXP_OPTIONS_END,
};

const struct exp_question question_judge = {
    .name = "judge",
    .asks = "Was CSA's choice of schedule right, beside a constant and csa2?",
    .wants = { "know whether CSA chose right|make judge MACHINE=power10" },
    .takes = "All schedules of all layers are replayed in 10 seconds, on machines with prefetchers in minutes.",
    .examples = { "make judge MACHINE=power10 MODEL=vgg16,resnet18" },
    .keeps = true,
    .figures = { "judge_schedules", "judge_speedups", "judge_curves" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/judgement", true, "layers.csv", NULL },
    .chapter = { "ratios.csv", "CSA's choices judged", NULL },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .models_at = offsetof(struct session, models),
    .machine_at = offsetof(struct session, setup.machine),
    .tables = { &exp_judge_layers_table, &exp_judge_models_table, &exp_judge_ratios_table, &exp_judge_speedups_table },
    .prepare = prepare,
    .prepares_from_files = true,
    .work = work,
    .write = write_tables,
    .verdict = print_verdict,
    .variables = set_variables,
    .say_kept = say_kept,
    .screen = fill_screen,
    .release = release,
};
