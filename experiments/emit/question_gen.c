/*
 * The code of layers as text, as SConv plans them: one function per layer, in one file. `sconv-gen --help` lists the
 * options.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_pin.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_program.h"
#include "experiments/emit/exp_emit_build.h"
#include "experiments/emit/exp_emit_plans.h"
#include "experiments/emit/exp_emit_text.h"
#include "experiments/emit/exp_emit_try.h"
#include "experiments/setup/exp_main.h"
#include "kernels/backend/backend.h"
#include "kernels/nest/nest.h"

/* A layer's filters from a file: they become constants of its code. */

/* A compiler takes minutes for more. */
enum { MOST_WEIGHTS = 1 << 18 };

static int check_constants(enum exp_emit_constants constants, const struct conv_noted_plans *plans, size_t n,
                           struct exp_why *why)
{
    if (constants == EXP_EMIT_NO_CONSTANTS)
        return exp_fail(why, -EINVAL,
                        "WEIGHTS: filters become constants of C and of linalg only: EMIT=c or EMIT=mlir_linalg");
    if (plans->n != 1)
        return exp_fail(why, -EINVAL, "WEIGHTS: a file is for one layer, these are %zu; LAYER= chooses one", plans->n);
    if (plans->plan[0].plan.sconv.options.packs_filters)
        return exp_fail(why, -EINVAL, "WEIGHTS: layer '%s' packs its filters at run time", plans->plan[0].layer);
    if (n <= MOST_WEIGHTS)
        return 0;
    return exp_fail(why, -EINVAL,
                    "WEIGHTS: layer '%s' has %zu, at most %d become constants; without WEIGHTS a function packs them",
                    plans->plan[0].layer, n, MOST_WEIGHTS);
}

static int read_floats(float *x, size_t n, const char *path, struct exp_why *why)
{
    FILE *in = fopen(path, "rb");
    size_t found;
    int more;

    if (!in)
        return exp_fail(why, -errno, "cannot open '%s': %s", path, strerror(errno));
    found = fread(x, sizeof *x, n, in);
    more = getc(in);
    fclose(in);
    for (size_t i = 0; i < found; i++) {
        if (!isfinite(x[i]))
            return exp_fail(why, -EINVAL, "%s: float %zu is %g, constants must be finite", path, i, (double)x[i]);
    }
    if (found == n && more == EOF)
        return 0;
    return exp_fail(why, -EINVAL, "%s: has %s bytes than the layer's filters, which are %zu", path,
                    found == n ? "more" : "fewer", n * sizeof *x);
}

/* Packs filters as the plan wants them, in their place. */
static int pack(float **filters, const struct conv_plan *plan, struct exp_why *why)
{
    float *packed = calloc(plan->layout.bytes[CONV_FILTER] / sizeof(float), sizeof *packed);
    struct conv_binding bind = { { 0 } };
    struct conv_exec exec;
    int err;

    if (!packed)
        return exp_fail(why, -ENOMEM, "out of memory");
    bind.addr[CONV_FILTER] = (uintptr_t)*filters;
    bind.addr[CONV_PACKED_FILTER] = (uintptr_t)packed;
    conv_exec_init(&exec, plan, &bind);
    err = conv_nest_pack_filters(plan, &exec.base);
    free(*filters);
    *filters = packed;
    return err;
}

/*
 * Reads the [k][c / groups][r][s] floats of the only plan into *filters, from malloc, and packs them if the form's
 * constants are packed. Returns 0; -EINVAL for a form without constants, several plans, a file of another size, or too
 * many floats; -errno of reading; -ENOMEM; with one line in why and *filters NULL.
 */
static int exp_emit_weights_read(float **filters, enum exp_emit_what what, const char *path,
                                 const struct conv_noted_plans *plans, struct exp_why *why)
{
    enum exp_emit_constants constants = exp_emit_constants(what);
    const struct conv_plan *plan = &plans->plan[0].plan;
    size_t n = plan->layout.bytes[CONV_FILTER] / sizeof(float);
    int err = check_constants(constants, plans, n, why);

    *filters = NULL;
    if (err)
        return err;
    *filters = calloc(n, sizeof **filters);
    err = *filters ? read_floats(*filters, n, path, why) : exp_fail(why, -ENOMEM, "out of memory");
    if (!err && constants == EXP_EMIT_PACKED_FILTERS)
        err = pack(filters, plan, why);
    if (!err)
        return 0;
    free(*filters);
    *filters = NULL;
    return err;
}

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
