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

struct session {
    struct exp_options options;
    struct exp_compare_conditions conditions;
    struct exp_two_runs comparison;
    struct exp_results results;
    size_t n_met;
    struct exp_why why;
};

enum { EXIT_CONDITION_MET = 1 };

static const char *const figures[] = { "compare_layers" };

static int prepare(struct session *s)
{
    const struct exp_options *o = &s->options;
    int err = exp_compare_conditions_read(&s->conditions, o->fail_if, &s->why);

    if (!err && (!*o->run_a || !*o->run_b))
        err = exp_fail(&s->why, -EINVAL, "%s is missing: give two folders, A=results/host/vgg16 B=...",
                       *o->run_a ? "B" : "A");
    if (!err)
        err = exp_two_runs_compare(&s->comparison, o->run_a, o->run_b, &s->why);
    if (!err)
        err = exp_compare_conditions_check(&s->conditions, &s->comparison, &s->why);
    if (!err)
        err = exp_results_find(&s->results, EXP_COMPARE, o, NULL, NULL, 0, &s->why);
    return err ? err : exp_results_open(&s->results, &s->why);
}

static int draw(struct session *s)
{
    char what[512];
    const struct exp_main_figures f = { .program = EXP_COMPARE,
                                        .results = &s->results,
                                        .figure = figures,
                                        .n_figures = sizeof figures / sizeof figures[0],
                                        .what = what };

    exp_say(what, sizeof what, "A: %s; B: %s", s->options.run_a, s->options.run_b);
    return exp_main_draw(&f, &s->why);
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

int main(int argc, char **argv)
{
    static const struct exp_main course = {
        .program = EXP_COMPARE, .document = exp_compare_document, .run = run, .release = release
    };
    struct session s = { .why = { "" } };
    const int status = exp_main(&course, &s, &s.options, &s.why, argc, argv);

    return status ? status : s.n_met ? EXIT_CONDITION_MET : 0;
}
