/*
 * Base, SConv and peers over whole networks: the fastest, the speed-ups, and the distance from the core's peak. `peers
 * --help` lists the options; the Makefile's bench-peers passes the options on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/base/error.h"
#include "experiments/base/program.h"
#include "experiments/emit/build.h"
#include "experiments/peers/peers.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/model/model.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/base/store.h"
#include "kernels/ukr/dispatch.h"

struct options {
    const char *model, *layers, *input, *algos, *plugin_flags, *plugin_plan, *ukr, *wisdom, *store, *known, *slurm,
        *share, *results, *commit;
    unsigned batch, links, reps, limit, hot_reps, clock, ruler, measures, launcher, shares, plugin_limit;
};

static const struct exp_results_layout layout = { "/peers", true, "layers.csv", NULL };

struct session {
    struct options options;
    struct exp_peers_options times;
    struct exp_setup setup;
    struct exp_emit_coder *coder;
    struct exp_peers_methods methods;
    struct exp_models models;
    struct exp_peers_tasks tasks;
    struct exp_crew crew;
    char *const *argv;
    struct exp_peers_report report;
    struct exp_results results;
    char what[512];
    struct exp_why why;
};

/* ---- preparation ---- */

static void describe(struct session *s)
{
    const struct conv_peak *peak = conv_peak_of(s->setup.ukr->isa);
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    exp_say(s->what, sizeof s->what,
            "peers, commit %s; %s; one thread, %s clock, %u in warm caches; OpenBLAS core %s; SConv %s; peak by %s",
            *s->options.commit ? s->options.commit : "unknown", cpu, s->options.clock == EXP_CLOCK_CPU ? "cpu" : "wall",
            s->times.n_warm_rounds, s->setup.blas.core, s->setup.ukr->name, peak ? peak->name : "no loop for this CPU");
}

/* Returns the number of this run: one more than the run of the present results. */
static long long run_after(const struct session *s)
{
    char *path = exp_format("%s/host.txt", s->results.path);
    struct stat last;
    long long after = !stat(path, &last) ? last.st_mtim.tv_sec * 1000000000LL + last.st_mtim.tv_nsec : 0;

    free(path);
    return after;
}

/*
 * Describes the timing, from malloc. On a cluster, whose computers are unknown here, by the options; else by the
 * options as resolved on this computer.
 */
static char *setting_of(const struct session *s)
{
    const struct exp_rounds *rounds = &s->times.rounds;
    char *asked = exp_format("%zu to %zu rounds, %llu ns, %u warm; clock %u; ruler %u; micro-kernel %s; "
                             "tuning %u, wisdom %s; methods %s, flags %s, plan %s, limit %u; the run after %lld",
                             rounds->least, rounds->most, (unsigned long long)rounds->limit_ns, s->times.n_warm_rounds,
                             s->options.clock, s->options.ruler, s->options.ukr, (unsigned)s->options.measures,
                             s->options.wisdom, s->options.algos, s->options.plugin_flags, s->options.plugin_plan,
                             s->options.plugin_limit, run_after(s));
    const bool is_cluster = s->crew.n_shares || s->options.launcher == EXP_LAUNCH_SLURM;
    char *setting = is_cluster ? exp_format("a cluster; commit %s; %s", s->options.commit, asked)
                               : exp_format("%s; %s; %s", s->tasks.of.found.on, s->what, asked);

    free(asked);
    return setting;
}

static int list(struct session *s)
{
    const struct exp_lease own = exp_lease_own();
    char *setting;
    int err;

    s->tasks = (struct exp_peers_tasks){ .models = &s->models, .times = &s->times };
    s->tasks.of =
        (struct exp_peers){ .setup = &s->setup, .methods = &s->methods, .peak = conv_peak_of(s->setup.ukr->isa) };
    ctr_hostinfo_cpu(s->tasks.of.found.on, sizeof s->tasks.of.found.on);
    exp_say_more(s->tasks.of.found.on, sizeof s->tasks.of.found.on, " (%s)", own.host);
    setting = setting_of(s);
    err = exp_peers_tasks_list(&s->tasks, setting, &s->why);
    free(setting);
    return err;
}

