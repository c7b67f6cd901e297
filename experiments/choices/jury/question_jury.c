/*
 * The jury: many shapes from tables of convolutions, each checked, timed beside im2col + GEMM, simulated and foretold.
 * `jury --help` lists the options; the Makefile passes options on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/group/ctr_cpu.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/plugin/plugin.h"
#include "experiments/choices/jury/jury.h"

struct options {
    const char *tables, *times, *layers, *machine, *algos, *plugin_flags, *plugin_plan, *ukr, *core, *sample, *store,
        *known, *slurm, *share, *results, *commit;
    unsigned most, seed, cache, packs_filters, reps, limit, clock, ruler, jobs, timing, launcher, shares, plugin_limit,
        more;
};

struct session {
    struct options options;
    struct exp_setup setup;
    struct exp_model model;
    struct exp_jury jury;
    struct exp_jury_report report;
    struct exp_why why_elsewhere;
    struct exp_results results;
    struct exp_crew crew;
    char *const *argv;
    char what[512];
    struct exp_why why;
};

/* ---- preparing ---- */

static int select_algos(struct session *s)
{
    const struct options *o = &s->options;
    const struct exp_plugin_options plugins = { o->plugin_flags, o->plugin_plan, o->plugin_limit, 1, "", false };
    struct exp_jury *j = &s->jury;
    int err = exp_plugins_select(o->algos, &plugins, &j->algos, &s->why);

    for (size_t i = 0; i < exp_algo_count() && !err; i++)
        j->n_algos += (j->algos & exp_algo_bit(exp_algo_at(i))) != 0;
    if (!err && j->n_algos > EXP_JURY_MOST_ALGOS)
        err = exp_fail(&s->why, -EINVAL, "ALGO: more than %d algorithms", EXP_JURY_MOST_ALGOS);
    return err;
}

/* Sets up the simulated machine; samples are drawn wherever a sample is smaller than the stream. */
static int set_up(struct session *s)
{
    const struct options *o = &s->options;
    int err = exp_machine_find(&s->setup.machine, o->machine, o->results, &s->why);

    s->setup.packs_filters = o->packs_filters != 0;
    err = err ? err : exp_sampling_read(&s->setup.sampling, o->sample, &s->why);
    if (s->setup.sampling.mode == EXP_SAMPLING_AUTO)
        s->setup.sampling.mode = EXP_SAMPLING_ALWAYS;
    return err ? err : exp_setup_init(&s->setup, o->ukr, o->core, &s->why);
}

static const char *why_untimed(const struct session *s)
{
    if (!s->options.timing)
        return EXP_UNTIMED;
    if (*s->options.times)
        return NULL;
    if (s->setup.ukr->fn)
        return NULL;
    return exp_setup_uses_openblas_ukr(&s->setup) ? s->setup.why_no_openblas_ukr
                                                  : "the machine's micro-kernel is another CPU family's";
}

static void prepare_jury(struct session *s)
{
    const struct options *o = &s->options;
    struct exp_jury *j = &s->jury;

    j->model = &s->model;
    j->setup = &s->setup;
    j->cache = (enum exp_cache_state)o->cache;
    j->why = &s->why;
    j->limit_s = o->limit;
    j->n_threads = o->jobs;
    j->why_untimed = why_untimed(s);
    j->is_recorded = *o->times;
    if (!j->is_recorded && exp_machine_why_not_here(&s->setup.machine, &s->why_elsewhere))
        j->why_elsewhere = s->why_elsewhere.text;
    j->measure = (struct exp_measure_options){ .rounds = exp_rounds_of(o->reps, 5, 40, 0),
                                               .n_threads = o->jobs,
                                               .cache = j->cache,
                                               .ruler_ns = exp_ruler_limit_ns(o->ruler, o->limit),
                                               .now_ns = exp_clock_of(o->clock),
                                               .groups_dir = CTR_GROUPS_DIR };
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    int err = exp_jury_draw(&s->model, EXP_EXPERIMENTS_DIR, o->tables, o->most, o->seed, &s->why);

    err = err ? err : select_algos(s);
    err = err ? err : set_up(s);
    if (!err && *o->times)
        err = exp_jury_read_times(&s->jury.times, o->times, &s->model, &s->why);
    if (err)
        return err;
    prepare_jury(s);
    exp_results_time(&s->results, s->jury.why_untimed);
    exp_say(s->what, sizeof s->what,
            "%zu shapes of %s; machine %s, %s caches, SConv %s, Base OpenBLAS %s; %s; commit %s", s->model.n_layers,
            s->model.path, s->setup.machine.name, exp_cache_state_name(s->jury.cache), s->setup.ukr->name,
            s->setup.core ? s->setup.core->name : "unknown core",
            s->jury.why_untimed   ? "not timed"
            : s->jury.is_recorded ? "times of an earlier run"
                                  : "one thread, timed by the thread's clock",
            *o->commit ? o->commit : "unknown");
    return 0;
}

/* ---- the work ---- */

static int work(void *session)
{
    struct session *s = session;

    exp_algos_describe(s->jury.algos, &s->setup, stdout);
    return exp_jury_plan(&s->jury);
}

static void announce(const void *session, double seconds[EXP_N_WORKS])
{
    exp_jury_announce(&((const struct session *)session)->jury, seconds);
}

static int time_first(void *session)
{
    struct session *s = session;

    return exp_jury_time(&s->jury, &s->crew);
}

static struct exp_tasks list(void *session)
{
    return exp_jury_replays(&((struct session *)session)->jury);
}

static const struct exp_question_jobs jobs = { .needs = "--exclusive",
                                               .has_threads = true,
                                               .doing = "simulating",
                                               .results = "simulations",
                                               .announce = announce,
                                               .first = time_first,
                                               .tasks = list };

