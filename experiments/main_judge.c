/*
 * CSA before the judge: for every layer of whole networks, both schedules replayed, the better one found, the price of
 * CSA's choice named, and the time of Base and SConv estimated beside what the paper measured. `judge --help` lists the
 * options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_timer.h"
#include "experiments/exp_error.h"
#include "experiments/exp_judge_report.h"
#include "experiments/exp_machine.h"
#include "experiments/exp_options.h"
#include "experiments/exp_plot.h"
#include "experiments/exp_progress.h"
#include "experiments/exp_replay.h"
#include "experiments/exp_report.h"
#include "experiments/exp_signal.h"

#define EXPERIMENTS_DIR "experiments"
#define MARKER "layers.csv"
#define ALL_MODELS "googlenet,inceptionv2,resnet18,resnet50,resnet152,squeezenet,vgg16"

enum { EXIT_BAD_INPUT = 2, MAX_MODELS = 64, MAX_ARGUMENTS = 32 };

struct session {
    struct exp_options options;
    struct exp_setup setup;
    struct exp_model model[MAX_MODELS];
    size_t n_models;
    struct exp_judge_report report;
    struct exp_outdir dir;
    bool has_dir;
    char *final_path;
    char what[512];
    char why[1024];
};

static void usage(FILE *out)
{
    fputs(
        "usage: judge [NAME=VALUE]...   (run in the project's folder)\n\n"
        "  MODEL    names or layer tables, comma-separated; all (default): the paper's seven\n"
        "  MACHINE  simulated machine: host (default), a name in sim/machines, or a .cfg path\n"
        "  LAYERS, JOBS, CACHE, FILTERS, UKR, CORE, COMMIT: as experiment --help says\n"
        "  RESULTS  folder for results (default results); this goes to RESULTS/<machine>/judgement/<model or all>/\n\n"
        "  --columns  print what the columns of the result files mean\n",
        out);
}

/* ---- options ---- */

static bool is_known(const char *argument)
{
    static const char *const names[] = { "MODEL=", "MACHINE=", "LAYERS=", "JOBS=",    "CACHE=",    "FILTERS=",
                                         "UKR=",   "CORE=",    "COMMIT=", "RESULTS=", "--columns", "--help" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strncmp(argument, names[i], strlen(names[i])))
            return true;
    }
    return false;
}

/* Empty variables are unset ones, and MODEL has a default here. */
static int parse(struct session *s, int argc, char **argv)
{
    static char program[] = "judge", all[] = "MODEL=all";
    char *kept[MAX_ARGUMENTS] = { program, all };
    int n = 2;

    for (int i = 1; i < argc; i++) {
        if (!is_known(argv[i]) || n == MAX_ARGUMENTS)
            return exp_fail(s->why, sizeof s->why, -EINVAL, "unknown option '%s'; judge --help lists them", argv[i]);
        if (argv[i][strlen(argv[i]) - 1] != '=')
            kept[n++] = argv[i];
    }
    return exp_options_parse(&s->options, n, kept, s->why, sizeof s->why);
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
    return *s->options.layers ? exp_model_filter(&s->model[s->n_models - 1], s->options.layers, s->why, sizeof s->why)
                              : 0;
}

static int read_models(struct session *s)
{
    const char *list = strcmp(s->options.model, "all") ? s->options.model : ALL_MODELS;
    int err = 0;

    while (*list && !err) {
        size_t length = strcspn(list, ",");
        char *name = exp_format("%.*s", (int)length, list);

        err = name ? read_model(s, name) : exp_fail(s->why, sizeof s->why, -ENOMEM, "out of memory");
        free(name);
        list += length + (list[length] == ',');
    }
    return err;
}

static int prepare(struct session *s)
{
    const struct exp_options *o = &s->options;
    int err = read_models(s);

    if (!err)
        err = exp_machine_find(&s->setup.machine, o->machine, s->why, sizeof s->why);
    s->setup.packs_filters = o->packs_filters != 0;
    if (!err)
        err = exp_setup_init(&s->setup, o->ukr, o->core, s->why, sizeof s->why);
    if (err)
        return err;
    snprintf(s->what, sizeof s->what, "%s; replayed with %s caches, SConv %s, Base OpenBLAS %s; commit %s",
             s->setup.machine.description[0] ? s->setup.machine.description : s->setup.machine.name,
             exp_cache_state_name((enum exp_cache_state)o->cache), s->setup.ukr->name,
             s->setup.core ? s->setup.core->name : "unknown core", *o->commit ? o->commit : "unknown");
    s->final_path = exp_format("%s/%s/judgement/%s", o->results, s->setup.machine.name,
                               s->n_models == 1          ? s->model[0].name
                               : strcmp(o->model, "all") ? "some"
                                                         : "all");
    if (!s->final_path)
        return exp_fail(s->why, sizeof s->why, -ENOMEM, "out of memory");
    err = exp_outdir_open(&s->dir, s->final_path, MARKER, s->why, sizeof s->why);
    s->has_dir = !err;
    s->report.machine = &s->setup.machine;
    s->report.arch = exp_report_arch(&s->setup.machine);
    s->report.has_whole_models = !*o->layers;
    s->report.has_whole_set = !*o->layers && !strcmp(o->model, "all");
    s->report.why_no_estimate = exp_estimate_why_not(&s->setup.machine);
    s->report.why_no_base = exp_algo_at(0)->why_not_replay(&s->setup);
    return err ? err : exp_judge_report_open(&s->report, &s->dir, EXPERIMENTS_DIR, s->what, s->why, sizeof s->why);
}

