#define _GNU_SOURCE /* sched_getaffinity */
/*
 * A whole network: read from an .onnx file, run and timed by several algorithms for its convolutions, and simulated in
 * sequence at the addresses of its memory planner, and step by step.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/ctr_hostinfo.h"
#include "counters/group/ctr_cpu.h"
#include "experiments/base/program.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/course/output.h"
#include "experiments/bench/plugin/plugin.h"
#include "experiments/network/reference.h"
#include "experiments/network/study.h"
#include "experiments/show/page.h"

struct options {
    const char *model, *input, *machine, *algos, *ukr, *core, *plugin_flags, *plugin_plan, *peer, *data, *results,
        *commit;
    unsigned batch, links, packs_filters, fuses, simulate, threads, timing, checks, reps, limit, clock, seed, jobs,
        plugin_limit, peer_limit, more;
};

struct session {
    struct options options;
    struct onnx_graph *graph, *given; /* given: NULL: no test data */
    struct exp_setup setup;
    struct exp_model model; /* name and file; without layers */
    struct net_study study;
    struct exp_why why_elsewhere;
    const char *untimed; /* NULL: timed */
    struct exp_results results;
    char what[768];
    struct exp_why why;
};

#define USUAL_ALGOS "base,sconv_openblas,sconv_tuned"

static struct exp_rounds rounds_of(const struct options *o)
{
    return exp_rounds_of(o->reps, 5, 100, o->limit);
}

/* ---- preparing ---- */

/* Returns the folder of test data, from malloc: the requested folder, or the usual folder if present; NULL: none. */
static char *find_data(const struct options *o)
{
    const char *slash = strrchr(o->model, '/');
    char *folder;

    if (!strcmp(o->data, EXP_NO_FILE) || (!*o->data && (o->batch || *o->input)))
        return NULL;
    if (*o->data)
        return exp_copy_text(o->data);
    folder = exp_format("%.*stest_data_set_0", slash ? (int)(slash - o->model) + 1 : 0, o->model);
    if (!access(folder, R_OK))
        return folder;
    free(folder);
    return NULL;
}

static int read_data(struct session *s)
{
    char *folder = find_data(&s->options);
    struct exp_why why;
    int err = folder ? onnx_read_tensors(&s->given, folder, &why) : 0;

    free(folder);
    return err ? exp_fail(&s->why, err, "%s%s", why.text, *s->options.data ? "" : "; DATA=no leaves it out") : 0;
}

/* Reads the network; unless INPUT states sizes, the inputs have the sizes of the test data. */
static int read_network(struct session *s)
{
    const struct options *o = &s->options;
    struct onnx_ask ask = { .batch = o->batch, .input = o->input, .links = o->links };
    struct onnx_graph *again;
    int err = onnx_read(&s->graph, o->model, &ask, &s->why);
    char *sizes = s->given && !*o->input && !o->batch ? net_ask_of_given(s->given, s->graph) : NULL;

    ask.input = sizes;
    if (sizes && !onnx_read(&again, o->model, &ask, NULL)) {
        onnx_free(s->graph);
        s->graph = again;
        err = 0;
    }
    free(sizes);
    return err;
}

static const char *const layers_alone[] = { ".csv", ".txt", ".log" };

/* Refuses a model that is no network file, with advice. */
static int check_kind(const char *model, struct exp_why *why)
{
    char *table = exp_format("%s/models/%s.csv", EXP_EXPERIMENTS_DIR, model);
    const bool is_table = !strchr(model, '/') && !access(table, R_OK);
    int err = 0;

    free(table);
    if (is_table)
        return exp_fail(why, -EINVAL,
                        "MODEL: '%s' is a layer table: 'make models MODEL=%s' writes a network of it, then "
                        "type MODEL=results/onnx/%s.onnx",
                        model, model, model);
    for (size_t i = 0; i < sizeof layers_alone / sizeof layers_alone[0] && !err; i++) {
        if (exp_name_ends_in(model, layers_alone[i]))
            err = exp_fail(why, -EINVAL,
                           "MODEL: '%s' is no network (.onnx) but layers without what lies between them: "
                           "'make experiment MODEL=%s' runs the layers",
                           model, model);
    }
    return err;
}

