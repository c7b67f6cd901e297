/*
 * Validation: how far are counts of the simulator from counts of a real machine's counters, layer by layer? Counters
 * were recorded once, on any computer. Each layer has the plan that ran, even if plans differ today. A plan that this
 * program cannot make is left out with a reason. All plans are replayed twice, through the machine's caches alone and
 * through the machine. `validate --help` lists the options; the Makefile passes options on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/text.h"
#include "experiments/show/counts.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/choices/advice/gain.h"
#include "experiments/choices/targets.h"
#include "experiments/choices/validate/validate.h"

struct options {
    const char *counts, *model, *layers, *machine, *algos, *results, *commit, *sample, *store, *machines;
    unsigned cache, jobs, more, random, seed;
};

struct session {
    struct options options;
    struct exp_counts counts;
    struct exp_setup setup;
    struct exp_models models;
    const char *model_name[EXP_MAX_MODELS];
    unsigned algos;
    struct exp_points points;
    size_t n_differ; /* points whose plan cannot be made any more */
    size_t n_older;  /* points with the counted plan, where today's plan differs */
    struct exp_agreement_report report;
    struct exp_validate_machine machine;
    struct exp_validate_cycles cycles; /* once the tables are written */
    struct exp_sampling sampling;      /* exact: samples are not judged */
    struct exp_validate_samples samples;
    struct exp_models judged; /* on MACHINES */
    struct exp_results results;
    char what[512];
    struct exp_why why;
};

static enum exp_cache_state cache_of(const struct session *s)
{
    return (enum exp_cache_state)s->options.cache;
}

/* ---- preparing ---- */

/* Selects the algorithms that have counts. */
static int select_algos(struct session *s)
{
    const struct exp_counts *c = &s->counts;
    char *list = exp_copy_text(s->options.algos);
    int err;

    for (size_t i = 0; i < c->n_plans && !*s->options.algos; i++)
        exp_names_add(&list, c->plan[i].key.algo);
    err = exp_algo_select(list, &s->algos, &s->why);
    free(list);
    return err;
}

/* Leaves out models without counts, which are judged on MACHINES alone; the first model stays. */
static void leave_out_uncounted(struct session *s)
{
    struct exp_models *m = &s->models;

    for (size_t i = 1; i < m->n; i++) {
        if (exp_counts_has(&s->counts, m->model[i].name, cache_of(s)))
            continue;
        exp_model_release(&m->model[i]);
        memmove(&m->model[i], &m->model[i + 1], (--m->n - i) * sizeof *m->model);
        i--;
    }
}

static int read_models(struct session *s)
{
    const struct options *o = &s->options;
    const enum exp_cache_state cache = cache_of(s);
    const char *path = s->counts.folder, *state = exp_cache_state_name(cache);
    char *list = exp_counts_models(&s->counts, cache);
    int err = *list ? exp_main_models(&s->models, strcmp(o->model, "all") ? o->model : list,
                                      &(struct exp_model_ask){ .layers = o->layers }, &s->why)
                    : exp_fail(&s->why, -ENOENT, "%s has no counts with %s caches", path, state);

    if (!err && *o->machines)
        leave_out_uncounted(s);
    for (size_t i = 0; i < s->models.n && !err; i++) {
        s->model_name[i] = s->models.model[i].name;
        if (!exp_counts_has(&s->counts, s->model_name[i], cache))
            err = exp_fail(&s->why, -ENOENT, "%s has no counts of '%s' with %s caches; it has: %s", path,
                           s->model_name[i], state, list);
    }
    free(list);
    return err;
}

/* Puts the host's file, which names machine and kernels, before an error without a file name. Returns err. */
static int blame_host(struct session *s, int err)
{
    char what[sizeof s->why.text];

    if (s->counts.stack && strstr(s->why.text, s->counts.stack))
        return err;
    exp_say(what, sizeof what, "%s", s->why.text);
    return exp_fail(&s->why, err, "%s/" EXP_COUNTS_HOST ": replay with: %s", s->counts.folder, what);
}

/* Finds the machine of MACHINE, or else the machine that the counts name. */
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

