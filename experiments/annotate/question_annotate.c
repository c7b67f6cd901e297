/*
 * Finds the source lines of a plug-in with the most misses. Compiles the plug-in into a small program that runs one layer, runs the program
 * under `cachesim run --annotate`, and sorts the source lines by the latencies of their missed loads.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/annotate/lines.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/plugin/plugin.h"
#include "kernels/plugin/conv_plugin.h"
#include "sim/machine/machine_here.h"

#define DRIVER "kernels/plugin/drive.c"
#define COUNTS "annotate.out"
#define CALLGRIND "callgrind.out"
#define LOG "cachesim.log"

enum { ENDED_EARLY = 124, STARTS_S = 60 /* the most time of the emulator and of the search for lines besides */ };

struct options {
    const char *layer, *machine, *algos, *plugin_flags, *results, *commit, *cachesim;
    unsigned limit, more;
};

struct session {
    struct options options;
    struct sim_machine machine;
    struct exp_model model;
    char *program;
    struct lines lines;
    bool has_ended_early;
    struct exp_results results;
    char what[256];
    struct exp_why why;
};

/* ---- input ---- */

/* Reads the layer "vgg16:conv3_1", or a descriptor. */
static int read_layer(struct session *s)
{
    char *model = exp_copy_text(s->options.layer), *colon = strrchr(model, ':');
    struct exp_model_ask ask = { .layers = "", .batch = 1 };
    int err;

    if (colon)
        *colon = '\0';
    ask.layers = colon ? colon + 1 : "";
    err = exp_main_model(&s->model, model, &ask, &s->why);
    if (!err && s->model.n_layers != 1)
        err = exp_fail(&s->why, -EINVAL, "LAYER: '%s' is %zu layers; one is wanted, such as LAYER=%s:%s",
                       s->options.layer, s->model.n_layers, model, s->model.layer[0].name);
    free(model);
    return err;
}

/* Checks ALGO: a single C file. */
static int check_names(const struct options *o, struct exp_why *why)
{
    int err = exp_plugins_check(o->algos, why);

    if (!err && (strchr(o->algos, ',') || !exp_plugin_is_source(o->algos)))
        err = exp_fail(why, -EINVAL, "ALGO: one plug-in's C file is wanted, such as ALGO=mine.c, not '%s'", o->algos);
    return err;
}

static int check(const struct exp_question *q, const void *options, struct exp_why *why)
{
    const int err = exp_check_names(q, options, "ALGO", why);

    return err ? err : check_names(options, why);
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    const struct exp_plugin_limits limits = { o->limit, o->plugin_flags };
    int err;

    err = check_names(o, &s->why);
    err = err ? err : exp_machine_find(&s->machine, o->machine, o->results, &s->why);
    err = err ? err : read_layer(s);
    err = err ? err : exp_plugin_compile_driver(o->algos, &limits, o->limit, &s->program, &s->why);
    exp_say(s->what, sizeof s->what, "%s, %s, caches of %s, by source line; commit %s", exp_last_part(o->algos),
            o->layer, o->machine, *o->commit ? o->commit : "unknown");
    return err;
}

/* ---- work ---- */

static void add_shape(struct exp_words *words, const struct conv_problem *p)
{
    const struct conv_plugin_shape s = exp_plugin_shape(p);
    const struct {
        const char *name;
        int32_t value;
    } member[] = { { "batch", s.batch },
                   { "groups", s.groups },
                   { "in_channels", s.in_channels },
                   { "in_h", s.in_h },
                   { "in_w", s.in_w },
                   { "out_channels", s.out_channels },
                   { "kernel_h", s.kernel_h },
                   { "kernel_w", s.kernel_w },
                   { "stride_h", s.stride_h },
                   { "stride_w", s.stride_w },
                   { "pad_top", s.pad_top },
                   { "pad_left", s.pad_left },
                   { "pad_bottom", s.pad_bottom },
                   { "pad_right", s.pad_right },
                   { "dilation_h", s.dilation_h },
                   { "dilation_w", s.dilation_w } };

    for (size_t i = 0; i < sizeof member / sizeof member[0]; i++)
        exp_words_add(words, "%s=%d", member[i].name, (int)member[i].value);
}

