/*
 * A user's module of MLIR with its convolutions sliced as CSA decides, and everything else unchanged. A separate
 * program, not a question of bench, because it is built where MLIR's libraries are. `sconv-opt --help` lists the
 * options.
 */
#include <errno.h>
#include <mlir-c/RegisterEverything.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/outdir.h"
#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/case/machine.h"
#include "experiments/emit/opt_conv.h"
#include "kernels/emit/plan_json.h"
#include "kernels/ukr/dispatch.h"

struct options {
    const char *in, *machine, *ukr, *out, *results;
    bool analyses;
};

struct session {
    struct options options;
    struct opt_planner planner;
    struct opt_module module;
    struct opt_convs found;
    struct conv_layer_plans plans; /* of the convolutions to slice */
    struct exp_why why;
};

/* ---- the user's options ---- */

static int find_ukr(struct opt_planner *p, const char *name, struct exp_why *why)
{
    enum cpu_isa isa;

    if (!*name)
        return 0;
    p->ukr = conv_ukr_find(name);
    if (!p->ukr && sim_cpu_isa_find(name, &isa))
        p->ukr = conv_ukr_of(isa);
    return p->ukr ? 0 : exp_fail(why, -EINVAL, "UKR: unknown micro-kernel or instruction set '%s'", name);
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    int err = find_ukr(&s->planner, o->ukr, &s->why);

    if (!err && !*o->in)
        err = exp_fail(&s->why, -EINVAL, "there is no module: sconv-opt net.mlir");
    s->planner.has_machine = *o->machine;
    if (!err && s->planner.has_machine)
        err = exp_machine_find(&s->planner.machine, o->machine, o->results, &s->why);
    if (!err)
        err = opt_module_read(&s->module, o->in, &s->why);
    if (!err)
        s->found = opt_convs_find(&s->module);
    return err;
}

/* ---- the work ---- */

static void leave(const struct session *s, const struct opt_conv *c, const char *reason)
{
    char *name = opt_name_of(c->op);

    opt_module_remark(&s->module, c->op, "'%s' is left as it is: %s", name, reason);
    free(name);
}

/* Plans a convolution, and slices it unless only plans are wanted. */
static int do_one(struct session *s, const struct opt_conv *c)
{
    struct conv_layer_plan plan = { 0 };
    struct exp_why why = c->why;
    int err = *why.text ? -EINVAL : opt_conv_plan(c, &s->planner, &plan, &why);

    if (!err) {
        char *place = opt_place_of(&s->module, mlirOperationGetLocation(c->op));

        plan.layer = place;
        if (conv_plans_add(&s->plans, &plan))
            exp_fail(&s->why, -ENOMEM, "out of memory");
        free(place);
    }
    free((void *)plan.machine);
    if (!err && !s->options.analyses)
        err = opt_conv_slice(&s->module, c, &plan.plan, &why);
    if (err)
        leave(s, c, why.text);
    return err;
}

static int print_json(void *session, FILE *out)
{
    struct session *s = session;

    return conv_plans_print(s->plans.plan, s->plans.n, out) ? exp_fail(&s->why, -ENOMEM, "out of memory") : 0;
}

static int print_module(void *session, FILE *out)
{
    opt_module_print(&((struct session *)session)->module, out);
    return 0;
}

static int work(void *session)
{
    struct session *s = session;
    size_t n_done = 0;
    int err;

    if (!s->options.analyses)
        mlirRegisterAllPasses();
    for (size_t i = 0; i < s->found.n; i++)
        n_done += !do_one(s, &s->found.conv[i]);
    if (!opt_module_verifies(&s->module))
        return exp_fail(&s->why, -EINVAL, "nothing is written: %s", s->module.said.text);
    err = exp_file_write(s->options.out, s->options.analyses ? print_json : print_module, s, &s->why);
    if (!err)
        fprintf(stderr, "sconv-opt: %zu of %zu convolution%s %s\n", n_done, s->found.n, s->found.n == 1 ? "" : "s",
                s->options.analyses ? "planned" : "sliced");
    return err;
}

static void release(void *session)
{
    struct session *s = session;

    free(s->found.conv);
    conv_plans_release(&s->plans);
    opt_module_release(&s->module);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_PATH("IN", "a file of MLIR; its name may stand alone, too", in, ""),
    EXP_NAMES("MACHINE",
              "machine to plan for: host, a name in sim/machines, or the path of a .cfg file (default: that of the "
              "module's dlti.target_system_spec)",
              machine, ""),
    EXP_TEXT("UKR",
             "micro-kernel whose tile is taken, such as f32_16x24__avx512, or an instruction set (default: by the "
             "spec's max_vector_op_width, else the machine's, else this computer's)",
             ukr, ""),
    EXP_PATH("OUT", "file that is written, -o for short (default: standard output)", out, ""),
    EXP_FOLDER("RESULTS", "folder where make calibrate left what it measured of this computer (default results)",
               results, "results"),
    EXP_FLAG("--analyse", "print the plans as JSON, as sconv-plan does, in place of the module", analyses),
    EXP_OPTIONS_END,
};

static const struct exp_question question = {
    .name = "opt",
    .program = "sconv-opt",
    .asks = "A module of MLIR with its convolutions sliced",
    .options = options,
    EXP_SESSION(struct session),
    .prepare = prepare,
    .work = work,
    .release = release,
};

/* Lets `sconv-opt net.mlir -o sliced.mlir` mean IN=net.mlir OUT=sliced.mlir. */
int main(int argc, char **argv)
{
    struct exp_words words = { 0 };
    int status;

    for (int i = 0; i < argc; i++) {
        bool is_out = i && !strcmp(argv[i], "-o") && i + 1 < argc;
        bool is_option = !i || *argv[i] == '-' || strchr(argv[i], '=');

        if (is_out)
            exp_words_add(&words, "OUT=%s", argv[++i]);
        else if (is_option)
            exp_words_add(&words, "%s", argv[i]);
        else
            exp_words_add(&words, "IN=%s", argv[i]);
    }
    status = exp_main(&question, (int)words.n, words.word);
    exp_words_release(&words);
    return status;
}