/* Reads the network, but not the weights. */
static int check(const struct exp_question *q, const void *options, struct exp_why *why)
{
    struct session s = { .options = *(const struct options *)options };
    int err = check_kind(s.options.model, why);

    err = err ? err : exp_check_names(q, options, "", why);
    if (err)
        return err;
    err = read_data(&s);
    err = err ? err : read_network(&s);
    onnx_free(s.graph);
    onnx_free(s.given);
    return err ? exp_fail(why, err, "%s", s.why.text) : 0;
}

static int read_graph(struct session *s)
{
    const struct options *o = &s->options;
    int err = check_kind(o->model, &s->why);

    err = err ? err : read_data(s);

    if (!err)
        err = read_network(s);
    if (!err)
        err = net_fill_weights(s->graph, o->seed, &s->why);
    if (err)
        return err;
    s->model.name = exp_copy_text(s->graph->name);
    s->model.path = exp_copy_text(o->model);
    return 0;
}

static const char *untimed(const struct session *s)
{
    if (!s->options.timing)
        return EXP_UNTIMED;
    return s->setup.ukr->fn ? NULL : "the machine's micro-kernel is another CPU family's";
}

/* Returns the threads of the options, but at most the number of cores. */
static unsigned plugin_threads(const struct options *o)
{
    cpu_set_t cores;
    const unsigned n = sched_getaffinity(0, sizeof cores, &cores) ? 1 : (unsigned)CPU_COUNT(&cores);

    return o->threads < n ? o->threads : n;
}

static uint64_t (*clock_of(const struct options *o))(void)
{
    return exp_clock_of(o->threads > 1 ? EXP_CLOCK_WALL : o->clock);
}

static int plan(struct session *s)
{
    const struct options *o = &s->options;
    const struct exp_plugin_options plugins = {
        o->plugin_flags, o->plugin_plan, o->plugin_limit, plugin_threads(o), "", false
    };
    unsigned algos;
    int err = exp_plugins_select(*o->algos ? o->algos : USUAL_ALGOS, &plugins, &algos, &s->why);

    s->study = (struct net_study){
        .graph = s->graph,
        .setup = &s->setup,
        .name = s->graph->name,
        .fuses = o->fuses == 0,
        .scope = (enum net_scope)o->simulate,
        .n_threads = o->threads,
        .now_ns = clock_of(o),
        .clock = exp_clock_name(o->clock),
    };
    onnx_say_types(s->graph, s->study.types, sizeof s->study.types);
    if (*s->study.types)
        fprintf(stderr, "%s: %s\n", s->graph->path, s->study.types);
    return err ? err : net_study_plan(&s->study, algos, &s->why);
}

static void describe(struct session *s)
{
    const struct options *o = &s->options;
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    exp_say(s->what, sizeof s->what, "%s (opset %lld), %s, simulated on %s; %s%s with %u thread%s; commit %s",
            s->graph->path, (long long)s->graph->opset, s->study.fuses ? "fused" : "not fused",
            *s->setup.machine.description ? s->setup.machine.description : s->setup.machine.name,
            s->untimed ? "not timed" : "timed on ", s->untimed ? "" : cpu, o->threads, o->threads == 1 ? "" : "s",
            *o->commit ? o->commit : "unknown");
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    int err = read_graph(s);

    if (!err)
        err = exp_machine_find(&s->setup.machine, o->machine, o->results, &s->why);
    s->setup.packs_filters = o->packs_filters != 0;
    if (!err)
        err = exp_setup_init(&s->setup, o->ukr, o->core, &s->why);
    if (!err)
        err = plan(s);
    if (err)
        return err;
    s->untimed = untimed(s);
    if (!s->untimed && exp_machine_why_not_here(&s->setup.machine, &s->why_elsewhere))
        s->study.why_elsewhere = s->why_elsewhere.text;
    exp_results_time(&s->results, s->untimed);
    describe(s);
    return 0;
}

/* ---- the work ---- */

static int time_all(struct session *s, struct exp_progress *progress)
{
    const struct options *o = &s->options;
    const struct net_timing timing = { .rounds = rounds_of(o),
                                       .now_ns = clock_of(o),
                                       .seed = o->seed,
                                       .checks = o->checks != 0,
                                       .given = s->given,
                                       .peer = o->peer,
                                       .peer_limit_s = o->peer_limit };

    for (size_t a = 0; a < s->study.n_algos && s->untimed; a++)
        exp_fail(&s->study.by[a].timed.missing, 0, "%s", s->untimed);
    return s->untimed ? 0 : net_study_time(&s->study, &timing, progress, &s->why);
}