/* Sets up the kernels that ran, whatever kernels this computer chooses. */
static int set_up(struct session *s)
{
    int err = find_machine(s);

    s->setup.packs_filters = s->counts.packs_filters;
    s->setup.stack_path = s->counts.stack;
    if (err)
        return err;
    err = exp_setup_init(&s->setup, s->counts.ukr, s->counts.core, &s->why);
    return err ? blame_host(s, err) : 0;
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    int err = exp_sampling_read(&s->sampling, o->sample, &s->why);

    s->sampling.seed = o->seed;
    if (!err && s->sampling.mode == EXP_SAMPLING_AUTO)
        s->sampling.mode = EXP_SAMPLING_ALWAYS;
    if (!err && o->random && s->sampling.mode == EXP_SAMPLING_EXACT)
        err = exp_fail(&s->why, -EINVAL, "NESTS=%u judges samples: set SAMPLE, such as SAMPLE=1%%", o->random);
    if (!err && *o->machines && s->sampling.mode == EXP_SAMPLING_EXACT)
        err = exp_fail(&s->why, -EINVAL, "MACHINES=%s judges samples: set SAMPLE, such as SAMPLE=1%%", o->machines);
    err = err ? err : exp_counts_read(&s->counts, o->counts, &s->why);
    if (!err && *o->machines)
        err = exp_main_models(&s->judged, o->model, &(struct exp_model_ask){ .layers = o->layers }, &s->why);
    err = err ? err : select_algos(s);
    err = err ? err : read_models(s);
    err = err ? err : set_up(s);
    if (err)
        return err;
    exp_say(s->what, sizeof s->what, "counted on %s (commit %s, %s caches); replayed on machine %s at commit %s",
            *s->counts.cpu ? s->counts.cpu : "an unnamed CPU", s->counts.commit, exp_cache_state_name(cache_of(s)),
            s->setup.machine.name, *o->commit ? o->commit : "unknown");
    s->machine = (struct exp_validate_machine){ &s->setup, cache_of(s), s->counts.is_by_clock, 0, 0 };
    s->report = (struct exp_agreement_report){ &s->points, s->model_name, s->models.n, s->what };
    return 0;
}

/* ---- the work ---- */

/* Checks, before any work, that the counts are of the model's layers; adds the model's time to the forecast. */
static int check(struct session *s, const struct exp_model *model, struct exp_forecast *forecast)
{
    const enum exp_cache_state cache = cache_of(s);
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_experiment e = { 0 };
    bool is_older;
    int err = exp_experiment_plan(&e, &s->setup, model, s->algos, &s->why);

    for (size_t i = 0; !err && i < e.n_cases; i++)
        err = exp_counts_take_plan(&s->counts, model, &e.cases[i], &is_older, &s->why);
    for (size_t l = 0; l < model->n_layers && !err; l++)
        seconds[EXP_WORK_REPLAY] += exp_replay_seconds(&e, cache, s->options.jobs, l);
    exp_forecast_add(forecast, model->name, seconds);
    exp_experiment_release(&e);
    return err;
}

/* Adds the counts of a case, and gives the case the plan that ran; or says why the case does not compare. */
static int add_point(struct session *s, struct exp_experiment *e, struct exp_case *c)
{
    struct exp_point *point = exp_points_add(&s->points, e, c);
    struct exp_counts_key key = { point->model, point->algo->name, point->layer->index, 0, cache_of(s) };
    struct exp_why why_not;
    bool is_older;
    int err = exp_counts_take_plan(&s->counts, e->model, c, &is_older, &why_not);

    if (err)
        return exp_fail(&s->why, err, "%s", why_not.text);
    exp_say(point->why_not, sizeof point->why_not, "%s", why_not.text);
    s->n_differ += *point->why_not != '\0';
    s->n_older += is_older && !*point->why_not;
    for (; key.quantity < ctr_n_quantities() && !*point->why_not; key.quantity++)
        point->measured[key.quantity] = exp_counts_find(&s->counts, &key);
    return 0;
}

/* Lets a layer be replayed by itself if its plan differs from the twin's. */
static void part_twins(struct exp_experiment *e)
{
    char own[EXP_PLAN_TEXT_BYTES], twins[EXP_PLAN_TEXT_BYTES];

    for (size_t i = 0; i < e->n_cases; i++) {
        exp_plan_text(&e->cases[i].plan, own);
        exp_plan_text(&e->cases[e->cases[i].same_as].plan, twins);
        if (strcmp(own, twins) != 0)
            e->cases[i].same_as = i;
    }
}

