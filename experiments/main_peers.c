/*
 * Base, SConv and peers over whole networks: which is faster, by how much, and how far from what the core can do.
 * `peers --help` lists the options; the Makefile's bench-peers passes them on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters/ctr_hostinfo.h"
#include "counters/ctr_pin.h"
#include "counters/ctr_timer.h"
#include "experiments/exp_error.h"
#include "experiments/exp_peers_report.h"
#include "experiments/exp_peers_targets.h"
#include "experiments/exp_plot.h"
#include "experiments/exp_signal.h"
#include "kernels/dispatch.h"

#define EXPERIMENTS_DIR "experiments"
#define MARKER "layers.csv"
#define ALL_MODELS "googlenet,inceptionv2,resnet18,resnet50,resnet152,squeezenet,vgg16"

enum { EXIT_BAD_INPUT = 2, MAX_MODELS = 64, MAX_REPS = 1000 };

struct options {
    const char *model, *layers, *results, *commit, *reps, *hot, *clock, *ukr;
};

struct session {
    struct options o;
    struct exp_peers_options times;
    struct exp_setup setup;
    struct exp_dnnl *dnnl;
    char why_no_dnnl[96];
    struct exp_model model[MAX_MODELS];
    size_t n_models;
    struct exp_peers_report report;
    struct exp_outdir dir;
    bool has_dir;
    char *final_path;
    char what[512];
    char not_pinned[128];
    int core;
    char why[1024];
};

static void usage(FILE *out)
{
    fputs("usage: peers [KEY=VALUE]...\n"
          "  MODEL    model names or layer tables, comma-separated; all (default): the paper's seven\n"
          "  LAYERS   comma-separated name patterns\n"
          "  REPS     sweeps over each network; default 7\n"
          "  HOT      repetitions of each layer with hot caches; default 3; 0 = none\n"
          "  CLOCK    wall (default), or cpu: the thread's own time, which leaves out what other processes take on a "
          "busy computer\n"
          "  UKR      SConv's micro-kernel, or an instruction set (avx2) whose best one tuned SConv takes for each "
          "layer\n"
          "  RESULTS  folder of results, default results; this goes to RESULTS/host/peers/<model>/\n"
          "  COMMIT   what is noted as the source's version\n",
          out);
}

/* ---- options ---- */

static uint64_t thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int parse_count(const char *key, const char *text, unsigned least, unsigned *value, char *why, size_t why_bytes)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (!*text || *end || n < (long)least || n > MAX_REPS)
        return exp_fail(why, why_bytes, -EINVAL, "%s: a whole number from %u to %d, not '%s'", key, least, MAX_REPS,
                        text);
    *value = (unsigned)n;
    return 0;
}

static int parse(struct session *s, int argc, char **argv)
{
    const struct {
        const char *key;
        const char **value;
    } keys[] = {
        { "MODEL=", &s->o.model },     { "LAYERS=", &s->o.layers }, { "REPS=", &s->o.reps },   { "HOT=", &s->o.hot },
        { "RESULTS=", &s->o.results }, { "COMMIT=", &s->o.commit }, { "CLOCK=", &s->o.clock }, { "UKR=", &s->o.ukr },
    };
    int err;

    s->o = (struct options){ "all", "", "results", "unknown", "7", "3", "wall", "" };
    for (int i = 1; i < argc; i++) {
        size_t k = 0;

        while (k < sizeof keys / sizeof keys[0] && strncmp(argv[i], keys[k].key, strlen(keys[k].key)) != 0)
            k++;
        if (k == sizeof keys / sizeof keys[0])
            return exp_fail(s->why, sizeof s->why, -EINVAL, "unknown option '%s'; --help lists the known ones",
                            argv[i]);
        if (argv[i][strlen(keys[k].key)])
            *keys[k].value = argv[i] + strlen(keys[k].key);
    }
    if (strcmp(s->o.clock, "wall") && strcmp(s->o.clock, "cpu"))
        return exp_fail(s->why, sizeof s->why, -EINVAL, "CLOCK: wall or cpu, not '%s'", s->o.clock);
    s->times.now_ns = strcmp(s->o.clock, "cpu") ? ctr_now_ns : thread_ns;
    err = parse_count("REPS", s->o.reps, 1, &s->times.n_reps, s->why, sizeof s->why);
    return err ? err : parse_count("HOT", s->o.hot, 0, &s->times.n_hot_reps, s->why, sizeof s->why);
}

/* ---- preparation ---- */