static int count_all(struct session *s)
{
    const struct net_counting counting = { .groups_dir = CTR_GROUPS_DIR };

    return net_study_count(&s->study, &counting, &s->why);
}

static int work(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    const struct exp_rounds rounds = rounds_of(o);
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_forecast forecast = { 0 };
    struct exp_progress *progress;
    int err;

    seconds[EXP_WORK_REPLAY] = net_study_seconds(&s->study) / o->jobs;
    exp_forecast_add(&forecast, s->graph->name, seconds);
    exp_forecast_print(&forecast, stderr);
    if (!s->untimed)
        seconds[EXP_WORK_ROUNDS] =
            net_macs(s->study.by[0].variant[NET_AS_ASKED].net) * 1e-10 * (double)(rounds.most * s->study.n_algos);
    progress = exp_main_progress(seconds);
    if (rounds.limit_ns)
        exp_progress_limit(progress, EXP_WORK_ROUNDS, (double)rounds.limit_ns * 1e-9,
                           seconds[EXP_WORK_ROUNDS] * exp_rounds_least_share(&rounds));
    err = time_all(s, progress);
    if (!err)
        err = count_all(s);
    if (!err)
        err = net_study_simulate(&s->study, o->jobs, progress, &s->why);
    exp_progress_free(progress);
    return err;
}

/* ---- results ---- */

/* Prints the costs of simulating in sequence and of the steps alone, over equal accesses. */
static void print_cost(const struct net_study *s, FILE *out)
{
    double in_sequence = 0, alone = 0;

    for (size_t i = 0; i < s->n_algos * NET_N_VIEWS; i++) {
        const struct net_simulated *x = &s->by[i / NET_N_VIEWS].variant[NET_AS_ASKED];

        in_sequence += x->in_sequence[i % NET_N_VIEWS].seconds;
        alone += x->alone[i % NET_N_VIEWS].seconds;
    }
    fprintf(out, "simulated in sequence: %.3f s of a processor; the same steps by themselves: %.3f s\n", in_sequence,
            alone);
}

static int print_host(const void *session, FILE *out)
{
    const struct session *s = session;
    int err = ctr_hostinfo_print(out);

    if (!s->untimed)
        fprintf(out, "timed in %zu rounds by %s: %s\n", s->study.n_rounds, s->study.clock, exp_end_text(s->study.end));
    fprintf(out, "OpenBLAS: %s\n", s->setup.blas.handle ? s->setup.blas.config : s->setup.why_no_blas);
    fprintf(out, "SConv micro-kernel: %s\n", s->setup.ukr->name);
    if (s->study.scope == NET_SCOPE_ALL)
        print_cost(&s->study, out);
    return err;
}

static int write_tables(void *session)
{
    struct session *s = session;
    const struct exp_outdir *dir = &s->results.dir;
    int err = net_tables_write(&s->study, dir, s->what, &s->why);

    if (!err)
        err = net_trace_write(&s->study, dir, s->options.commit, &s->why);
    return err ? err : exp_outdir_write(dir, "host.txt", print_host, s, &s->why);
}

static int print_verdict(const void *session, FILE *out)
{
    return net_verdict_print(&((const struct session *)session)->study, out);
}