/* Adds the points of a model. */
static int add_model(struct session *s, const struct exp_model *model, struct exp_progress *progress)
{
    const struct exp_replay_asked asked = {
        .cache = cache_of(s), .n_threads = s->options.jobs, .store = s->options.store, .results = s->options.results
    };
    struct exp_tasks_counts counts = { 0 };
    struct exp_experiment e = { 0 };
    const size_t first = s->points.n;
    int err = exp_experiment_plan(&e, &s->setup, model, s->algos, &s->why);

    for (size_t i = 0; i < e.n_cases && !err; i++)
        err = add_point(s, &e, &e.cases[i]);
    if (!err) {
        part_twins(&e);
        err = exp_replay_as_asked(&e, &asked, progress, &counts, &s->why);
    }
    if (!err && !s->machine.n_cost)
        s->machine.cost_percent = exp_validate_cost_percent(&e, &s->machine.n_cost);
    if (!err && s->sampling.mode != EXP_SAMPLING_EXACT && !s->options.random && !*s->options.machines) {
        s->samples.machine = s->setup.machine.name;
        s->setup.sampling = s->sampling;
        err = exp_validate_sample(&s->samples, &e, cache_of(s), s->options.jobs, progress, &s->why);
        s->setup.sampling.mode = EXP_SAMPLING_EXACT;
    }
    for (size_t i = 0; i < e.n_cases && !err; i++)
        exp_point_simulate(&s->points.point[first + i], &s->setup, &e.cases[i]);
    exp_experiment_release(&e);
    return err;
}

static struct exp_validate_machines machines_of(const struct session *s, struct exp_progress *progress)
{
    const struct options *o = &s->options;

    return (struct exp_validate_machines){ o->machines, &s->judged, s->algos, &s->sampling,
                                           o->store,    o->results, o->jobs,  progress };
}

static int work(void *session)
{
    struct session *s = session;
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_forecast forecast = { 0 };
    struct exp_validate_machines machines = machines_of(s, NULL);
    struct exp_progress *progress;
    int err = 0;

    for (size_t i = 0; i < s->models.n && !err; i++)
        err = check(s, &s->models.model[i], &forecast);
    if (err)
        return err;
    exp_forecast_print(&forecast, stderr);
    seconds[EXP_WORK_REPLAY] = forecast.seconds + exp_validate_random_seconds(s->options.random, s->options.jobs) +
                               exp_validate_machines_seconds(&machines);
    progress = exp_main_progress(seconds);
    for (size_t i = 0; i < s->models.n && !err; i++)
        err = add_model(s, &s->models.model[i], progress);
    if (!err)
        err = exp_validate_random_try(&s->samples,
                                      &(struct exp_validate_random){ s->options.random, s->options.seed, &s->sampling,
                                                                     s->options.store, s->options.results,
                                                                     s->options.jobs, progress },
                                      &s->why);
    machines.progress = progress;
    err = err ? err : exp_validate_machines_try(&s->samples, &machines, &s->why);
    exp_progress_free(progress);
    return err;
}

/* ---- results ---- */

/*
 * Prints how many plans are not today's, and an example of a layer that does not compare: simulated_vs_measured.csv has
 * all reasons.
 */
static void print_plans(const struct session *s, FILE *out)
{
    const struct exp_points *p = &s->points;

    if (s->n_older)
        fprintf(out, "plans: %zu of %zu would be other ones today; replayed is what was counted\n", s->n_older, p->n);
    for (size_t i = 0; i < p->n; i++) {
        if (!*p->point[i].why_not)
            continue;
        fprintf(out, "not comparable: %zu of %zu; such as layer '%s' of %s with %s: %s\n", s->n_differ, p->n,
                p->point[i].layer->name, p->point[i].model, p->point[i].algo->name, p->point[i].why_not);
        return;
    }
}

static int print_verdict(const void *session, FILE *out)
{
    const struct session *s = session;
    char *headline = exp_validate_headline(&s->cycles, &s->setup);

    fprintf(out, "%s\n\n%s\n", headline, s->what);
    free(headline);
    print_plans(s, out);
    if (s->counts.is_by_clock)
        fprintf(out, "times are cycles at the clock beside each time; where none is recorded, at %.4g GHz\n",
                s->counts.ran_at_ghz);
    fprintf(out, "\n");
    exp_validate_targets_print(&s->report, out);
    exp_validate_cycles_print(&s->report, &s->machine, out);
    if (s->options.random)
        fprintf(out, "\nRandom layers and machines: %u, seed %u.\n", s->options.random, s->options.seed);
    if (s->samples.n)
        exp_validate_sampled_print(&s->samples, s->options.machines, out);
    if (s->models.n > 1)
        exp_validate_advice_print(&s->points, &s->setup, out);
    return 0;
}

