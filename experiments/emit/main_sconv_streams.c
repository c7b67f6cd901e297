/*
 * What generated code does to the tensors, seen under an emulator, beside the replay of its plan: each form of the code
 * of some layers. `make streams` builds what it needs and runs it; `sconv-streams --help` lists the options.
 */
#include <errno.h>
#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/emit/exp_emit_observe.h"
#include "experiments/emit/exp_emit_plans.h"
#include "experiments/observe/exp_guest.h"
#include "experiments/setup/exp_main.h"

struct session {
    struct exp_options options;
    struct exp_emit_plans plans;
    struct exp_results results;
    struct exp_why why;
};

static int observe_all(struct session *s, const struct exp_emit_watch *watch, struct exp_csv *csv)
{
    const struct conv_noted_plans *noted = &s->plans.noted;
    int err = 0;

    for (size_t i = 0; i < noted->n && !err; i++) {
        if (conv_plans_find(noted, &noted->plan[i].plan.problem) == &noted->plan[i])
            err = exp_emit_observe_forms(&noted->plan[i], watch, csv, &s->why);
        if (exp_interrupted())
            err = exp_fail(&s->why, -EINTR, "interrupted");
    }
    return err;
}

static int write_results(struct session *s, const struct exp_emit_watch *watch)
{
    struct exp_csv *csv = NULL;
    int err = exp_results_find(&s->results, EXP_STREAMS, &s->options, watch->machine, NULL, 0, &s->why);

    if (!err)
        err = exp_results_open(&s->results, &s->why);
    if (!err)
        err = exp_csv_create(&csv, &s->results.dir, &exp_emit_observe_file,
                             "what generated code does to the tensors, beside the replay of its plan", &s->why);
    if (err)
        return err;
    exp_csv_header(csv, "planned for, and simulated", "%s", watch->machine->name);
    exp_csv_header(csv, "observed", "%s", exp_emulator_for(s->plans.noted.plan[0].plan.ukr)->source);
    err = observe_all(s, watch, csv);
    if (err)
        exp_csv_close(csv, NULL);
    else
        err = exp_csv_close(csv, &s->why);
    return err ? err : exp_results_commit(&s->results, &s->why);
}

static void document(FILE *out)
{
    exp_csv_document(&exp_emit_observe_file, out);
}

static int run(void *session)
{
    struct session *s = session;
    const struct exp_emit_watch watch = { s->options.observer, s->options.guest, &s->plans.setup.machine };
    const char *why_not = NULL;
    int err;

    if (!*s->options.ukr)
        s->options.ukr = "f32_16x6__avx2"; /* what the emulator runs */
    err = exp_emit_plans_make(&s->plans, &s->options, &s->why);
    if (err)
        return err;
    for (size_t i = 0; i < s->plans.noted.n && !why_not; i++)
        why_not = exp_emit_why_not_observed(&watch, &s->plans.noted.plan[i].plan);
    return why_not ? exp_fail(&s->why, -ENOTSUP, "%s", why_not) : write_results(s, &watch);
}

static void release(void *session)
{
    struct session *s = session;

    exp_results_release(&s->results);
    exp_emit_plans_release(&s->plans);
}

int main(int argc, char **argv)
{
    static const struct exp_main course = {
        .program = EXP_STREAMS, .document = document, .run = run, .release = release
    };
    struct session s = { .why = { "" } };

    return exp_main(&course, &s, &s.options, &s.why, argc, argv);
}