static bool set_variables(const void *session, struct exp_variables *v)
{
    const struct session *s = session;
    const struct sim_machine *m = &s->setup.machine;
    const struct net_by_algo *shown = net_study_shown(&s->study);

    exp_variables_set(v, "machine", m->name);
    exp_variables_set(v, "shown_algo", shown->algo->name);
    exp_variables_set(v, "shown_title", shown->algo->title);
    exp_variables_set(v, "shown_caches", net_view_name(net_study_view(&s->study, &shown->variant[NET_AS_ASKED])));
    for (size_t l = 0; l <= m->n_levels; l++)
        exp_variables_add(v, "levels", "", net_level_name(&s->study, l));
    return true;
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;

    net_screen(&s->study, screen);
    exp_screen_open(screen, "%s/report.html", s->results.path);
    if (strcmp(s->setup.machine.name, "clx4208") != 0)
        exp_screen_next(screen, "MACHINE=clx4208 TIMING=0 behind this command", "the paper's Xeon");
    exp_screen_next(screen, "ALGO=base,mine.c behind this command", "your own kernel in the network");
    exp_screen_next(screen, "MORE=1 behind this command", "everything: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    struct session *s = session;

    net_study_release(&s->study);
    exp_plugins_release();
    onnx_free(s->graph);
    onnx_free(s->given);
    exp_setup_release(&s->setup);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_PATH("MODEL", "the network: an .onnx file", model, ""),
    EXP_NUMBER("BATCH", "images (default: the file's, else 1)", batch, 0, 1, 4096),
    EXP_TEXT("INPUT",
             "dimensions of the input behind the batch, 3x224x224, where the file leaves them open; of several inputs "
             "x=3x224x224,y=10",
             input, ""),
    EXP_LINKS_OPTION,
    EXP_MACHINE_OPTION,
    EXP_TEXT("ALGO",
             "algorithms of the convolutions, comma-separated: @algos@, or plug-ins; default "
             "base,sconv_openblas,sconv_tuned, "
             "the second of which is the paper's",
             algos, ""),
    EXP_KERNEL_OPTIONS,
    EXP_PLUGIN_OPTIONS,
    EXP_WORD("FUSE",
             "yes (default): batch normalisation is folded, activations and additions are fused, as compilers do; no: "
             "every node is a step, as in the paper",
             fuses, 0, "yes", "no"),
    EXP_WORD("SIMULATE",
             "all (default); sequence: only the run that was asked for, in sequence, which takes a seventh; no: it is "
             "only timed",
             simulate, NET_SCOPE_ALL, "all", "sequence", "no"),
    EXP_NUMBER("THREADS", "threads of a run (default 1)", threads, 1, 1, 64),
    EXP_TIMING_OPTION,
    EXP_WORD("CHECK", "1 (default): what is timed is checked first, step by step, against plain loops; 0: it is not",
             checks, 1, "0", "1"),
    EXP_NUMBER("REPS", "timed rounds (default: 5 to 100, until all speed-ups stand)", reps, 0, 1, 1000000),
    EXP_NUMBER("LIMIT", "seconds after which no round begins, unless REPS says how many (default 60)", limit, 60, 1,
               1000000),
    EXP_CLOCK_OPTION,
    EXP_PATH("PEER",
             "libonnxruntime.so, or a folder below which it is: ONNX Runtime is timed in turns (default: where "
             "onnxruntime-node is installed; no: not)",
             peer, ""),
    EXP_NUMBER("PEER_LIMIT",
               "seconds after which ONNX Runtime is ended, for each thing that is asked of it, besides 20 ns for each "
               "multiply-add (default 60)",
               peer_limit, 60, 1, 100000),
    EXP_PATH(
        "DATA",
        "folder of input_0.pb, ... and of output_0.pb, ..., which must come out (default: test_data_set_0 beside the "
        "network, where it is; no: random inputs)",
        data, ""),
    EXP_NUMBER("SEED", "of weights that the file does not have, and of inputs (default 1)", seed, 1, 1, 1000000),
    EXP_REPLAY_JOBS_OPTION,
    EXP_MORE_OPTION,
    EXP_FOLDER("RESULTS", "folder for results (default results); this goes to RESULTS/<machine>/network/<model>/",
               results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_network = {
    .name = "network",
    .asks = "A whole network from an .onnx file: run, timed, and simulated in sequence",
    .wants = { "networks: run your own network, in sequence|make network MODEL=path/to/net.onnx" },
    .takes = "A minute for each 10^9 multiply-adds; with TIMING=0, and caches alone, five seconds.",
    .examples = { "make network MODEL=net.onnx", "make network MODEL=net.onnx MACHINE=clx4208 TIMING=0 FUSE=no" },
    .needs = { "MODEL=path/to/net.onnx" },
    .libraries = "blas",
    .figures = { "network_sequence" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/network", false, "network.csv", NULL },
    .chapter = { "network.csv", "a whole network", exp_page_network_write },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .model_at = offsetof(struct session, model),
    .machine_at = offsetof(struct session, setup.machine),
    .tables = { &net_network_table, &net_nodes_table, &net_sequence_table, &net_variants_table, &net_kinds_table,
                &net_skipped_table, &net_memory_table },
    .check = check,
    .prepare = prepare,
    .work = work,
    .write = write_tables,
    .verdict = print_verdict,
    .variables = set_variables,
    .add_page = exp_page_add,
    .screen = fill_screen,
    .release = release,
};
