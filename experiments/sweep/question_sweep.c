/*
 * What if caches or tiles were others? Every layer of some models on every combination of what VARY says, simulated
 * once and kept in a results store. `sweep --help` lists the options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/base/slurm.h"
#include "experiments/bench/course.h"
#include "experiments/bench/machine.h"
#include "experiments/bench/options_shared.h"
#include "experiments/bench/plugin.h"
#include "experiments/sweep/sweep.h"

struct session {
    struct exp_sweep_options options;
    struct exp_models models;
    struct sim_machine machine;
    struct exp_sweep sweep;
    struct exp_sweep_report report;
    struct exp_store *store;
    struct exp_results results;
    struct exp_tasks_counts counts;
    size_t share, n_shares;
    char *const *argv;
    char what[512];
    struct exp_why why;
};

static int prepare(void *session)
{
    struct session *s = session;
    const struct exp_sweep_options *o = &s->options;
    int err = exp_main_share(&s->share, &s->n_shares, o->share, o->store, &s->why);

    if (!err)
        err = exp_models_read_as(&s->models, EXP_EXPERIMENTS_DIR, o->model, EXP_MODEL_ASK(o), &s->why);
    if (!err)
        err = exp_machine_find(&s->machine, o->machine, o->results, &s->why);
    if (!err)
        err = exp_sweep_plan(&s->sweep, o, &s->models, &s->machine, &s->why);
    if (!err)
        exp_sweep_say_cut(&s->sweep, stderr);
    if (err)
        return err;
    exp_sweep_list_tasks(&s->sweep);
    s->results.leaves_none = s->n_shares != 0;
    exp_say(s->what, sizeof s->what, "%s; replayed with cold caches; commit %s",
            *s->machine.description ? s->machine.description : s->machine.name, *o->commit ? o->commit : "unknown");
    return 0;
}

/* ---- the work ---- */

static int simulate(struct session *s)
{
    const struct exp_tasks tasks = exp_sweep_tasks(&s->sweep);
    struct exp_tasks_options o = { .store = s->store,
                                   .n_threads = s->options.jobs,
                                   .rules.retries_failed = true,
                                   .share = s->share,
                                   .n_shares = s->n_shares };
    const double share = s->n_shares ? 1.0 / (double)s->n_shares : 1;
    double seconds[EXP_N_WORKS] = { [EXP_WORK_REPLAY] = share * exp_sweep_seconds(&s->sweep) };
    int err = exp_main_progress(&o.progress, seconds, &s->why);

    if (!err)
        err = exp_tasks_run(&tasks, &o, &s->counts, &s->why);
    exp_progress_free(o.progress);
    if (!err && s->counts.n_failed)
        return exp_fail(&s->why, -EIO, "%zu of %zu simulations failed, such as %s; run it again to try these again",
                        s->counts.n_failed, s->counts.n_tasks, s->counts.failure);
    return err;
}

static void say_counts(const void *session, FILE *out)
{
    const struct session *s = session;

    if (s->store)
        fprintf(out, "%zu of %zu simulations from the store %s", s->counts.n_stored, s->counts.n_tasks,
                exp_store_path(s->store));
    else
        fprintf(out, "%zu simulations, none from a store", s->counts.n_tasks);
    if (s->n_shares)
        fprintf(out, "\n");
    else
        fprintf(out, "; %zu passes over plans' accesses serve all\n", s->sweep.n_jobs);
}

/* Has a cluster simulate what is not in the store. */
static int launch(struct session *s)
{
    const struct exp_tasks tasks = exp_sweep_tasks(&s->sweep);
    struct exp_slurm slurm = { .request = { .argv = s->argv,
                                            .name = "sweep",
                                            .has_threads = true,
                                            .needs = "",
                                            .words = s->options.slurm,
                                            .n_shares = s->options.shares },
                               .store = s->store,
                               .tasks = &tasks,
                               .doing = "simulating",
                               .results = "simulations",
                               .seconds = exp_sweep_seconds(&s->sweep) };
    double seconds[EXP_N_WORKS] = { [EXP_WORK_REPLAY] = slurm.seconds };
    int err;

    if (!s->store)
        return exp_main_needs_store(&s->why);
    err = exp_main_progress(&slurm.progress, seconds, &s->why);
    if (!err)
        err = exp_slurm_run(&slurm, &s->why);
    exp_progress_free(slurm.progress);
    return err;
}

static int work(void *session)
{
    struct session *s = session;
    const bool is_share = s->n_shares != 0;
    int err = exp_main_store(&s->store, s->options.store, s->options.results, s->options.known, &s->why);

    if (!err && s->options.launcher == EXP_LAUNCH_SLURM && !is_share)
        err = launch(s);
    if (!err)
        err = simulate(s);
    if (!err && is_share)
        say_counts(s, stdout);
    return err;
}

/* ---- the results ---- */

static int write_tables(void *session)
{
    struct session *s = session;

    return exp_sweep_report_write(&s->report, &s->sweep, &s->results.dir, s->what, &s->why);
}

static int print_answer(const void *session, FILE *out)
{
    exp_sweep_report_answer(&((const struct session *)session)->report, out);
    return 0;
}

static bool set_variables(const void *session, struct exp_variables *v)
{
    exp_sweep_set_variables(&((const struct session *)session)->report, v);
    return true;
}

static void release(void *session)
{
    struct session *s = session;

    exp_store_close(s->store);
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
    EXP_REPLAY_JOBS_OPTION,
    EXP_PATH("STORE",
             "file that keeps what was simulated, so that it is not simulated again (default RESULTS/store.sqlite); "
             "no: nothing is kept",
             store, ""),
    EXP_CLUSTER_OPTIONS,
    EXP_SHARES_OPTIONS,
    EXP_FOLDER("RESULTS",
               "folder for results (default results); this goes to RESULTS/<machine>/sweep/<models>/ (a name, names "
               "joined by +, or all; then ,<LAYERS>)",
               results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_sweep = {
    .name = "sweep",
    .asks = "What if caches or tiles were others? Every combination",
    .wants = { "try larger caches or more cores|make sweep MODEL=resnet18 MACHINE=clx4208 "
               "VARY='L2.size=256K..4M*2'" },
    .takes = "Half a minute for 100 configurations of plain caches, ten times as long with prefetchers. A sweep that "
             "was stopped goes on where it was.",
    .examples = { "make sweep MODEL=resnet18 MACHINE=clx4208 VARY='L1.size=16K,32K L2.ways=4,8,16'" },
    .needs = { "MODEL=vgg16", "VARY='L2.size=256K..4M*2'" },
    .figures = { "sweep_heat", "sweep_pareto" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/sweep", true, "sweep.csv", NULL },
    .chapter = { "sweep.csv", "machines and tilings varied", NULL },
    EXP_SESSION_WITH_ARGV(struct session),
    EXP_RESULTS(struct session),
    .models_at = offsetof(struct session, models),
    .machine_at = offsetof(struct session, machine),
    .tables = { &exp_sweep_cases_table, &exp_sweep_sums_table, &exp_sweep_best_table },
    .prepare = prepare,
    .work = work,
    .write = write_tables,
    .verdict = print_answer,
    .variables = set_variables,
    .say_kept = say_counts,
    .release = release,
};