static int prepare_setup(struct session *s)
{
    int err = exp_machine_find(&s->setup.machine, "host", s->options.results, &s->why);

    if (!err)
        err = exp_setup_init(&s->setup, s->options.ukr, "", &s->why);
    if (!err)
        err = exp_setup_wisdom(&s->setup, s->options.measures, s->options.wisdom, &s->why);
    s->coder = exp_emit_coder_new();
    s->setup.coder = &s->coder->base;
    if (!err && !conv_ukr_runs(s->setup.ukr))
        err = exp_fail(&s->why, -EINVAL, "UKR: this computer cannot execute %s", s->setup.ukr->name);
    return err;
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    const struct exp_results_place place = {
        .layout = &layout, .options = o, .results = o->results, .model = o->model, .layers = o->layers
    };
    const struct exp_plugin_options plugins = { o->plugin_flags, o->plugin_plan, o->plugin_limit, 1, "", !*o->algos };
    int err = exp_main_models(&s->models, o->model, EXP_MODEL_ASK(o), &s->why);

    s->times = (struct exp_peers_options){ .rounds = exp_rounds_of(o->reps, 5, 100, o->limit),
                                           .n_warm_rounds = o->hot_reps,
                                           .ruler_ns = exp_ruler_limit_ns(o->ruler, o->limit),
                                           .now_ns = exp_clock_of(o->clock) };
    if (!err)
        err = prepare_setup(s);
    if (!err)
        err = exp_peers_methods_read(&s->methods, o->algos, &plugins, &s->why);
    if (!err)
        err = exp_results_find(&s->results, place, NULL, s->models.model, s->models.n, &s->why);
    exp_results_time(&s->results, NULL);
    return err;
}

/* ---- work ---- */

static void announce(const void *session, double seconds[EXP_N_WORKS])
{
    const struct session *s = session;

    for (size_t i = 0; i < s->models.n; i++) {
        for (int k = 0; k < EXP_N_WORKS; k++)
            seconds[k] += s->tasks.seconds[i][k];
    }
}

static struct exp_tasks tasks_of(void *session)
{
    struct session *s = session;

    s->tasks.progress = s->crew.progress;
    return exp_peers_tasks(&s->tasks);
}

/* Each job has a node of its own. */
static const struct exp_question_jobs jobs = {
    .needs = "--exclusive", .doing = "timing", .results = "networks", .announce = announce, .tasks = tasks_of
};

static int work(void *session)
{
    struct session *s = session;

    describe(s);
    return list(s);
}

static void say_timed(const void *session, FILE *out)
{
    const struct session *s = session;

    fprintf(out, "%zu of %zu networks timed, on core %d of %s\n", s->crew.counts.n_run, s->crew.counts.n_tasks,
            s->tasks.of.found.core, s->tasks.of.found.on);
}

/* ---- results ---- */

static int print_host(const void *session, FILE *out)
{
    const struct session *s = session;
    int err = ctr_hostinfo_print(out);

    fprintf(out, "%s\n", s->what);
    fprintf(out, "OpenBLAS: %s\n", s->setup.blas.config);
    fprintf(out, "timed on core: %d%s\n", s->report.network->found.core,
            s->report.network->found.core < 0 ? " (not pinned)" : "");
    exp_peers_tasks_say_kept(&s->tasks, out);
    return err;
}

static int write_tables(void *session)
{
    struct session *s = session;
    int err = exp_peers_tasks_recall(&s->tasks, &s->why);

    s->report =
        (struct exp_peers_report){ &s->methods, exp_peers_core_of(s->setup.ukr->isa), s->models.n, s->tasks.network };
    err = err ? err : exp_peers_write(&s->report, &s->results.dir, s->what, &s->why);
    return err ? err : exp_outdir_write(&s->results.dir, "host.txt", print_host, s, &s->why);
}

