/*
 * Validation: how far what the simulator counts is from what the counters of a real machine counted, layer by layer,
 * for counts that were recorded once, on this computer or another. `validate --help` lists the options; the Makefile
 * passes them on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/base/exp_text.h"
#include "experiments/report/exp_agreement_report.h"
#include "experiments/setup/exp_machine.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_model.h"
#include "experiments/setup/exp_options_shared.h"
#include "experiments/validate/exp_validate.h"
#include "experiments/validate/exp_validate_targets.h"

extern const struct exp_question question_validate;

struct options {
    const char *counts, *model, *layers, *machine, *algos, *results, *commit;
    unsigned cache, jobs;
};

static const struct exp_results_layout layout = { "/validation", true, "simulated_vs_measured.csv", NULL };

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
    struct exp_counts counts;
    struct exp_setup setup;
    struct exp_models models;
    const char *model_name[EXP_MAX_MODELS];
    struct exp_validation validation;
    struct exp_agreement_report report;
    struct exp_results results;
    char what[512];
    struct exp_why why;
};

/* ---- preparing ---- */

/* Selects the algorithms that have counts. */
static int select_algos(struct session *s)
{
    const struct exp_counts *c = &s->counts;
    char *list = strdup(s->options.algos);
    int err;

    for (size_t i = 0; i < c->plans.n && list && !*s->options.algos; i++) {
        if (!exp_names_add(&list, c->plan[i].key.algo))
            break;
    }
    err = list ? exp_algo_select(list, &s->validation.algos, &s->why) : exp_fail(&s->why, -ENOMEM, "out of memory");
    free(list);
    return err;
}

static int read_models(struct session *s)
{
    const struct options *o = &s->options;
    char *list = exp_counts_models(&s->counts, s->validation.cache);
    int err;

    if (!list)
        return exp_fail(&s->why, -ENOMEM, "out of memory");
    err = *list ? exp_models_read(&s->models, EXP_EXPERIMENTS_DIR, strcmp(o->model, "all") ? o->model : list, o->layers,
                                  &s->why)
                : exp_fail(&s->why, -ENOENT, "%s has no counts with %s caches", s->counts.counts.table.path,
                           exp_cache_state_name(s->validation.cache));
    for (size_t i = 0; i < s->models.n && !err; i++) {
        s->model_name[i] = s->models.model[i].name;
        if (!exp_counts_has(&s->counts, s->model_name[i], s->validation.cache))
            err = exp_fail(&s->why, -ENOENT, "%s has no counts of '%s' with %s caches; it has: %s",
                           s->counts.counts.table.path, s->model_name[i], exp_cache_state_name(s->validation.cache),
                           list);
    }
    free(list);
    return err;
}

/* Says of an error that it is in what the host's file says of the replay, unless it names its own file. Returns err. */
static int blame_host(struct session *s, int err)
{
    char what[sizeof s->why.text];

    if (s->counts.stack && strstr(s->why.text, s->counts.stack))
        return err;
    exp_say(what, sizeof what, "%s", s->why.text);
    return exp_fail(&s->why, err, "%s/" EXP_COUNTS_HOST ": replay with: %s", s->counts.folder, what);
}

/* Finds the machine that was asked for, or else the one that the counts name. */
static int find_machine(struct session *s)
{
    struct options *o = &s->options;
    bool is_of_host = !*o->machine;
    int err;

    if (is_of_host)
        o->machine = s->counts.machine;
    if (!*o->machine)
        return exp_fail(&s->why, -EINVAL, "%s/" EXP_COUNTS_HOST " names no machine: set MACHINE", s->counts.folder);
    err = exp_machine_find(&s->setup.machine, o->machine, o->results, &s->why);
    return err && is_of_host ? blame_host(s, err) : err;
}

/* Sets up the kernels that ran: they are replayed, whatever this computer would run. */
static int set_up(struct session *s)
{
    int err = find_machine(s);

    s->setup.packs_filters = s->counts.packs_filters;
    s->setup.stack_path = s->counts.stack;
    s->validation.setup = &s->setup;
    if (err)
        return err;
    err = exp_setup_init(&s->setup, s->counts.ukr, s->counts.core, &s->why);
    return err ? blame_host(s, err) : 0;
}

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
    int err = exp_counts_read(&s->counts, o->counts, &s->why);

    s->validation.counts = &s->counts;
    s->validation.cache = (enum exp_cache_state)o->cache;
    s->validation.n_threads = o->jobs;
    if (!err)
        err = select_algos(s);
    if (!err)
        err = read_models(s);
    if (!err)
        err = set_up(s);
    if (!err)
        err = open_results(s);
    if (err)
        return err;
    exp_say(s->what, sizeof s->what, "counted on %s (commit %s, %s caches); replayed on machine %s at commit %s",
            *s->counts.cpu ? s->counts.cpu : "an unnamed CPU", s->counts.commit,
            exp_cache_state_name(s->validation.cache), s->setup.machine.name, *o->commit ? o->commit : "unknown");
    s->report = (struct exp_agreement_report){ &s->validation.points, s->model_name, s->models.n, s->what };
    return 0;
}

