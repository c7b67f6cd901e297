/*
 * Base, SConv and peers over whole networks: the fastest, the speed-ups, and the distance from the core's peak. `peers
 * --help` lists the options; the Makefile's bench-peers passes the options on.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/group/ctr_cpu.h"
#include "experiments/base/program.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/course/variables.h"
#include "experiments/bench/plugin/plugin.h"
#include "experiments/emit/build.h"
#include "experiments/peers/peers.h"
#include "kernels/backend/base.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/pack.h"
#include "kernels/ukr/peak.h"

static const char default_methods[] =
    "base,base_rows,sconv,sconv_ahead,sconv_openblas,sconv_tuned,sconv_gen,kernels/plugin/onednn.c,"
    "kernels/plugin/onednn.c:reorder,kernels/plugin/onednn.c:blocked,kernels/plugin/xnnpack.c,"
    "kernels/plugin/openblas.c,kernels/plugin/libxsmm.c";

static int run_by_rows(const struct exp_setup *s, const struct conv_plan *plan, const struct conv_binding *bind)
{
    return conv_base_run_with(plan, bind, &s->blas, conv_im2col_rows);
}

static const char *is_not_replayed(const struct exp_setup *s)
{
    (void)s;
    return "im2col by rows is not replayed";
}

/* Adds Base with an im2col by rows to the algorithms of this program. */
static void add_rows(void)
{
    struct exp_algo rows = *exp_algo_base();

    rows.name = "base_rows";
    rows.title = rows.label = "im2col by rows";
    rows.colour = "#56b4e9";
    rows.when = EXP_ALGO_ON_REQUEST;
    rows.run = run_by_rows;
    rows.why_not_replay = is_not_replayed;
    rows.why_no_phases = "im2col by rows is not run step by step";
    if (!exp_algo_find(rows.name))
        exp_algo_add(&rows);
}

struct options {
    const char *model, *layers, *input, *algos, *plugin_flags, *plugin_plan, *ukr, *wisdom, *store, *known, *slurm,
        *results, *commit;
    unsigned batch, links, reps, limit, hot_reps, clock, ruler, jobs, measures, launcher, plugin_limit, more;
};

static const struct exp_results_layout layout = { "/peers", true, "layers.csv", NULL };

struct session {
    struct options options;
    struct exp_setup setup;
    struct exp_emit_coder *coder;
    struct exp_models models;
    struct exp_peers peers;
    struct exp_results results;
    struct exp_crew crew;
    char *const *argv;
    char what[512];
    struct exp_why why;
};

static void describe(struct session *s)
{
    const struct conv_peak *peak = conv_peak_of(s->setup.ukr->isa);
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    exp_say(s->what, sizeof s->what,
            "peers, commit %s; %s; one thread, %s clock, %u in warm caches; OpenBLAS core %s; SConv %s; peak by %s",
            *s->options.commit ? s->options.commit : "unknown", cpu, s->options.clock == EXP_CLOCK_CPU ? "cpu" : "wall",
            s->options.hot_reps, s->setup.blas.core, s->setup.ukr->name, peak ? peak->name : "no loop for this CPU");
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
    const struct exp_plugin_options plugins = { o->plugin_flags, o->plugin_plan, o->plugin_limit, 1, "", !*o->algos };
    unsigned algos = 0;
    int err;

    add_rows();
    err = exp_main_models(&s->models, o->model, EXP_MODEL_ASK(o), &s->why);

    if (!err)
        err = prepare_setup(s);
    if (!err)
        err = exp_plugins_select(*o->algos ? o->algos : default_methods, &plugins, &algos, &s->why);
    if (!err)
        err = exp_peers_init(&s->peers, &s->setup, &s->models, algos, &s->why);
    exp_results_time(&s->results, NULL);
    return err;
}

static int work(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    const struct exp_peers_options times = { .times = { .rounds = exp_rounds_of(o->reps, 5, 100, o->limit),
                                                        .n_threads = o->jobs,
                                                        .ruler_ns = exp_ruler_limit_ns(o->ruler, o->limit),
                                                        .keeps_disturbed = true,
                                                        .now_ns = exp_clock_of(o->clock),
                                                        .groups_dir = CTR_GROUPS_DIR },
                                             .n_warm_rounds = o->hot_reps };
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_progress *progress;
    int err = 0;

    describe(s);
    for (size_t i = 0; i < s->models.n && !err; i++)
        err = exp_peers_announce(&s->peers, i, &times, seconds, &s->why);
    progress = exp_main_progress(seconds);
    for (size_t i = 0; i < s->models.n && !err; i++)
        err = exp_peers_measure(&s->peers, &times, progress, &s->why);
    exp_progress_free(progress);
    if (!err)
        exp_peers_sum_up(&s->peers, 0, 0, 0);
    return err;
}

/* ---- results ---- */

static int print_host(const void *session, FILE *out)
{
    const struct session *s = session;
    const int core = s->peers.info[0][EXP_PEERS_NETWORK].core;
    int err = ctr_hostinfo_print(out);

    fprintf(out, "%s\nOpenBLAS: %s\n", s->what, s->setup.blas.config);
    fprintf(out, "timed on core: %d%s\n", core, core < 0 ? " (not pinned)" : "");
    return err;
}

static int write_tables(void *session)
{
    struct session *s = session;
    int err = exp_peers_write(&s->peers, &s->results.dir, s->what, &s->why);

    return err ? err : exp_outdir_write(&s->results.dir, "host.txt", print_host, s, &s->why);
}

static int print_verdict(const void *session, FILE *out)
{
    return exp_peers_answer(&((const struct session *)session)->peers, out);
}

