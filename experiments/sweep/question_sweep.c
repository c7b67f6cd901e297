/*
 * What if caches or tiles were others? Every layer of some models on every combination of what VARY says, simulated
 * once and kept in a results store. `sweep --help` lists the options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/setup/exp_machine.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_options_shared.h"
#include "experiments/store/exp_slurm.h"
#include "experiments/sweep/exp_sweep_plot.h"
#include "experiments/sweep/exp_sweep_report.h"

extern const struct exp_question question_sweep;

static const struct exp_results_layout layout = { "/sweep", true, "sweep.csv", NULL };

static struct exp_results_place place_of(const struct exp_sweep_options *o)
{
    return (struct exp_results_place){ .layout = &layout,
                                       .options = o,
                                       .results = o->results,
                                       .model = o->model,
                                       .layers = o->layers,
                                       .machine = o->machine };
}

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

static int prepare(struct session *s)
{
    const struct exp_sweep_options *o = &s->options;
    int err = exp_main_share(&s->share, &s->n_shares, o->share, o->store, &s->why);

    if (!err)
        err = exp_models_read(&s->models, EXP_EXPERIMENTS_DIR, o->model, o->layers, &s->why);
    if (!err)
        err = exp_machine_find(&s->machine, o->machine, o->results, &s->why);
    if (!err)
        err = exp_sweep_plan(&s->sweep, o, &s->models, &s->machine, &s->why);
    if (!err)
        exp_sweep_say_cut(&s->sweep, stderr);
    if (!err)
        err = exp_sweep_list_tasks(&s->sweep, &s->why);
    if (err)
        return err;
    exp_say(s->what, sizeof s->what, "%s; replayed with cold caches; commit %s",
            *s->machine.description ? s->machine.description : s->machine.name, *o->commit ? o->commit : "unknown");
    return 0;
}

static int open_results(struct session *s)
{
    int err = exp_results_find(&s->results, place_of(&s->options), &s->machine, s->models.model, s->models.n, &s->why);

    return err ? err : exp_results_open(&s->results, &s->why);
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

static void say_counts(const struct session *s)
{
    if (s->store)
        printf("%zu of %zu simulations from the store %s", s->counts.n_stored, s->counts.n_tasks,
               exp_store_path(s->store));
    else
        printf("%zu simulations, none from a store", s->counts.n_tasks);
    if (s->n_shares)
        printf("\n");
    else
        printf("; %zu passes over plans' accesses serve all\n", s->sweep.n_jobs);
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

/* ---- the results ---- */

static int print_answer(const void *session, FILE *out)
{
    return exp_sweep_report_answer(&((const struct session *)session)->report, out);
}

static int draw(struct session *s)
{
    struct exp_sweep_plot plot;
    const struct exp_main_figures f = {
        .results = &s->results,
        .what = s->what,
        .variable = plot.variable,
        .n_variables = EXP_N_SWEEP_VARIABLES,
    };

    exp_sweep_plot_init(&plot, &s->report);
    return exp_main_draw(&question_sweep, &f, &s->why);
}

static int finish(struct session *s)
{
    int err = exp_sweep_report_write(&s->report, &s->sweep, &s->results.dir, s->what, &s->why), drawn;

    if (!err)
        err = exp_results_write_machine(&s->results.dir, &s->machine, s->options.machine, &s->why);
    if (!err)
        err = exp_outdir_write(&s->results.dir, "verdict.txt", print_answer, s, &s->why);
    if (err)
        return err;
    drawn = draw(s);
    err = exp_results_commit(&s->results, &s->why);
    if (err)
        return err;
    printf("\n%s\ntables: %s/\n", s->what, s->results.path);
    say_counts(s);
    fputc('\n', stdout);
    exp_sweep_report_answer(&s->report, stdout);
    return exp_program_drawn(drawn, &s->why);
}

static int run(void *session)
{
    struct session *s = session;
    bool is_share;
    int err = prepare(s);

    is_share = s->n_shares != 0;
    if (!err && !is_share)
        err = open_results(s);
    if (!err)
        err = exp_main_store(&s->store, s->options.store, s->options.results, s->options.known, &s->why);
    if (!err && s->options.launcher == EXP_LAUNCH_SLURM && !is_share)
        err = launch(s);
    if (!err)
        err = simulate(s);
    if (err || !is_share)
        return err ? err : finish(s);
    say_counts(s);
    return 0;
}

static void release(void *session)
{
    struct session *s = session;

    exp_store_close(s->store);
    exp_sweep_report_release(&s->report);
    exp_results_release(&s->results);
    exp_sweep_release(&s->sweep);
    exp_models_release(&s->models);
}

#define OPTIONS struct exp_sweep_options

static const struct exp_option options[] = {
    EXP_NAMES("MODEL", "names or layer tables, comma-separated; all: the paper's seven", model, ""),
    EXP_LAYERS_OPTION,
    EXP_TEXT("VARY",
             "keys of the machine's file, ukr, nc, k2, k3, and their values: VARY='L1.size=16K,32K L2.ways=4,8,16' is "
             "every combination; ';' begins another grid; 1..16, 8..512*2 and 4..64+4 are ranges; values with commas "
             "or blanks stand in braces",
             vary, ""),
    EXP_MACHINE_OPTION,
    EXP_TEXT("ALGO", "of @algos@; comma-separated (default base,sconv)", algos, ""),
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
    .takes = "Half a minute for 100 configurations of plain caches, ten times as long with prefetchers. A sweep that "
             "was stopped goes on where it was.",
    .examples = { "make sweep MODEL=resnet18 MACHINE=clx4208 VARY='L1.size=16K,32K L2.ways=4,8,16'" },
    .needs = { "MODEL=vgg16", "VARY='L2.size=256K..4M*2'" },
    .figures = { "sweep_heat", "sweep_pareto" },
    .options = options,
    .place = &layout,
    .chapter = { "sweep.csv", "machines and tilings varied", NULL },
    EXP_SESSION_WITH_ARGV(struct session),
    .document = exp_sweep_report_document,
    .run = run,
    .release = release,
};