static int write_tables(void *session)
{
    struct session *s = session;
    int err = exp_agreement_write(&s->report, &s->results.dir, &s->why);

    s->cycles = exp_validate_cycles_of(&s->report, &s->machine);
    err = err ? err : exp_validate_targets_write(&s->report, &s->results.dir, &s->why);
    err = err ? err : exp_validate_cycles_write(&s->report, &s->machine, &s->cycles, &s->results.dir, &s->why);
    if (!err && s->samples.n)
        err = exp_validate_sampled_write(&s->samples, &s->results.dir, &s->why);
    err = err ? err
              : exp_validate_gains_write(&(struct exp_validate_gains){ &s->points, s->setup.machine.name }, s->what,
                                         &s->results.dir, &s->why);
    if (!err)
        exp_agreement_print(&s->report, stdout);
    return err;
}

static int answer(void *session)
{
    struct session *s = session;

    printf("\ntables: %s/\n\n", s->results.path);
    return print_verdict(s, stdout);
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;

    exp_screen_title(screen, "%s beside machine %s, %s caches, %zu rows (layer and algorithm)",
                     *s->counts.cpu ? s->counts.cpu : "an unnamed CPU", s->setup.machine.name,
                     exp_cache_state_name(cache_of(s)), s->points.n);
    exp_validate_fill_screen(&s->report, &s->cycles, &s->setup, screen);
    exp_validate_sampled_note(&s->samples, screen);
    exp_screen_open(screen, "%s/verdict.txt, cycles.csv", s->results.path);
    exp_screen_next(screen, "make validate COUNTS=results/host/vgg16", "counts of make experiment");
    exp_screen_next(screen, "MORE=1 behind this command", "everything: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    struct session *s = session;

    exp_validate_samples_release(&s->samples);
    exp_models_release(&s->judged);
    exp_points_release(&s->points);
    exp_setup_release(&s->setup);
    exp_counts_release(&s->counts);
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
    EXP_TEXT("SAMPLE",
             "judges sampled replays beside the exact replays, too: auto, or a target such as 1%; default: exact, none",
             sample, "exact"),
    EXP_NAMES(
        "MACHINES",
        "machines, comma-separated, on which SAMPLE is judged with all long layers of MODEL, in place of the recorded "
        "layers (default: none)",
        machines, ""),
    EXP_NUMBER("NESTS",
               "random layers on random machines, on which SAMPLE is judged in place of the recorded layers (default: "
               "none; 2000 take some minutes)",
               random, 0, 1, 1000000),
    EXP_NUMBER("SEED", "of the units drawn for SAMPLE, and of NESTS (default 1)", seed, 1, 1, 1000000),
    EXP_STORE_OPTION,
    EXP_REPLAY_JOBS_OPTION,
    EXP_MORE_OPTION,
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
    .wants = { "know how far the simulation is from a real machine|make validate" },
    .takes = "The replay of all recorded layers takes 1.5 minutes.",
    .examples = { "make validate COUNTS=results/host/vgg16", "make validate MACHINE=zen3 MODEL=vgg16,resnet18" },
    .figures = { "simulated_vs_measured" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/validation", true, "simulated_vs_measured.csv", NULL },
    .chapter = { "agreement.csv", "simulated beside counted", .found = exp_validate_found },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .models_at = offsetof(struct session, models),
    .machine_at = offsetof(struct session, setup.machine),
    .tables = { &exp_plans_table, &exp_counts_table, &exp_points_table, &exp_agreement_table,
                &exp_validate_targets_table, &exp_validate_cycles_table, &exp_baselines_table,
                &exp_validate_sampled_table, &exp_gains_table },
    .prepare = prepare,
    .prepares_from_files = true,
    .work = work,
    .write = write_tables,
    .verdict = print_verdict,
    .answer = answer,
    .screen = fill_screen,
    .release = release,
};
