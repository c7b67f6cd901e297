/*
 * The code of layers as text, as SConv plans them: one function per layer, in one file. `sconv-gen --help` lists the
 * options.
 */
#include <errno.h>
#include <stdlib.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_pin.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_program.h"
#include "experiments/emit/exp_emit_build.h"
#include "experiments/emit/exp_emit_check.h"
#include "experiments/emit/exp_emit_plans.h"
#include "experiments/emit/exp_emit_time.h"
#include "experiments/emit/exp_emit_weights.h"
#include "experiments/setup/exp_main.h"

static const struct exp_results_layout layout = { "/emit", false, "code.csv", exp_emit_print_code };

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
    float *filters; /* that become constants; NULL: none */
    struct exp_results results;
    struct exp_why why;
};

/* Returns what FUSE says: its words are the activations, without a bias and with one. */
static struct conv_fusion fusion(const struct session *s)
{
    return (struct conv_fusion){ s->options.fuse >= CONV_N_ACTIVATIONS,
                                 (enum conv_activation)(s->options.fuse % CONV_N_ACTIVATIONS) };
}

static int print(void *session, FILE *out)
{
    struct session *s = session;
    const struct conv_c_options options = { s->filters, fusion(s) };

    return exp_emit_print((enum exp_emit_what)s->options.emit, s->plans.noted.plan, s->plans.noted.n, &options, out,
                          &s->why);
}

/* Layers of one shape have the same code. */
static bool is_repeated(const struct session *s, size_t i)
{
    return conv_plans_find(&s->plans.noted, &s->plans.noted.plan[i].plan.problem) != &s->plans.noted.plan[i];
}

static int check(struct session *s)
{
    const char *why_not = exp_emit_why_no_compiler((enum exp_emit_what)s->options.emit);
    const struct conv_fusion after = fusion(s);
    size_t n = 0;
    double longest = 0, sum = 0;

    if (why_not)
        return exp_fail(&s->why, -EINVAL, "%s", why_not);
    for (size_t i = 0; i < s->plans.noted.n; i++) {
        double seconds = 0;
        int err = exp_interrupted() ? exp_fail(&s->why, -EINTR, "interrupted") : 0;

        if (!err && !is_repeated(s, i)) {
            err =
                exp_emit_check((enum exp_emit_what)s->options.emit, &s->plans.noted.plan[i], &after, &seconds, &s->why);
            n++;
        }
        if (err)
            return err;
        sum += seconds;
        longest = seconds > longest ? seconds : longest;
    }
    printf("%zu layer%s, %zu shape%s: generated, compiled and right; %.2f s a shape to compile, %.2f s the longest\n",
           s->plans.noted.n, s->plans.noted.n == 1 ? "" : "s", n, n == 1 ? "" : "s", sum / (double)n, longest);
    return 0;
}

/* ---- timing ---- */

static int time_all(struct session *s, struct exp_csv *csv)
{
    int err = 0;

    for (size_t i = 0; i < s->plans.noted.n && !err; i++) {
        if (!is_repeated(s, i))
            err = exp_emit_time(&s->plans.noted.plan[i], s->options.time, csv, &s->why);
    }
    return err;
}

static int time_into_results(struct session *s)
{
    char cpu[256];
    struct exp_csv *csv = NULL;
    int err = exp_results_find(&s->results, place_of(&s->options), &s->plans.setup.machine, NULL, 0, &s->why);

    if (!err && ctr_pin(-1, NULL, s->why.text, sizeof s->why.text))
        fprintf(stderr, "sconv-gen: not pinned: %s\n", s->why.text);
    ctr_hostinfo_cpu(cpu, sizeof cpu);
    if (!err)
        err = exp_results_open(&s->results, &s->why);
    if (!err)
        err = exp_csv_create(&csv, &s->results.dir, &exp_emit_time_file, "generated code beside the library", &s->why);
    if (err)
        return err;
    exp_csv_header(csv, "computer", "%s; one thread, its own time; %u rounds", cpu, s->options.time);
    exp_csv_header(csv, "planned for", "%s", s->plans.setup.machine.name);
    err = time_all(s, csv);
    if (err)
        exp_csv_close(csv, NULL);
    else
        err = exp_csv_close(csv, &s->why);
    return err ? err : exp_results_commit(&s->results, &s->why);
}

static void document(FILE *out)
{
    exp_csv_document(&exp_emit_time_file, out);
}

static int run(void *session)
{
    struct session *s = session;
    int err = exp_emit_plans_make(&s->plans, &s->options, &s->why);

    if (!err && *s->options.weights)
        err = exp_emit_weights_read(&s->filters, (enum exp_emit_what)s->options.emit, s->options.weights,
                                    &s->plans.noted, &s->why);
    if (err)
        return err;
    if (s->options.time)
        return time_into_results(s);
    return s->options.check ? check(s) : exp_file_write(s->options.out, print, s, &s->why);
}

static void release(void *session)
{
    struct session *s = session;

    free(s->filters);
    exp_results_release(&s->results);
    exp_emit_plans_release(&s->plans);
}

#define OPTIONS struct exp_emit_options

static const struct exp_option options[] = {
    EXP_EMIT_MODELS_OPTIONS,
    EXP_EMIT_PLAN_OPTION,
    EXP_MACHINE_OPTION,
    EXP_EMIT_ALGO_OPTION,
    EXP_KERNEL_OPTIONS,
    EXP_WORD("EMIT",
             "c (default): C for this computer's compiler; mlir: affine loops, packing by vector.shuffle, "
             "micro-kernels of vector.outerproduct; mlir_external: the same with micro-kernels elsewhere; mlir_linalg: "
             "linalg.conv_2d_nchw_fchw and a script of transforms that tiles and packs it",
             emit, 0, EXP_EMIT_NAMES),
    EXP_WORD("FUSE",
             "what is applied to each tile of outputs while it is in L1, as libsconv does: none (default), relu, "
             "relu6, bias, bias_relu, bias_relu6; EMIT=c",
             fuse, 0, "none", "relu", "relu6", "bias", "bias_relu", "bias_relu6"),
    EXP_PATH("WEIGHTS",
             "a file of the layer's filters, as floats in this computer's order: they become packed constants (at most "
             "262144)",
             weights, ""),
    EXP_WORD("CHECK",
             "1: the code of each layer is compiled, run and compared with plain loops, and nothing is printed but how "
             "that went; 0 (default)",
             check, 0, "0", "1"),
    EXP_NUMBER("TIME",
               "rounds: the code of each layer, in all forms, is timed beside the library that executes the same plan "
               "(code.csv in RESULTS/<machine>/emit/<LAYER, PLAN or MODEL>/); 0 (default): none",
               time, 0, 0, 1000000),
    EXP_EMIT_OUT_OPTIONS,
    EXP_EMIT_RESULTS_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_gen = {
    .name = "gen",
    .program = "sconv-gen",
    .asks = "The code of plans, as C or MLIR",
    .takes = "Less than a second for a layer, once build/sconv-gen is built.",
    .examples = { "make gen LAYER=vgg16:conv5_1 MACHINE=clx4208 OUT=conv5_1.c",
                  "make gen PLAN=plans.json EMIT=mlir OUT=plans.mlir" },
    .needs = { "LAYER|MODEL|PLAN=vgg16:conv3_1" },
    .options = options,
    .place = &layout,
    EXP_SESSION(struct session),
    .document = document,
    .run = run,
    .release = release,
};