static int read_model(struct session *s, const char *name)
{
    int err;

    if (s->n_models == MAX_MODELS)
        return exp_fail(s->why, sizeof s->why, -EINVAL, "MODEL: more than %d models", MAX_MODELS);
    err = exp_model_find(&s->model[s->n_models], EXPERIMENTS_DIR, name, s->why, sizeof s->why);
    if (err)
        return err;
    s->n_models++;
    return *s->o.layers ? exp_model_filter(&s->model[s->n_models - 1], s->o.layers, s->why, sizeof s->why) : 0;
}

static int read_models(struct session *s)
{
    const char *list = strcmp(s->o.model, "all") ? s->o.model : ALL_MODELS;
    int err = 0;

    while (*list && !err) {
        size_t length = strcspn(list, ",");
        char *name = strndup(list, length);

        err = name ? read_model(s, name) : exp_fail(s->why, sizeof s->why, -ENOMEM, "out of memory");
        free(name);
        list += length + (list[length] == ',');
    }
    return err;
}

static int open_results(struct session *s)
{
    const char *name = !strcmp(s->o.model, "all") ? "all" : s->n_models > 1 ? "several" : s->model[0].name;
    int err;

    s->final_path = exp_format("%s/host/peers/%s", s->o.results, name);
    if (!s->final_path)
        return exp_fail(s->why, sizeof s->why, -ENOMEM, "out of memory");
    err = exp_outdir_open(&s->dir, s->final_path, MARKER, s->why, sizeof s->why);
    s->has_dir = !err;
    return err;
}

static void describe(struct session *s)
{
    const struct conv_peak *peak = conv_peak_of(s->setup.ukr->isa);

    exp_fail(
        s->what, sizeof s->what, 0,
        "peers, commit %s; one thread, %s clock, %u sweeps, %u hot; OpenBLAS core %s; SConv %s; oneDNN %s; peak by %s",
        s->o.commit, s->o.clock, s->times.n_reps, s->times.n_hot_reps, s->setup.blas.core, s->setup.ukr->name,
        s->dnnl ? exp_dnnl_version(s->dnnl) : s->why_no_dnnl, peak ? peak->name : "no loop for this CPU");
}

static int prepare(struct session *s)
{
    int err = read_models(s);

    if (!err)
        err = sim_machine_host(&s->setup.machine, s->why, sizeof s->why);
    if (!err)
        err = exp_setup_init(&s->setup, s->o.ukr, "", s->why, sizeof s->why);
    if (!err && !conv_ukr_runs(s->setup.ukr))
        err = exp_fail(s->why, sizeof s->why, -EINVAL, "UKR: this computer cannot execute %s", s->setup.ukr->name);
    if (!err && exp_dnnl_load(&s->dnnl, s->why_no_dnnl, sizeof s->why_no_dnnl))
        s->dnnl = NULL;
    if (!err)
        err = open_results(s);
    if (!err)
        describe(s);
    if (!err)
        err = exp_peers_report_open(&s->report, &s->dir, s->what, s->why, sizeof s->why);
    if (!err && ctr_pin(-1, &s->core, s->not_pinned, sizeof s->not_pinned))
        s->core = -1;
    return err;
}

/* ---- work: one network's tensors at a time ---- */

static int start(struct session *s, struct exp_peers *p, size_t i)
{
    *p = (struct exp_peers){
        .setup = &s->setup, .dnnl = s->dnnl, .why_no_dnnl = s->why_no_dnnl, .peak = conv_peak_of(s->setup.ukr->isa)
    };
    return exp_peers_open(p, &s->model[i], s->why, sizeof s->why);
}

static int compare(struct session *s, size_t i, struct exp_progress *progress)
{
    struct exp_peers p;
    int err = start(s, &p, i);

    if (err)
        return err;
    err = exp_peers_verify(&p, progress, i + 1, s->why, sizeof s->why);
    if (!err)
        err = exp_peers_measure(&p, &s->times, progress, i + 1, s->why, sizeof s->why);
    if (!err)
        err = exp_peers_report_add(&s->report, &p, s->why, sizeof s->why);
    exp_peers_close(&p);
    return err;
}

/* The multiply-adds are known from the tables alone; distinct shapes are not, so checking is weighed as if all were. */
static double total_weight(const struct session *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->n_models; i++) {
        for (size_t l = 0; l < s->model[i].n_layers; l++)
            sum += conv_macs(&s->model[i].layer[l].problem);
    }
    return sum * (40 + EXP_N_PEERS * (1 + 2 * s->times.n_reps + 2 * s->times.n_hot_reps) + 9);
}

static int work(struct session *s)
{
    struct exp_progress *progress;
    int err =
        exp_progress_new(&progress, stderr, exp_progress_is_terminal(stderr), s->n_models, total_weight(s), ctr_now_ns);

    if (err)
        return exp_fail(s->why, sizeof s->why, err, "out of memory");
    for (size_t i = 0; i < s->n_models && !err; i++)
        err = compare(s, i, progress);
    exp_progress_free(progress);
    return err;
}

