/*
 * What if caches or tiles were different? Every layer of some models on every combination of values in VARY, simulated
 * once and kept in a results store. `sweep --help` lists the options; the Makefile passes options on.
 */
#include <stdlib.h>

#include "experiments/bench/course/course.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/course/output.h"
#include "experiments/bench/plugin/plugin.h"
#include "experiments/show/page.h"
#include "experiments/sweep/sweep.h"

struct session {
    struct exp_sweep_options options;
    struct exp_models models;
    struct sim_machine machine;
    struct exp_sweep sweep;
    struct exp_sweep_report report;
    struct exp_results results;
    struct exp_crew crew;
    char *const *argv;
    char what[512];
    struct exp_why why;
};

static int prepare(void *session)
{
    struct session *s = session;
    const struct exp_sweep_options *o = &s->options;
    struct exp_sampling how = { 0 };
    int err = exp_main_models(&s->models, o->model, EXP_MODEL_ASK(o), &s->why);

    err = err ? err : exp_machine_find(&s->machine, o->machine, o->results, &s->why);
    err = err ? err : exp_sampling_read(&how, o->sample, &s->why);
    err = err ? err : exp_sweep_plan(&s->sweep, o, &s->models, &s->machine, &s->why);
    s->sweep.sampling = how;
    if (!err)
        exp_sweep_say_cut(&s->sweep, stderr);
    if (err)
        return err;
    exp_sweep_list_tasks(&s->sweep);
    exp_say(s->what, sizeof s->what, "%s; replayed with cold caches; commit %s",
            *s->machine.description ? s->machine.description : s->machine.name, *o->commit ? o->commit : "unknown");
    return 0;
}

/* ---- the work ---- */

static void announce(const void *session, double seconds[EXP_N_WORKS])
{
    const struct session *s = session;

    seconds[EXP_WORK_REPLAY] = exp_sweep_seconds(&s->sweep) / (s->crew.n_shares ? (double)s->crew.n_shares : 1);
}

static struct exp_tasks list(void *session)
{
    return exp_sweep_tasks(&((struct session *)session)->sweep);
}

static const struct exp_question_jobs jobs = { .needs = "",
                                               .has_threads = true,
                                               .doing = "simulating",
                                               .results = "simulations",
                                               .announce = announce,
                                               .tasks = list };

static void say_counts(const void *session, FILE *out)
{
    const struct session *s = session;

    if (s->crew.store)
        fprintf(out, "%zu of %zu simulations from the store %s", s->crew.counts.n_stored, s->crew.counts.n_tasks,
                exp_store_path(s->crew.store));
    else
        fprintf(out, "%zu simulations, none from a store", s->crew.counts.n_tasks);
    if (s->crew.n_shares)
        fprintf(out, "\n");
    else
        fprintf(out, "; %zu passes over plans' accesses serve all\n", s->sweep.n_jobs);
}

/* ---- the results ---- */

static int write_tables(void *session)
{
    struct session *s = session;

    int err = exp_sweep_report_write(&s->report, &s->sweep, &s->results.dir, s->what, &s->why);

    return err ? err : exp_sweep_plans_write(&s->report, &s->results.dir, &s->why);
}

static int print_answer(const void *session, FILE *out)
{
    const struct session *s = session;

    char headline[1024];

    exp_sweep_headline(&s->report, headline, sizeof headline);
    fprintf(out, "%s\n", headline);
    exp_sweep_report_answer(&s->report, out);
    exp_sweep_plans_say(&s->report, out);
    return 0;
}

static bool set_variables(const void *session, struct exp_variables *v)
{
    exp_sweep_set_variables(&((const struct session *)session)->report, v);
    return true;
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;
    char *report = exp_format("make report RESULTS=%s", s->results.path);

    exp_sweep_screen(&s->report, screen);
    if (s->crew.store)
        exp_screen_note(screen, "store", "%zu of %zu simulations were known already", s->crew.counts.n_stored,
                        s->crew.counts.n_tasks);
    exp_screen_open(screen, "%s/configs.csv", s->results.path);
    exp_screen_next(screen, report, "a page with the figures");
    free(report);
    exp_screen_next(screen, "MORE=1 behind this command", "all algorithms: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    struct session *s = session;

    exp_plugins_release();
    free(s->report.sum);
    exp_sweep_release(&s->sweep);
}

#define OPTIONS struct exp_sweep_options

static const struct exp_option options[] = {
    EXP_NAMES("MODEL", "names, networks or layer tables, comma-separated; all: the paper's seven", model, ""),
    EXP_ASK_OPTIONS,
    EXP_TEXT("VARY",
             "keys of the machine's file, ukr, nc, k2, k3, and their values: VARY='L1.size=16K,32K L2.ways=4,8,16' is "
             "every combination; ';' begins another grid; 1..16, 8..512*2 and 4..64+4 are ranges; values with commas "
             "or blanks stand in braces",
             vary, ""),
    EXP_PLAN_OPTION,
    EXP_MACHINE_OPTION,
    EXP_NAMES("ALGO", "of @algos@; and plug-ins of your own (PLUGIN_CFLAGS); comma-separated (default base,sconv)",
              algos, ""),
    EXP_PLUGIN_OPTIONS,
    EXP_KERNEL_OPTIONS,
    EXP_SAMPLE_OPTION,
    EXP_REPLAY_JOBS_OPTION,
    EXP_PATH("STORE",
             "file that keeps what was simulated, so that it is not simulated again (default RESULTS/store.sqlite); "
             "no: nothing is kept",
             store, ""),
    EXP_CLUSTER_OPTIONS,
    EXP_SHARES_OPTIONS,
    EXP_MORE_OPTION,
    EXP_RESULTS_OPTIONS("<machine>/sweep"),
    EXP_OPTIONS_END,
};

const struct exp_question question_sweep = {
    .name = "sweep",
    .asks = "What if caches or tiles were others? Every combination",
    .wants = { "machines: try larger caches or more cores|make sweep MODEL=resnet18 MACHINE=clx4208 "
               "VARY='L2.size=256K..4M*2'" },
    .takes = "Half a minute for 100 configurations of plain caches, ten times as long with prefetchers. A sweep that "
             "was stopped goes on where it was.",
    .examples = { "make sweep MODEL=resnet18 MACHINE=clx4208 VARY='L1.size=16K,32K L2.ways=4,8,16'" },
    .needs = { "MODEL=vgg16", "VARY='L2.size=256K..4M*2'" },
    .figures = { "sweep_heat", "sweep_pareto" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/sweep", true, "sweep.csv", NULL },
    .chapter = { "sweep.csv", "machines and tilings varied", exp_page_sweep_write },
    EXP_SESSION_WITH_ARGV(struct session),
    EXP_RESULTS(struct session),
    .models_at = offsetof(struct session, models),
    .machine_at = offsetof(struct session, machine),
    .jobs = &jobs,
    .crew_at = offsetof(struct session, crew),
    .tables = { &exp_sweep_cases_table, &exp_sweep_sums_table, &exp_sweep_best_table },
    .prepare = prepare,
    .prepares_from_files = true,
    .write = write_tables,
    .verdict = print_answer,
    .variables = set_variables,
    .say_kept = say_counts,
    .screen = fill_screen,
    .release = release,
};
