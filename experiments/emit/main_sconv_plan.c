/*
 * CSA as a service: what it decides for layers on a machine, as lines for people or as JSON for other compilers.
 * `sconv-plan --help` lists the options.
 */
#include <errno.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/emit/exp_emit_plans.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_plan_text.h"
#include "kernels/emit/plan_json.h"

struct session {
    struct exp_options options;
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

static int run(void *session)
{
    struct session *s = session;
    int err;

    if (s->options.describes) {
        conv_plan_schema_print(stdout);
        return 0;
    }
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

int main(int argc, char **argv)
{
    static const struct exp_main course = { .program = EXP_PLAN, .run = run, .release = release };
    struct session s = { .why = { "" } };

    return exp_main(&course, &s, &s.options, &s.why, argc, argv);
}