/* Reads messages of cachesim and of the program. Returns 0, or -errno with the program's reason. */
static int read_log(struct session *s, const char *path)
{
    FILE *in = exp_file_open(path);
    char *text = NULL, said[256] = "", *ended;
    size_t room = 0;
    int status = 0;

    while (in && getline(&text, &room, in) >= 0) {
        text[strcspn(text, "\n")] = '\0';
        if (!strncmp(text, "drive: ", 7))
            exp_say(said, sizeof said, "%s", text + 7);
        ended = strstr(text, " ended with status ");
        if (ended)
            status = atoi(ended + 19);
    }
    free(text);
    if (in)
        fclose(in);
    s->has_ended_early = status == ENDED_EARLY;
    if (!status || s->has_ended_early)
        return 0;
    return exp_fail(&s->why, -ENOTSUP, "%s on %s: %s", s->options.algos, s->options.layer,
                    *said ? said : "the program around the plug-in failed");
}

static int work(void *session)
{
    struct session *s = session;
    char *counts = exp_outdir_file(&s->results.dir, COUNTS), *callgrind = exp_outdir_file(&s->results.dir, CALLGRIND),
         *log = exp_outdir_file(&s->results.dir, LOG), *machine = exp_outdir_file(&s->results.dir, SIM_MACHINE_FILE);
    struct exp_words words = { 0 };
    char last[256] = "";
    int status = 0, err = exp_results_write_machine(&s->results.dir, &s->machine, s->options.machine, &s->why);

    exp_words_split(&words, "sh -c '\"$@\" >/dev/null 2>\"$0\"'");
    exp_words_add(&words, "%s", log);
    exp_words_add(&words, "%s", s->options.cachesim);
    exp_words_split(&words, "--machine");
    exp_words_add(&words, "%s", machine);
    exp_words_split(&words, "--annotate");
    exp_words_add(&words, "%s", counts);
    exp_words_split(&words, "--callgrind");
    exp_words_add(&words, "%s", callgrind);
    exp_words_split(&words, "run --");
    exp_words_add(&words, "%s", s->program);
    add_shape(&words, &s->model.layer[0].problem);
    if (!err && (err = exp_process_run((const char *const *)words.word, s->options.limit + STARTS_S, exp_interrupted,
                                       &status, last, sizeof last)))
        exp_fail(&s->why, err, "%s: %s", s->options.cachesim, strerror(-err));
    if (!err)
        err = read_log(s, log);
    if (!err)
        err = lines_read(&s->lines, counts, s->options.algos, DRIVER, &s->machine, &s->why);
    exp_words_release(&words);
    free(counts);
    free(callgrind);
    free(log);
    free(machine);
    return err;
}

/* ---- results ---- */

static int print_page(const void *session, FILE *out)
{
    const struct session *s = session;

    return lines_print_page(&s->lines, s->what, s->machine.n_levels, out);
}

static int write_tables(void *session)
{
    struct session *s = session;
    int err = rec_write(&lines_table, s->lines.row, s->lines.n, &s->results.dir, s->what, &s->why);

    return err ? err : exp_outdir_write(&s->results.dir, "source.html", print_page, s, &s->why);
}

static double percent(const struct lines *l, const struct line_row *row)
{
    return l->waiting > 0 ? 100 * row->waiting / l->waiting : 0;
}

static void print_answer(const struct session *s, FILE *out)
{
    const struct lines *l = &s->lines;
    const struct line_row *first = &l->row[0];

    if (first->waiting > 0)
        fprintf(out, "%.0f %% of the waiting for loads is in line %llu of %s: %s", percent(l, first),
                (unsigned long long)first->line, exp_last_part(first->file), first->source);
    else
        fprintf(out, "No load of %s misses the first level.", exp_last_part(s->options.algos));
}

static int print_verdict(const void *session, FILE *out)
{
    const struct session *s = session;

    fprintf(out, "%s\n", s->what);
    print_answer(s, out);
    fprintf(out, "\nWaiting is the latency of each missed load, as if no wait was hidden.%s\n",
            s->has_ended_early ? " The run was ended by LIMIT=." : "");
    return 0;
}