/* ---- the work ---- */

static double weight_of(const struct session *s, const struct exp_experiment *e)
{
    double sum = 0;

    for (size_t i = 0; i < e->n_cases; i++) {
        if ((e->cases[i].same_as == i || s->options.cache == EXP_NETWORK) &&
            !e->cases[i].algo->why_not_replay(e->setup))
            sum += exp_replay_weight(e->setup, &e->cases[i]);
    }
    return sum;
}

static int replay(struct session *s, struct exp_experiment *e)
{
    struct exp_progress *progress;
    int err = exp_progress_new(&progress, stderr, exp_progress_is_terminal(stderr), e->model->n_layers, weight_of(s, e),
                               ctr_now_ns);

    if (err)
        return exp_fail(s->why, sizeof s->why, err, "out of memory");
    exp_progress_note(progress, "%s", e->model->name);
    err = exp_replay_all(e, (enum exp_cache_state)s->options.cache, s->options.jobs, progress, s->why, sizeof s->why);
    exp_progress_free(progress);
    return err;
}

static int judge(struct session *s)
{
    unsigned algos;
    int err = exp_algo_select("base,sconv", &algos, s->why, sizeof s->why);

    for (size_t i = 0; i < s->n_models && !err; i++) {
        struct exp_experiment e;

        err = exp_experiment_plan(&e, &s->setup, &s->model[i], algos, s->why, sizeof s->why);
        if (err)
            break;
        err = replay(s, &e);
        if (!err)
            err = exp_judge_report_model(&s->report, &e, s->why, sizeof s->why);
        exp_experiment_release(&e);
    }
    return err ? err : exp_judge_report_finish(&s->report, s->what, s->why, sizeof s->why);
}

static int write_machine(struct session *s)
{
    char *path = exp_outdir_file(&s->dir, "machine.cfg");
    FILE *out = path ? fopen(path, "w") : NULL;
    int err = out ? sim_machine_print(&s->setup.machine, out) : path ? -errno : -ENOMEM;

    if (out && fclose(out) && !err)
        err = -errno;
    free(path);
    return err ? exp_fail(s->why, sizeof s->why, err, "cannot write machine.cfg: %s", strerror(-err)) : 0;
}

/* A figure that cannot be drawn costs no tables. Returns the first failure that is not a lack of data. */
static int draw(struct session *s)
{
    static const char *const figures[] = { "judge_schedules", "judge_speedups" };
    const struct exp_plot_variable variable[] = {
        { "figures", EXPERIMENTS_DIR "/figures" },
        { "data", s->dir.path },
        { "what", s->what },
        { "machine", s->setup.machine.name },
        { "figure_letter", strcmp(s->report.arch, "P10") ? "a" : "b" },
    };
    int first = 0;

    for (size_t i = 0; i < 2 * sizeof figures / sizeof figures[0] && !exp_interrupted(); i++) {
        char *script = exp_format("%s/figures/%s.gp", EXPERIMENTS_DIR, figures[i / 2]);
        char *file = exp_format("%s/%s.%s", s->dir.path, figures[i / 2], i % 2 ? "svg" : "png");
        int err = script && file ? exp_plot_draw(script, file, variable, sizeof variable / sizeof variable[0], s->why,
                                                 sizeof s->why)
                                 : exp_fail(s->why, sizeof s->why, -ENOMEM, "out of memory");

        if (err)
            fprintf(stderr, "judge: %s not drawn: %s\n", figures[i / 2], s->why);
        first = first || err == -ENODATA ? first : err;
        free(script);
        free(file);
        i += err == -ENODATA && i % 2 == 0; /* the other format would say the same */
    }
    return first;
}

static int finish(struct session *s)
{
    int err = write_machine(s), drawn;

    if (err)
        return err;
    exp_judge_report_print(&s->report, stdout);
    drawn = draw(s);
    if (exp_interrupted())
        return exp_fail(s->why, sizeof s->why, -EINTR, "interrupted while drawing");
    err = exp_outdir_commit(&s->dir, s->why, sizeof s->why);
    s->has_dir = err != 0;
    if (err)
        return err;
    printf("\n%s\ntables and figures: %s/\n", s->what, s->final_path);
    return drawn ? exp_fail(s->why, sizeof s->why, drawn, "the tables are complete, not all figures are") : 0;
}

static void release(struct session *s)
{
    exp_judge_report_release(&s->report);
    if (s->has_dir)
        exp_outdir_abort(&s->dir);
    for (size_t i = 0; i < s->n_models; i++)
        exp_model_release(&s->model[i]);
    exp_setup_release(&s->setup);
    free(s->final_path);
}

int main(int argc, char **argv)
{
    struct session s = { .why = "" };
    int err = parse(&s, argc, argv);

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!err && (s.options.helps || s.options.documents)) {
        if (s.options.helps)
            usage(stdout);
        else
            exp_judge_report_document(stdout);
        return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    if (!err)
        err = exp_signal_install();
    if (!err)
        err = prepare(&s);
    if (!err)
        err = judge(&s);
    if (!err)
        err = finish(&s);
    release(&s);
    if (!err && fflush(stdout))
        err = exp_fail(s.why, sizeof s.why, -errno, "cannot write to standard output: %s", strerror(errno));
    if (err)
        fprintf(stderr, "judge: %s\n", s.why);
    exp_signal_end();
    return err ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}
