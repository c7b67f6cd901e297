/*
 * Compares two runs of an experiment: of two commits, machines or days. `compare --help` lists the options; the
 * Makefile passes the options on. Exit status: 0; 1 if a condition of FAIL_IF is met; 2 for bad input or an error.
 */

#include "experiments/compare/compare.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/course/output.h"

struct options {
    const char *run_a, *run_b, *fail_if, *results, *commit;
    unsigned more;
};

/* Names the two compared folders. */
static void print_pair(const void *options, FILE *out)
{
    const struct options *o = options;

    exp_results_print_path(o->run_a, out);
    fputs("..", out);
    exp_results_print_path(o->run_b, out);
}

struct session {
    struct options options;
    struct exp_compare_conditions conditions;
    struct exp_two_runs comparison;
    struct exp_results results;
    size_t n_met;
    char what[512];
    struct exp_why why;
};

enum { EXIT_CONDITION_MET = 1 };

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    int err = exp_compare_conditions_read(&s->conditions, o->fail_if, &s->why);

    exp_say(s->what, sizeof s->what, "A: %s; B: %s", o->run_a, o->run_b);
    if (!err)
        err = exp_two_runs_compare(&s->comparison, o->run_a, o->run_b, &s->why);
    return err ? err : exp_compare_conditions_check(&s->conditions, &s->comparison, &s->why);
}

static int write_table(void *session)
{
    struct session *s = session;

    return exp_compare_write_table(&s->comparison, &s->results.dir, s->options.commit, &s->why);
}

static int write_page(void *session)
{
    struct session *s = session;
    char headline[512];

    exp_compare_headline(&s->comparison, headline, sizeof headline);
    return exp_compare_write_page(&s->comparison, &s->conditions, headline, &s->results.dir, &s->why);
}

static int print_verdict(const void *session, FILE *out)
{
    const struct session *s = session;
    char headline[512];

    exp_compare_headline(&s->comparison, headline, sizeof headline);
    fprintf(out, "%s\n", headline);
    return 0;
}

static int answer(void *session)
{
    struct session *s = session;

    printf("tables\n  %s/" EXP_COMPARE_FILE "\n  %s/compare.html\n", s->results.path, s->results.path);
    print_verdict(s, stdout);
    s->n_met = exp_compare_print(&s->comparison, &s->conditions, stdout);
    return 0;
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;

    exp_compare_screen(&s->comparison, &s->conditions, screen);
    exp_screen_open(screen, "%s/compare.html", s->results.path);
    exp_screen_next(screen, "FAIL_IF='speedup<-3%' behind this command", "exit status 1 if B is slower");
    exp_screen_next(screen, "MORE=1 behind this command", "every metric: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    exp_two_runs_release(&((struct session *)session)->comparison);
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
    EXP_MORE_OPTION,
    EXP_FOLDER("RESULTS",
               "folder for results (default results); this goes to RESULTS/host/compare/<A>..<B>/, with ~ for /",
               results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_compare = {
    .name = "compare",
    .asks = "In what do two runs differ? Metric by metric, with tests",
    .wants = { "results: know in what two runs differ|make compare A=before/host/vgg16 B=results/host/vgg16" },
    .takes = "Two seconds. The exit status is 1 if a condition of FAIL_IF holds.",
    .examples = { "make compare A=before/host/vgg16 B=results/host/vgg16 FAIL_IF='speedup<-3%'" },
    .needs = { "A=results/host/vgg16", "B=before/host/vgg16" },
    .figures = { "compare_layers" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/compare", false, "compare.csv", print_pair },
    .chapter = { "compare.csv", "two runs compared", NULL },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .tables = { &exp_compare_table },
    .prepare = prepare,
    .prepares_from_files = true,
    .write = write_table,
    .verdict = print_verdict,
    .page = write_page,
    .answer = answer,
    .screen = fill_screen,
    .release = release,
    .status = status,
};
