/*
 * CSA as a service: what it decides for layers on a machine, as lines for people or as JSON for other compilers.
 * `sconv-plan --help` lists the options.
 */
#include <errno.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/emit/exp_emit_plans.h"
#include "experiments/setup/exp_case.h"
#include "experiments/setup/exp_main.h"
#include "kernels/emit/plan_json.h"

struct session {
    struct exp_emit_options options;
    struct exp_emit_plans plans;
    struct exp_why why;
};

static int print_json(void *session, FILE *out)
{
    struct session *s = session;
    char *text;

    if (conv_plans_to_json(s->plans.noted.plan, s->plans.noted.n, &text))
        return exp_fail(&s->why, -ENOMEM, "out of memory");
    fprintf(out, "%s\n", text);
    free(text);
    return 0;
}

static int print_lines(void *session, FILE *out)
{
    const struct session *s = session;

    for (size_t i = 0; i < s->plans.noted.n; i++) {
        const struct conv_noted_plan *n = &s->plans.noted.plan[i];
        char text[EXP_PLAN_TEXT_BYTES];

        exp_plan_text(&n->plan, text);
        fprintf(out, "%-28s %s\n", n->layer, text);
    }
    return 0;
}

static int print_schema(void *session)
{
    (void)session;
    conv_plan_schema_print(stdout);
    return 0;
}

static int run(void *session)
{
    struct session *s = session;
    int err;

    err = exp_emit_plans_make(&s->plans, &s->options, &s->why);
    return err ? err
               : exp_file_write(s->options.out, s->options.is_json || s->options.format ? print_json : print_lines, s,
                                &s->why);
}

static void release(void *session)
{
    struct session *s = session;

    exp_emit_plans_release(&s->plans);
}

#define OPTIONS struct exp_emit_options

static const struct exp_option options[] = {
    EXP_EMIT_MODELS_OPTIONS,
    EXP_MACHINE_OPTION,
    EXP_EMIT_ALGO_OPTION,
    EXP_KERNEL_OPTIONS,
    EXP_EMIT_OUT_OPTIONS,
    EXP_WORD("FORMAT", "text (default), or json: what experiment and sconv-gen take as PLAN", format, 0, "text",
             "json"),
    EXP_EMIT_RESULTS_OPTION,
    EXP_FLAG("--json", "the same as FORMAT=json", is_json),
    EXP_QUERY("--schema", "print the keys of plans as JSON, and what they mean", describes),
    EXP_OPTIONS_END,
};

const struct exp_question question_plan = {
    .name = "plan",
    .program = "sconv-plan",
    .asks = "CSA's plans of layers: tiles, schedule, predicted lines",
    .takes = "Milliseconds for a layer, once build/sconv-plan is built.",
    .examples = { "make plan LAYER=vgg16:conv3_1 MACHINE=clx4208",
                  "make plan MODEL=vgg16 MACHINE=clx4208 FORMAT=json OUT=plans.json" },
    .needs = { "LAYER|MODEL=vgg16:conv3_1" },
    .options = options,
    EXP_SESSION(struct session),
    .query = print_schema,
    .run = run,
    .release = release,
};