static void show(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;
    const struct lines *l = &s->lines;
    const size_t n_levels = s->machine.n_levels < 3 ? s->machine.n_levels : 3;
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    print_answer(s, out);
    fclose(out);
    exp_screen_title(screen, "%s, %s, caches of %s", exp_last_part(s->options.algos), s->options.layer,
                     s->options.machine);
    exp_screen_say(screen, EXP_STRONG, "%s", text);
    free(text);
    exp_screen_note(screen, "what", "waiting: the latency of each missed load, as if no wait was hidden");
    if (s->has_ended_early)
        exp_screen_note(screen, "trust", "the first %u s of the run, under an emulator (LIMIT=)", s->options.limit);
    exp_screen_row(screen, "line");
    exp_screen_cell(screen, EXP_PLAIN, "loads");
    for (size_t k = 0; k < n_levels; k++)
        exp_screen_cell(screen, EXP_PLAIN, "%s misses", s->machine.level[k].name);
    exp_screen_cell(screen, EXP_PLAIN, "waiting");
    for (size_t i = 0; i < l->n && i < EXP_SCREEN_ROWS - 1; i++) {
        const struct line_row *r = &l->row[i];
        const bool is_own = l->own && !strcmp(r->file, l->own);

        if (i && percent(l, r) < 0.05)
            break;
        exp_screen_row(screen, "%s%s%llu  %.*s", is_own ? "" : exp_last_part(r->file), is_own ? "" : ":",
                       (unsigned long long)r->line, 40, r->source);
        exp_screen_cell(screen, EXP_PLAIN, "%.0f", r->loads);
        for (size_t k = 0; k < n_levels; k++)
            exp_screen_cell(screen, EXP_PLAIN, "%.0f", r->misses[k].number);
        exp_screen_cell(screen, i ? EXP_PLAIN : EXP_BAD, "%.1f %%", percent(l, r));
    }
    exp_screen_open(screen, "%s/source.html", s->results.path);
    text = exp_format("cg_annotate %s/" COUNTS, s->results.path);
    exp_screen_next(screen, text, "or kcachegrind");
    free(text);
}

static void print_name(const void *options, FILE *out)
{
    const struct options *o = options;

    exp_results_print_path(exp_last_part(o->algos), out);
    fputc(',', out);
    exp_results_print_path(o->layer, out);
}

static void release(void *session)
{
    struct session *s = session;

    free(s->program);
    lines_release(&s->lines);
    exp_model_release(&s->model);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("ALGO", "one plug-in's C file, such as mine.c (kernels/plugin/README.md)", algos, ""),
    EXP_NAMES("LAYER",
              "one convolution: MODEL:NAME such as vgg16:conv3_1, or a descriptor such as mb1ic64ih56oc64kh3ph1", layer,
              ""),
    EXP_MACHINE_OPTION,
    EXP_TEXT("PLUGIN_CFLAGS", "flags for the compiler, behind those of the plug-in's first comment", plugin_flags, ""),
    EXP_NUMBER("LIMIT", "seconds after which the emulated run is ended (default 60); what it has done is counted",
               limit, 60, 1, 100000),
    EXP_FOLDER("RESULTS", "folder for results (default results); this goes to RESULTS/<machine>/annotate/", results,
               "results"),
    EXP_MORE_OPTION,
    EXP_COMMIT_OPTION,
    EXP_MADE_PATH("CACHESIM", "path of cachesim (the Makefile knows)", cachesim),
    EXP_OPTIONS_END,
};

const struct exp_question question_annotate = {
    .name = "annotate",
    .asks = "Which source line of a plug-in misses? By line, for cg_annotate and a browser",
    .wants = { "kernels: see which source line of a kernel misses|make annotate ALGO=mine.c LAYER=vgg16:conv3_1 "
               "MACHINE=zen3" },
    .takes = "Seconds to a minute: an emulator runs the layer once, with the tensors in the caches. Its code is x86 "
             "without AVX-512.",
    .examples = { "make annotate ALGO=mine.c LAYER=squeezenet:fire2/expand3x3 MACHINE=zen3" },
    .needs = { "ALGO=mine.c", "LAYER=vgg16:conv3_1" },
    .watches = "lines",
    .options = options,
    .place = &(const struct exp_results_layout){ "/annotate", false, "lines.csv", print_name },
    .chapter = { "lines.csv", "misses by source line", NULL },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .machine_at = offsetof(struct session, machine),
    .tables = { &lines_table },
    .check = check,
    .prepare = prepare,
    .work = work,
    .write = write_tables,
    .verdict = print_verdict,
    .screen = show,
    .release = release,
};