static void set_number(struct exp_variables *v, const char *name, struct value x)
{
    char text[32];

    exp_say(text, sizeof text, "%g", x.why ? 0 : x.number);
    exp_variables_set(v, name, text);
}

/*
 * Gives the figures their data: names, titles (in quotes) and colours of the methods; sconv_peers and other_peers, the
 * names with phases and without, but Base; and the roof.
 */
static bool set_variables(const void *session, struct exp_variables *v)
{
    const struct exp_peers *p = &((const struct session *)session)->peers;

    exp_variables_set(v, "sconv_peers", "");
    exp_variables_set(v, "other_peers", "");
    for (size_t m = 0; m < p->n_methods; m++) {
        const struct exp_algo *a = p->method[m];
        const bool has_phases = exp_peers_total(p, 0, EXP_PEERS_NETWORK, m)->has_phases;

        exp_variables_add(v, "peer_names", "", a->name);
        exp_variables_add(v, "peer_titles", "\"", a->title);
        exp_variables_add(v, "peer_colours", "", a->colour);
        if (m)
            exp_variables_add(v, has_phases ? "sconv_peers" : "other_peers", "", a->name);
    }
    set_number(v, "peak_gflops", exp_peers_total(p, p->n_networks, EXP_PEERS_NETWORK, 0)->peak_gflops);
    set_number(v, "read_gbytes", exp_peers_total(p, p->n_networks, EXP_PEERS_NETWORK, 0)->read_gbytes);
    return true;
}

static int answer(void *session)
{
    struct session *s = session;

    printf("\n%s\ntables: %s/\n", s->what, s->results.path);
    exp_peers_print(&s->peers, stdout);
    printf("\n");
    return print_verdict(s, stdout);
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;
    char cpu[96];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    exp_screen_title(screen, "%zu network%s by %zu methods, one thread, %s", s->peers.n_networks,
                     s->peers.n_networks == 1 ? "" : "s", s->peers.n_methods, cpu);
    exp_peers_screen(&s->peers, screen);
    exp_screen_open(screen, "%s/model.csv", s->results.path);
    exp_screen_next(screen, "make report", "a page about all results");
    exp_screen_next(screen, "MORE=1 behind this command", "each network: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    struct session *s = session;

    exp_peers_release(&s->peers);
    exp_plugins_release();
    exp_emit_coder_free(s->coder);
    exp_setup_release(&s->setup);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_MODELS_OPTIONS,
    EXP_NAMES("ALGO",
              "base, and what is compared with it: of @algos@, base_rows (base, its im2col by rows), and plug-ins "
              "(PLUGIN_CFLAGS); comma-separated (default: seven of those, and the libraries of kernels/plugin)",
              algos, ""),
    EXP_PLUGIN_OPTIONS,
    EXP_NUMBER("REPS", "timed rounds of each layer (default: 5 to 100, until all speed-ups stand)", reps, 0, 1, 1000),
    EXP_NUMBER("LIMIT",
               "seconds of timing each network after which rounds end though a speed-up does not stand (default 60)",
               limit, 60, 1, 1000000),
    EXP_NUMBER("HOT", "rounds of each layer in warm caches, besides (default 3); 0 = none", hot_reps, 3, 0, 1000),
    EXP_CLOCK_OPTION,
    EXP_RULER_OPTION,
    EXP_RUN_JOBS_OPTION,
    EXP_UKR_OPTION,
    EXP_TUNE_OPTIONS,
    EXP_PATH("STORE", "file beside which a cluster's job leaves its logs (default RESULTS/store.sqlite)", store, ""),
    EXP_CLUSTER_OPTIONS,
    EXP_MORE_OPTION,
    EXP_RESULTS_OPTIONS("host/peers"),
    EXP_OPTIONS_END,
};

/* One node of a cluster runs everything: the times of one table are of one computer without further work. */
static const struct exp_question_jobs jobs = { .needs = "--exclusive", .has_threads = true };

static int check(const struct exp_question *q, const void *asked, struct exp_why *why)
{
    int err;

    add_rows();
    err = exp_check_names(q, asked, "", why);
    return err ? err : exp_check_models(q, asked, why);
}

const struct exp_question question_peers = {
    .name = "peers",
    .target = "bench-peers",
    .asks = "Compare with oneDNN and other libraries over whole networks",
    .wants = { "kernels: compare with oneDNN, XNNPACK, LIBXSMM|make bench-peers MODEL=vgg16" },
    .takes = "2 minutes a model.",
    .examples = { "make bench-peers MODEL=vgg16 REPS=10 CLOCK=wall",
                  "make bench-peers MODEL=vgg16 ALGO=base,sconv_tuned,kernels/plugin/onednn.c,mine.c" },
    .libraries = "blas dnnl",
    .installs = "peers",
    .figures = { "peers_speedups", "peers_speedups_pointwise", "peers_phases", "peers_roofline" },
    .options = options,
    .place = &layout,
    .chapter = { "phases.csv", "beside peers" },
    EXP_SESSION_WITH_ARGV(struct session),
    EXP_RESULTS(struct session),
    .models_at = offsetof(struct session, models),
    .jobs = &jobs,
    .crew_at = offsetof(struct session, crew),
    .tables = { &exp_peers_layers_table, &exp_peers_samples_table, &exp_peers_model_table, &exp_peers_phases_table },
    .check = check,
    .prepare = prepare,
    .work = work,
    .write = write_tables,
    .verdict = print_verdict,
    .variables = set_variables,
    .answer = answer,
    .screen = fill_screen,
    .release = release,
};