/* ---- results ---- */

static int write_host(struct session *s)
{
    char *path = exp_outdir_file(&s->dir, "host.txt");
    FILE *out = path ? fopen(path, "w") : NULL;
    int err = out ? ctr_hostinfo_print(out) : path ? -errno : -ENOMEM;

    if (out) {
        fprintf(out, "%s\n", s->what);
        fprintf(out, "OpenBLAS: %s\n", s->setup.blas.config);
        if (s->core >= 0)
            fprintf(out, "timed on core: %d (pinned)\n", s->core);
        else
            fprintf(out, "timed on core: not pinned (%s)\n", s->not_pinned);
        err = ferror(out) && !err ? -EIO : err;
        err = fclose(out) && !err ? -errno : err;
    }
    free(path);
    return err ? exp_fail(s->why, sizeof s->why, err, "cannot write host.txt: %s", strerror(-err)) : 0;
}

static double mean_of_models(const struct session *s, bool of_peak)
{
    double sum = 0;

    for (size_t i = 0; i < s->report.n_models; i++)
        sum += of_peak ? s->report.model[i].peak_gflops : s->report.model[i].read_gbytes;
    return sum / (double)s->report.n_models;
}

/* A figure that cannot be drawn costs no tables. Returns the first failure that is not a lack of data. */
static int draw(struct session *s)
{
    static const char *const figures[] = { "peers_speedups", "peers_speedups_pointwise", "peers_phases",
                                           "peers_roofline" };
    char peak[32], read[32];
    const struct exp_plot_variable variable[] = {
        { "figures", EXPERIMENTS_DIR "/figures" },
        { "data", s->dir.path },
        { "what", s->what },
        { "peak_gflops", peak },
        { "read_gbytes", read },
    };
    int first = 0;

    snprintf(peak, sizeof peak, "%g", mean_of_models(s, true));
    snprintf(read, sizeof read, "%g", mean_of_models(s, false));
    for (size_t i = 0; i < 2 * sizeof figures / sizeof figures[0] && !exp_interrupted(); i++) {
        char *script = exp_format("%s/figures/%s.gp", EXPERIMENTS_DIR, figures[i / 2]);
        char *file = exp_format("%s/%s.%s", s->dir.path, figures[i / 2], i % 2 ? "svg" : "png");
        int err = script && file ? exp_plot_draw(script, file, variable, sizeof variable / sizeof variable[0], s->why,
                                                 sizeof s->why)
                                 : exp_fail(s->why, sizeof s->why, -ENOMEM, "out of memory");

        if (err)
            fprintf(stderr, "peers: %s not drawn: %s\n", figures[i / 2], s->why);
        first = first || err == -ENODATA ? first : err;
        free(script);
        free(file);
    }
    return first;
}

static int finish(struct session *s)
{
    int err = exp_peers_report_finish(&s->report, s->what, s->why, sizeof s->why), drawn;

    if (!err)
        err = exp_peers_targets_write(&s->report, s->what, s->why, sizeof s->why);
    if (!err)
        err = write_host(s);
    if (err)
        return err;
    drawn = draw(s);
    if (exp_interrupted())
        return exp_fail(s->why, sizeof s->why, -EINTR, "interrupted while drawing");
    exp_peers_report_print(&s->report, stdout);
    exp_peers_targets_print(&s->report, stdout);
    err = exp_outdir_commit(&s->dir, s->why, sizeof s->why);
    s->has_dir = err != 0;
    if (err)
        return err;
    printf("\n%s\ntables and figures: %s/\n", s->what, s->final_path);
    return drawn ? exp_fail(s->why, sizeof s->why, drawn, "the tables are complete, not all figures are") : 0;
}

static void release(struct session *s)
{
    exp_peers_report_release(&s->report);
    if (s->has_dir)
        exp_outdir_abort(&s->dir);
    for (size_t i = 0; i < s->n_models; i++)
        exp_model_release(&s->model[i]);
    exp_dnnl_unload(s->dnnl);
    exp_setup_release(&s->setup);
    free(s->final_path);
}

int main(int argc, char **argv)
{
    struct session s = { .core = -1 };
    int err;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && !strcmp(argv[1], "--help")) {
        usage(stdout);
        return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    err = parse(&s, argc, argv);
    if (!err)
        err = exp_signal_install();
    if (!err)
        err = prepare(&s);
    if (!err)
        err = work(&s);
    if (!err)
        err = finish(&s);
    release(&s);
    if (!err && fflush(stdout))
        err = exp_fail(s.why, sizeof s.why, -errno, "cannot write to standard output: %s", strerror(errno));
    if (err)
        fprintf(stderr, "peers: %s\n", s.why);
    exp_signal_end();
    return err ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}