/* ---- the work ---- */

static int work(void *session)
{
    struct session *s = session;
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_forecast forecast = { 0 };
    struct exp_progress *progress;
    int err = 0;

    for (size_t i = 0; i < s->models.n && !err; i++) {
        double some[EXP_N_WORKS] = { 0 };

        err = exp_validate_check(&s->validation, &s->models.model[i], &some[EXP_WORK_REPLAY], &s->why);
        exp_forecast_add(&forecast, s->models.model[i].name, some);
    }
    if (err)
        return err;
    exp_forecast_print(&forecast, stderr);
    seconds[EXP_WORK_REPLAY] = forecast.seconds;
    err = exp_main_progress(&progress, seconds, &s->why);
    for (size_t i = 0; i < s->models.n && !err; i++)
        err = exp_validate_model(&s->validation, &s->models.model[i], progress, &s->why);
    exp_progress_free(progress);
    return err;
}

/* ---- results ---- */

/* Prints how many plans are not today's, and one example of what does not compare; simulated_vs_measured.csv has all reasons. */
static void print_plans(const struct session *s, FILE *out)
{
    const struct exp_points *p = &s->validation.points;

    if (s->validation.n_older)
        fprintf(out, "plans: %zu of %zu would be other ones today; replayed is what was counted\n",
                s->validation.n_older, p->n);
    for (size_t i = 0; i < p->n; i++) {
        if (!*p->point[i].why_not)
            continue;
        fprintf(out, "not comparable: %zu of %zu; such as layer '%s' of %s with %s: %s\n", s->validation.n_differ, p->n,
                p->point[i].layer->name, p->point[i].model, p->point[i].algo->name, p->point[i].why_not);
        return;
    }
}

static int print_verdict(const void *session, FILE *out)
{
    const struct session *s = session;

    fprintf(out, "%s\n", s->what);
    print_plans(s, out);
    fprintf(out, "\n");
    return exp_validate_targets_print(&s->report, out);
}

static int draw(void *session)
{
    struct session *s = session;
    const struct exp_main_figures figures = {
        .results = &s->results,
        .what = s->what,
    };

    return exp_main_draw(&question_validate, &figures, &s->why);
}

static int write_tables(void *session)
{
    struct session *s = session;
    int err = exp_agreement_write(&s->report, &s->results.dir, &s->why);

    if (!err)
        err = exp_validate_targets_write(&s->report, &s->results.dir, &s->why);
    if (!err)
        err = exp_outdir_write(&s->results.dir, "verdict.txt", print_verdict, s, &s->why);
    if (!err)
        err = exp_results_write_machine(&s->results.dir, &s->setup.machine, s->options.machine, &s->why);
    if (!err && exp_agreement_print(&s->report, stdout))
        err = exp_fail(&s->why, -ENOMEM, "out of memory");
    return err;
}

static int answer(void *session)
{
    struct session *s = session;

    printf("\ntables: %s/\n\n", s->results.path);
    return print_verdict(s, stdout) ? exp_fail(&s->why, -ENOMEM, "out of memory") : 0;
}

static void document(FILE *out)
{
    exp_counts_document(out);
    exp_agreement_document(out);
    exp_validate_targets_document(out);
}

static void release(void *session)
{
    struct session *s = session;

    exp_points_release(&s->validation.points);
    exp_models_release(&s->models);
    exp_setup_release(&s->setup);
    exp_counts_release(&s->counts);
    exp_results_release(&s->results);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_PATH("COUNTS",
             "folder of recorded counts (default results/reference/zen3/counts); a result folder of make experiment is "
             "one, where there are counters",
             counts, "results/reference/zen3/counts"),
    EXP_NAMES("MODEL", "names or layer tables, comma-separated; all (default): those that the folder has counts of",
              model, "all"),
    EXP_LAYERS_OPTION,
    EXP_NAMES(
        "MACHINE",
        "simulated machine: what the folder says (default), host, a name in sim/machines, or the path of a .cfg file",
        machine, ""),
    EXP_TEXT("ALGO", "of @algos@; comma-separated (default: those that the folder has)", algos, ""),
    EXP_WORD("CACHE", "which of the counts, and how they are replayed: cold (default), warm, network", cache, 0, "cold",
             "warm", "network"),
    EXP_REPLAY_JOBS_OPTION,
    EXP_FOLDER("RESULTS",
               "folder for results (default results); this goes to RESULTS/<machine>/validation/<models>/ (a name, "
               "names joined by +, or all; then ,<LAYERS>)",
               results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_validate = {
    .name = "validate",
    .asks = "How far are simulated counts from those of real counters?",
    .takes = "1.5 minutes.",
    .examples = { "make validate COUNTS=results/host/vgg16", "make validate MACHINE=zen3 MODEL=vgg16,resnet18" },
    .figures = { "simulated_vs_measured" },
    .options = options,
    .place = &layout,
    .chapter = { "agreement.csv", "simulated beside counted", NULL },
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