/* ---- the results ---- */

static int write_tables(void *session)
{
    struct session *s = session;

    exp_jury_report_make(&s->report, &s->jury);
    return exp_jury_report_write(&s->report, &s->results.dir, s->what, &s->why);
}

static int print_verdict(const void *session, FILE *out)
{
    exp_jury_print(&((const struct session *)session)->report, out);
    return 0;
}

static void say_kept(const void *session, FILE *out)
{
    const struct session *s = session;

    fprintf(out, "%zu of %zu simulations and times of %zu of %zu layers from the store\n", s->crew.counts.n_stored,
            s->crew.counts.n_tasks, s->jury.n_kept_times, s->jury.n_judged);
}

static bool set_variables(const void *session, struct exp_variables *v)
{
    const struct session *s = session;

    exp_variables_set(v, "is_timed", s->report.is_timed ? "1" : "0");
    return s->report.n_sums > 0;
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    exp_screen_title(screen, "%zu shapes of %.*s, %s caches, machine %s%s%s", s->model.n_layers,
                     (int)strcspn(s->model.name, ","), s->model.name, exp_cache_state_name(s->jury.cache),
                     s->setup.machine.name,
                     s->jury.why_untimed   ? ""
                     : s->jury.is_recorded ? ", times of "
                                           : ", timed on ",
                     s->jury.why_untimed   ? ""
                     : s->jury.is_recorded ? s->options.times
                                           : cpu);
    exp_jury_fill_screen(&s->report, screen);
    exp_screen_open(screen, "%s/verdict.txt, jury.csv, losses.csv", s->results.path);
    exp_screen_next(screen, "MORE=1 behind this command", "everything: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    struct session *s = session;

    exp_jury_report_release(&s->report);
    exp_jury_release(&s->jury);
    exp_setup_release(&s->setup);
    exp_plugins_release();
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("TABLES",
              "tables of convolutions, comma-separated, or a folder of tables: ConvBench's, or any other model's that "
              "experiment takes (experiments/models/README.md)",
              tables, ""),
    EXP_NUMBER("SAMPLE_LAYERS", "how many layers are drawn at random (default: all)", most, 0, 1, 1000000),
    EXP_NUMBER("SEED", "of the draw (default 1)", seed, 1, 0, 1000000000),
    EXP_MACHINE_OPTION,
    EXP_NAMES("ALGO",
              "of @algos@; and plug-ins, such as kernels/plugin/onednn.c, timed only (PLUGIN_CFLAGS); comma-separated, "
              "base first (default base,sconv,sconv_tuned)",
              algos, "base,sconv,sconv_tuned"),
    EXP_PLUGIN_OPTIONS,
    EXP_CACHE_OPTION,
    EXP_KERNEL_OPTIONS,
    EXP_TEXT("SAMPLE",
             "replay of all accesses: exact; or of a sample where a sample is smaller: 1%, the wanted half width of "
             "cycles; or auto (default)",
             sample, "auto"),
    EXP_TIMING_OPTION,
    EXP_PATH("TIMES",
             "jury.csv of an earlier run, perhaps of another computer: its times are judged, and nothing is timed; "
             "MACHINE names the timed machine",
             times, ""),
    EXP_NUMBER("REPS", "timed rounds of each layer (default: 5 to 40, until the speed-ups stand)", reps, 0, 1, 1000),
    EXP_NUMBER("LIMIT", "seconds of timing 100 layers, after which layers get no more than five rounds (default 25)",
               limit, 25, 1, 1000000),
    EXP_CLOCK_OPTION,
    EXP_RULER_OPTION,
    EXP_RUN_JOBS_OPTION,
    EXP_PATH("STORE",
             "file that keeps what was timed and simulated, so that it is not done again (default "
             "RESULTS/store.sqlite); no: nothing is kept",
             store, ""),
    EXP_CLUSTER_OPTIONS,
    EXP_SHARES_OPTIONS,
    EXP_MORE_OPTION,
    EXP_FOLDER("RESULTS",
               "folder for results (default results); this goes to RESULTS/<machine>/jury/<tables>,<layers>,seed<n>/",
               results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_jury = {
    .name = "jury",
    .asks = "How do shapes fare that nobody tuned on? Timed and simulated",
    .wants = { "papers: try shapes that nobody tuned on|make jury TABLES=path/to/convbench "
               "SAMPLE_LAYERS=300" },
    .takes = "300 shapes take minutes, thousands an hour. A run that was stopped goes on where it was.",
    .examples = { "make jury TABLES=path/to/convbench SAMPLE_LAYERS=300 SEED=7",
                  "make jury TABLES=path/to/regular.csv TIMING=0 MACHINE=zen3" },
    .needs = { "TABLES=path/to/convbench" },
    .libraries = "blas",
    .keeps = true,
    .figures = { "jury_speedups" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/jury", true, "jury.csv", NULL },
    .chapter = { "losses.csv", "shapes that nobody tuned on", NULL, NULL },
    EXP_SESSION_WITH_ARGV(struct session),
    EXP_RESULTS(struct session),
    .model_at = offsetof(struct session, model),
    .machine_at = offsetof(struct session, setup.machine),
    .jobs = &jobs,
    .crew_at = offsetof(struct session, crew),
    .tables = { &exp_jury_table, &exp_jury_losses_table, &exp_jury_kinds_table, &exp_target_table },
    .prepare = prepare,
    .work = work,
    .write = write_tables,
    .verdict = print_verdict,
    .variables = set_variables,
    .say_kept = say_kept,
    .screen = fill_screen,
    .release = release,
};
