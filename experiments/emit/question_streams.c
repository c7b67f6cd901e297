/*
 * Compares what generated code does to the tensors, seen under an emulator, with the replay of its plan: each form of
 * the code of some layers. `make streams` builds what it needs and runs it; `sconv-streams --help` lists the options.
 */
#include <errno.h>
#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/emit/exp_emit_observe.h"
#include "experiments/emit/exp_emit_plans.h"
#include "experiments/observe/exp_guest.h"
#include "experiments/setup/exp_main.h"

static const struct exp_results_layout layout = { "/streams", false, "streams.csv", exp_emit_print_code };

static struct exp_results_place place_of(const struct exp_emit_options *o)
{
    return (struct exp_results_place){ .layout = &layout,
                                       .options = o,
                                       .results = o->results,
                                       .model = o->model,
                                       .layers = o->layers,
                                       .machine = o->machine };
}

struct session {
    struct exp_emit_options options;
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
    int err = exp_results_find(&s->results, place_of(&s->options), watch->machine, NULL, 0, &s->why);

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

#define OPTIONS struct exp_emit_options

static const struct exp_option options[] = {
    EXP_EMIT_LAYER_OPTION,
    EXP_NAMES("MODEL",
              "in place of LAYER: names, layer tables, or what else experiment takes (experiments/models/README.md), "
              "comma-separated (default: some short layers, experiments/emit/streams.csv)",
              model, "experiments/emit/streams.csv"),
    EXP_LAYERS_OPTION,
    EXP_EMIT_PLAN_OPTION,
    EXP_NAMES("MACHINE",
              "machine that is planned for and simulated: clx4208 (default), host, another name in sim/machines, or "
              "the path of a .cfg file",
              machine, "clx4208"),
    EXP_EMIT_ALGO_OPTION,
    EXP_TEXT("UKR",
             "SConv's micro-kernel, or an instruction set (default f32_16x6__avx2: the emulator runs no wider vectors)",
             ukr, ""),
    EXP_CORE_OPTION,
    EXP_EMIT_RESULTS_OPTION,
    EXP_GUEST_OPTIONS,
    EXP_OPTIONS_END,
};

const struct exp_question question_streams = {
    .name = "streams",
    .program = "sconv-streams",
    .is_for_developers = true,
    .asks = "What generated code does to the tensors, beside the replay of its plan",
    .takes = "The code is observed under an emulator: 1 minute.",
    .examples = { "make streams MODEL=squeezenet LAYERS='fire2/*'" },
    .installs = "emulation",
    .watches = "code",
    .options = options,
    .place = &layout,
    EXP_SESSION(struct session),
    .document = document,
    .run = run,
    .release = release,
};