static bool set_variables(const void *session, struct exp_variables *v)
{
    exp_peers_set_variables(&((const struct session *)session)->report, v);
    return true;
}

static int answer(void *session)
{
    const struct session *s = session;

    printf("\n%s\ntables: %s/\n", s->what, s->results.path);
    exp_peers_tasks_say_kept(&s->tasks, stdout);
    exp_peers_print(&s->report, stdout);
    exp_peers_targets_print(&s->report, stdout);
    return 0;
}

static void release(void *session)
{
    struct session *s = session;

    s->tasks.models = &s->models;
    exp_peers_tasks_release(&s->tasks);
    exp_plugins_release();
    exp_emit_coder_free(s->coder);
    exp_setup_release(&s->setup);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_MODELS_OPTIONS,
    EXP_NAMES("ALGO",
              "base, and what is compared with it: of @algos@, base_rows (base, its im2col by rows), and plug-ins "
              "(PLUGIN_CFLAGS); comma-separated (default: eight of those, and the libraries of kernels/plugin)",
              algos, ""),
    EXP_PLUGIN_OPTIONS,
    EXP_NUMBER("REPS", "timed rounds of each layer (default: 5 to 100, until all speed-ups stand)", reps, 0, 1, 1000),
    EXP_NUMBER("LIMIT",
               "seconds of timing each network after which rounds end though a speed-up does not stand (default 60)",
               limit, 60, 1, 1000000),
    EXP_NUMBER("HOT", "rounds of each layer in warm caches, besides (default 3); 0 = none", hot_reps, 3, 0, 1000),
    EXP_CLOCK_OPTION,
    EXP_RULER_OPTION,
    EXP_UKR_OPTION,
    EXP_TUNE_OPTIONS,
    EXP_PATH("STORE",
             "file that keeps the times of each network, so that a run that was ended goes on where it was (default "
             "RESULTS/store.sqlite); a run that was finished is followed by new times; no: nothing is kept",
             store, ""),
    EXP_CLUSTER_OPTIONS,
    EXP_SHARES_OPTIONS,
    EXP_RESULTS_OPTIONS("host/peers"),
    EXP_OPTIONS_END,
};

static int check(const struct exp_question *q, const void *asked, struct exp_why *why)
{
    exp_peers_add_rows();
    return exp_check_names(q, asked, "", why);
}

const struct exp_question question_peers = {
    .name = "peers",
    .target = "bench-peers",
    .asks = "Compare with oneDNN and other libraries over whole networks",
    .wants = { "compare with oneDNN, XNNPACK, LIBXSMM|make bench-peers MODEL=vgg16" },
    .takes = "2 minutes a model.",
    .examples = { "make bench-peers MODEL=vgg16 REPS=10 CLOCK=wall",
                  "make bench-peers MODEL=vgg16 ALGO=base,sconv_tuned,kernels/plugin/onednn.c,mine.c" },
    .libraries = "blas dnnl",
    .installs = "peers",
    .figures = { "peers_speedups", "peers_speedups_pointwise", "peers_phases", "peers_roofline" },
    .options = options,
    .place = &layout,
    .chapter = { "phases.csv", "beside peers", .found = exp_peers_say_found },
    EXP_SESSION_WITH_ARGV(struct session),
    EXP_RESULTS(struct session),
    .models_at = offsetof(struct session, models),
    .jobs = &jobs,
    .crew_at = offsetof(struct session, crew),
    .tables = { &exp_peers_layers_table, &exp_peers_samples_table, &exp_peers_model_table, &exp_peers_phases_table,
                &exp_peers_targets_table },
    .check = check,
    .prepare = prepare,
    .work = work,
    .write = write_tables,
    .variables = set_variables,
    .say_kept = say_timed,
    .answer = answer,
    .release = release,
};
