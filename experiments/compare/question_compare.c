/*
 * Compares two runs of an experiment: of two commits, machines or days. `compare --help` lists the options; the Makefile
 * passes them on. Exit status: 0; 1 if a condition of FAIL_IF is met; 2 for bad input or an error.
 */
#include <errno.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/compare/exp_compare.h"
#include "experiments/compare/exp_compare_report.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_options_shared.h"

extern const struct exp_question question_compare;

struct options {
    const char *run_a, *run_b, *fail_if, *results, *commit;
};

/* Names two folders that are compared. */
static void print_pair(const void *options, FILE *out)
{
    const struct options *o = options;

    exp_results_print_path(o->run_a, out);
    fputs("..", out);
    exp_results_print_path(o->run_b, out);
}

static const struct exp_results_layout layout = { "/compare", false, "compare.csv", print_pair };

static struct exp_results_place place_of(const struct options *o)
{
    return (struct exp_results_place){ .layout = &layout, .options = o, .results = o->results };
}

struct session {
    struct options options;
    struct exp_compare_conditions conditions;
    struct exp_two_runs comparison;
    struct exp_results results;
    size_t n_met;
    struct exp_why why;
};

enum { EXIT_CONDITION_MET = 1 };

static int prepare(struct session *s)
{
    const struct options *o = &s->options;
    int err = exp_compare_conditions_read(&s->conditions, o->fail_if, &s->why);

    if (!err)
        err = exp_two_runs_compare(&s->comparison, o->run_a, o->run_b, &s->why);
    if (!err)
        err = exp_compare_conditions_check(&s->conditions, &s->comparison, &s->why);
    if (!err)
        err = exp_results_find(&s->results, place_of(o), NULL, NULL, 0, &s->why);
    return err ? err : exp_results_open(&s->results, &s->why);
}

static int draw(struct session *s)
{
    char what[512];
    const struct exp_main_figures f = { .results = &s->results, .what = what };

    exp_say(what, sizeof what, "A: %s; B: %s", s->options.run_a, s->options.run_b);
    return exp_main_draw(&question_compare, &f, &s->why);
}

static int run(void *session)
{
    struct session *s = session;
    int err = prepare(s), drawn;

    if (!err)
        err = exp_compare_write_table(&s->comparison, &s->results.dir, s->options.commit, &s->why);
    if (err)
        return err;
    drawn = draw(s);
    err = exp_compare_write_page(&s->comparison, &s->conditions, &s->results.dir, &s->why);
    if (!err)
        err = exp_results_commit(&s->results, &s->why);
    if (err)
        return err;
    printf("tables\n  %s/" EXP_COMPARE_FILE "\n  %s/compare.html\n", s->results.path, s->results.path);
    s->n_met = exp_compare_print(&s->comparison, &s->conditions, stdout);
    return exp_program_drawn(drawn, &s->why);
}

static void release(void *session)
{
    struct session *s = session;

    exp_results_release(&s->results);
    exp_two_runs_release(&s->comparison);
}

static int status(const void *session)
{
    return ((const struct session *)session)->n_met ? EXIT_CONDITION_MET : 0;
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_PATH("A", "folder of one model's results, such as results/host/vgg16", run_a, ""),
    EXP_PATH("B", "folder of other results of the same layers", run_b, ""),
    EXP_TEXT("FAIL_IF",
             "conditions that end the program with status 1: FAIL_IF='speedup<-3%,layer.l1_misses>0%' "
             "(experiments/compare/README.md)",
             fail_if, ""),
    EXP_FOLDER("RESULTS",
               "folder for results (default results); this goes to RESULTS/host/compare/<A>..<B>/, with ~ for /",
               results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_compare = {
    .name = "compare",
    .asks = "In what do two runs differ? Metric by metric, with tests",
    .takes = "Two seconds. The exit status is 1 if a condition of FAIL_IF holds.",
    .examples = { "make compare A=before/host/vgg16 B=results/host/vgg16 FAIL_IF='speedup<-3%'" },
    .needs = { "A=results/host/vgg16", "B=before/host/vgg16" },
    .figures = { "compare_layers" },
    .options = options,
    .place = &layout,
    .chapter = { "compare.csv", "two runs compared", NULL },
    EXP_SESSION(struct session),
    .document = exp_compare_document,
    .run = run,
    .release = release,
    .status = status,
};
