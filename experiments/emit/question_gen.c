/*
 * The code of layers as text, as SConv plans the layers: a function per layer, in one file; or compiled and checked
 * against plain loops, or timed. `sconv-gen --help` lists the options.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_pin.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/record.h"
#include "experiments/base/stats.h"
#include "experiments/base/text.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/course/course.h"
#include "experiments/emit/build.h"
#include "experiments/emit/options_emit.h"
#include "kernels/backend/backend.h"
#include "kernels/conv_naive.h"
#include "kernels/nest/nest.h"

struct time_row;

struct session {
    struct exp_emit_options options;
    struct exp_emit_plans plans;
    float *filters; /* of WEIGHTS, which become constants; NULL: none */
    struct time_row *row;
    size_t n_rows;
    struct exp_results results;
    char what[64];
    struct exp_why why;
};

/* Returns the fused work of FUSE, whose words are the activations, without a bias and with a bias. */
static struct conv_fusion fusion(const struct session *s)
{
    return (struct conv_fusion){ s->options.fuse >= CONV_N_ACTIVATIONS,
                                 (enum conv_activation)(s->options.fuse % CONV_N_ACTIVATIONS) };
}

/* ---- a layer's filters from a file: they become constants of its code ---- */

/* A compiler takes minutes for more. */
enum { MOST_WEIGHTS = 1 << 18 };

static int check_constants(const struct conv_layer_plans *plans, size_t n, struct exp_why *why)
{
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
    FILE *in = exp_file_open(path);
    size_t found;
    int more;

    if (!in)
        return exp_fail(why, -errno, "cannot open '%s': %s", path, exp_file_error(errno));
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

/* Packs filters for the plan, and replaces them. */
static int pack(float **filters, const struct conv_plan *plan)
{
    float *packed = exp_new(plan->layout.bytes[CONV_FILTER] / sizeof(float), sizeof *packed);
    struct conv_binding bind = { { 0 } };
    struct conv_exec exec;
    int err;

    bind.addr[CONV_FILTER] = (uintptr_t)*filters;
    bind.addr[CONV_PACKED_FILTER] = (uintptr_t)packed;
    conv_exec_init(&exec, plan, &bind);
    err = conv_nest_pack_filters(plan, &exec.base);
    free(*filters);
    *filters = packed;
    return err;
}

/* Reads the [k][c / groups][r][s] floats of the only plan. The constants of C are packed. */
static int read_filters(struct session *s)
{
    const struct conv_plan *plan = &s->plans.list.plan[0].plan;
    size_t n = plan->layout.bytes[CONV_FILTER] / sizeof(float);
    int err = check_constants(&s->plans.list, n, &s->why);

    if (err)
        return err;
    s->filters = exp_new(n, sizeof *s->filters);
    err = read_floats(s->filters, n, s->options.weights, &s->why);
    return !err && exp_emit_form(s->options.emit) == EXP_EMIT_C ? pack(&s->filters, plan) : err;
}

/* ---- code that is run and compared with plain loops ---- */

static int refuse_to_run(const struct conv_layer_plan *plan, struct exp_why *why)
{
    return exp_fail(why, -ENOTSUP, "layer '%s': this computer cannot execute %s", plan->layer, plan->plan.ukr->name);
}

/* Returns the bias of a filter's outputs. */
static float bias_of(size_t filter)
{
    return (float)(filter % 7) - 3;
}

/* By definition. */
static double finished(double x, const struct conv_fusion *after, size_t filter)
{
    if (after->adds_bias)
        x += (double)bias_of(filter);
    if (after->activation != CONV_ACTIVATION_NONE && x < 0)
        x = 0;
    return after->activation == CONV_ACTIVATION_RELU6 && x > 6 ? 6 : x;
}

static int compare_plane(const struct conv_layer_plan *n, const struct conv_fusion *after, const float *out,
                         size_t plane, const double *want, const double *magnitude, struct exp_why *why)
{
    const struct conv_problem *p = &n->plan.problem;

    for (size_t w = 0; w < conv_windows(p); w++) {
        double bound = exp_tensors_exact(p) ? 0 : conv_error_bound(conv_reduction(p), magnitude[w]);
        double is = (double)out[plane * conv_windows(p) + w], must = finished(want[w], after, plane % p->k);

        if (!(fabs(is - must) <= bound))
            return exp_fail(why, -EILSEQ,
                            "layer '%s': its code computes a wrong result: output element %zu is %.9g, must be %.9g",
                            n->layer, plane * conv_windows(p) + w, is, must);
    }
    return 0;
}

static int compare(const struct conv_layer_plan *n, const struct conv_fusion *after, const struct exp_tensors *t,
                   struct exp_why *why)
{
    const struct conv_problem *p = &n->plan.problem;
    double *want = exp_new(2 * conv_windows(p), sizeof *want), *magnitude = want + conv_windows(p);
    int err = 0;

    for (size_t i = 0; i < p->n * p->k && !err; i++) {
        conv_naive_plane(p, conv_in_ptr(t->bind.addr[CONV_INPUT]), conv_in_ptr(t->bind.addr[CONV_FILTER]), i / p->k,
                         i % p->k, want, magnitude);
        err = compare_plane(n, after, conv_in_ptr(t->bind.addr[CONV_OUTPUT]), i, want, magnitude, why);
    }
    free(want);
    return err;
}

/* Memory of the code, beside inputs, filters and outputs. */
struct memory {
    void *filters, *inputs;
};

static void memory_release(struct memory *m)
{
    free(m->filters);
    free(m->inputs);
}

static void *new_nans(size_t bytes)
{
    void *x;

    if (posix_memalign(&x, CONV_ARENA_ALIGN, max_size(bytes, 1)))
        return NULL;
    return memset(x, 0xff, bytes);
}

/* Fills *m with NaNs, and packs filters into *m by the code's own function, if the code has one. */
static int memory_init(struct memory *m, const struct exp_emit_code *code, enum exp_emit_what what,
                       const struct conv_layer_plan *n, const struct exp_tensors *t)
{
    const struct exp_emit_bytes bytes = exp_emit_bytes(what, &n->plan);
    exp_emit_pack_fn pack_filters = exp_emit_code_packer(code, n->layer, 0);

    *m = (struct memory){ new_nans(bytes.filters), new_nans(bytes.inputs) };
    if (!m->filters || !m->inputs)
        return -ENOMEM;
    if (pack_filters)
        pack_filters(conv_in_ptr(t->bind.addr[CONV_FILTER]), m->filters);
    return 0;
}

/* Convolves, with packed filters. */
static void run(const struct exp_emit_code *code, const struct memory *m, const struct conv_layer_plan *n,
                const struct conv_fusion *after, const struct exp_tensors *t)
{
    const float *filter = conv_in_ptr(t->bind.addr[CONV_FILTER]), *in = conv_in_ptr(t->bind.addr[CONV_INPUT]);
    float *out = conv_out_ptr(t->bind.addr[CONV_OUTPUT]);
    float *bias = exp_new(n->plan.problem.k, sizeof *bias);

    for (size_t i = 0; i < n->plan.problem.k; i++)
        bias[i] = bias_of(i);
    if (after->adds_bias)
        exp_emit_code_fused(code, n->layer, 0)(in, filter, m->filters, m->inputs, out, bias);
    else
        exp_emit_code_function(code, n->layer, 0)(in, filter, m->filters, m->inputs, out);
    free(bias);
}

/* Compiles a plan's code, runs it and compares every output. *seconds is the time of printing and compiling. */
static int check(struct session *s, const struct conv_layer_plan *plan, double *seconds)
{
    const struct conv_fusion after = fusion(s);
    struct exp_emit_code code;
    struct exp_tensors t = { 0 };
    enum exp_emit_what what = exp_emit_form(s->options.emit);
    struct memory memory = { NULL, NULL };
    uint64_t start = ctr_now_ns();
    int err = exp_emit_build(&code, what, plan, 1, &after, false, &s->why);

    *seconds = (double)(ctr_now_ns() - start) * 1e-9;
    if (err)
        return err;
    if (!conv_plan_runs(&plan->plan))
        err = refuse_to_run(plan, &s->why);
    else if (exp_tensors_init(&t, &plan->plan) || memory_init(&memory, &code, what, plan, &t))
        err = exp_fail(&s->why, -ENOMEM, "out of memory for the tensors of layer '%s'", plan->layer);
    if (!err) {
        run(&code, &memory, plan, &after, &t);
        err = compare(plan, &after, &t, &s->why);
    }
    memory_release(&memory);
    exp_tensors_release(&t);
    exp_emit_code_release(&code);
    return err;
}

static int check_all(struct session *s)
{
    const char *missing = exp_emit_why_no_compiler(exp_emit_form(s->options.emit));
    size_t n_layers = s->plans.list.n, n = 0;
    double longest = 0, sum = 0;
    int err = 0;

    if (missing)
        return exp_fail(&s->why, -EINVAL, "%s", missing);
    for (size_t i = 0; i < n_layers && !err; i++) {
        double seconds = 0;

        if (exp_interrupted())
            return exp_fail(&s->why, -EINTR, "interrupted");
        if (exp_emit_is_repeated(&s->plans, i))
            continue;
        err = check(s, &s->plans.list.plan[i], &seconds);
        n++;
        sum += seconds;
        longest = fmax(longest, seconds);
    }
    if (!err)
        printf(
            "%zu layer%s, %zu shape%s: generated, compiled and right; %.2f s a shape to compile, %.2f s the longest\n",
            n_layers, n_layers == 1 ? "" : "s", n, n == 1 ? "" : "s", sum / (double)n, longest);
    return err;
}

/* ---- all forms of a plan, timed in turns with the library ---- */

struct time_row {
    const char *layer, *code;
    char plan[EXP_PLAN_TEXT_BYTES];
    double macs, compile_s; /* NaN: nothing was compiled */
    struct value time_ns, median_ns, gflops, speedup;
};

#define ROW struct time_row
static const struct rec_field fields[] = {
    { { "layer", "", "name of the layer", "" }, REC_AT(ROW, layer) },
    { { "code", "", "library: the nest, executed; else the form of generated code, as EMIT names it", "" },
      REC_AT(ROW, code) },
    { { "plan", "", "micro-kernel, schedule, tiles and windows", "" }, REC_AT(ROW, plan) },
    { { "macs", "", "nominal multiply-adds, padding taps included", "" }, REC_AT(ROW, macs) },
    { { "compile_s", "s", "CPU time of printing, lowering and compiling; empty for the library", "clock" },
      REC_NAN_AS(ROW, compile_s, REC_DOES_NOT_APPLY) },
    { { "time_ns", "ns", "the fastest round, caches warm", "clock" }, REC_VALUE(ROW, time_ns) },
    { { "median_ns", "ns", "the median round", "clock" }, REC_VALUE(ROW, median_ns) },
    { { "gflops", "GFLOP/s", "2 macs / time_ns", "clock" }, REC_VALUE(ROW, gflops) },
    { { "speedup", "", "the library's time_ns divided by this one", "clock" }, REC_VALUE(ROW, speedup) },
};

const struct rec_table exp_emit_times_table = REC_TABLE("code.csv", fields, ROW);

/* A contender: the library, or a form. */
struct timed {
    struct time_row *row;
    const struct conv_layer_plan *plan;
    const struct exp_tensors *tensors;
    struct exp_emit_code code;
    exp_code_fn fn; /* NULL: the library */
    struct memory memory;
};

enum { N_TIMED = 1 + EXP_EMIT_N_FORMS, WARMUPS = 2 };

static int run_form(void *timed)
{
    const struct timed *t = timed;
    const struct conv_binding *b = &t->tensors->bind;
    struct conv_exec exec;

    if (t->fn) {
        t->fn(conv_in_ptr(b->addr[CONV_INPUT]), conv_in_ptr(b->addr[CONV_FILTER]), t->memory.filters, t->memory.inputs,
              conv_out_ptr(b->addr[CONV_OUTPUT]));
        return 0;
    }
    conv_exec_init(&exec, &t->plan->plan, b);
    return conv_nest_run(&t->plan->plan, &exec.base);
}

/* The CPU time of this thread and of compilers that have ended. */
static double cpu_s(void)
{
    struct rusage tools;

    getrusage(RUSAGE_CHILDREN, &tools);
    return (double)ctr_thread_ns() * 1e-9 + (double)(tools.ru_utime.tv_sec + tools.ru_stime.tv_sec) +
           (double)(tools.ru_utime.tv_usec + tools.ru_stime.tv_usec) * 1e-6;
}

/* Builds a form. Failing to build is no error, except for an interruption. */
static int build(struct timed *t, enum exp_emit_what what)
{
    const char *missing = exp_emit_why_no_compiler(what);
    struct exp_why why = { "" };
    double start = cpu_s();
    int err = missing ? exp_fail(&why, -ENOENT, "%s", missing)
                      : exp_emit_build(&t->code, what, t->plan, 1, NULL, false, &why);

    t->row->code = exp_emit_name(what);
    if (err) {
        t->row->time_ns = value_none(exp_copy_text(why.text));
        t->row->median_ns = t->row->gflops = t->row->speedup = t->row->time_ns;
        return err == -EINTR || err == -ENOMEM ? err : 0;
    }
    t->row->compile_s = cpu_s() - start;
    t->fn = exp_emit_code_function(&t->code, t->plan->layer, 0);
    return 0;
}

/* Measures the library, then all forms that were compiled. */
static int measure(struct timed timed[N_TIMED], size_t n_rounds, uint64_t *sample)
{
    const struct exp_bench protocol = { .n_warmups = WARMUPS,
                                        .rounds = { n_rounds, n_rounds, 0 },
                                        .now_ns = ctr_thread_ns,
                                        .interrupted = exp_interrupted };
    struct exp_contender contender[N_TIMED];
    struct exp_bench_result result;
    size_t n = 0;

    for (size_t i = 0; i < N_TIMED; i++) {
        if (!timed[i].row->time_ns.why)
            contender[n++] = (struct exp_contender){ timed[i].row->code, run_form, NULL, &timed[i] };
    }
    return exp_bench_run(&protocol, contender, n, sample, &result);
}

/* Fills in the times of the measured contenders, and prints them. */
static void take_times(struct time_row row[N_TIMED], const uint64_t *sample, size_t n_rounds)
{
    const double library_ns = (double)exp_stats_min(sample, n_rounds);

    printf("%-28s", row->layer);
    for (struct time_row *r = row; r < row + N_TIMED; r++) {
        if (r->time_ns.why)
            continue;
        r->time_ns = value_of((double)exp_stats_min(sample, n_rounds));
        r->median_ns = value_of(exp_stats_median(sample, n_rounds));
        r->gflops = value_of(2 * r->macs / r->time_ns.number);
        r->speedup = value_of(library_ns / r->time_ns.number);
        printf("  %s %.2f", r->code, r->speedup.number);
        sample += n_rounds;
    }
    printf("\n");
}

static int time_forms(struct session *s, const struct conv_layer_plan *plan, struct time_row row[N_TIMED])
{
    uint64_t *sample = exp_new((size_t)N_TIMED * s->options.time, sizeof *sample);
    struct timed timed[N_TIMED] = { 0 };
    struct exp_tensors tensors = { 0 };
    int err = 0;

    for (size_t i = 0; i < N_TIMED; i++) {
        timed[i] = (struct timed){ .row = &row[i], .plan = plan, .tensors = &tensors };
        row[i] = (struct time_row){
            .layer = plan->layer, .code = "library", .macs = conv_macs(&plan->plan.problem), .compile_s = (double)NAN
        };
        exp_plan_text(&plan->plan, row[i].plan);
    }
    for (size_t i = 1; i < N_TIMED && !err; i++)
        err = build(&timed[i], (enum exp_emit_what)(i - 1));
    if (!err)
        err = exp_tensors_init(&tensors, &plan->plan);
    for (size_t i = 1; i < N_TIMED && !err; i++) {
        if (timed[i].fn)
            err = memory_init(&timed[i].memory, &timed[i].code, (enum exp_emit_what)(i - 1), plan, &tensors);
    }
    if (!err)
        err = measure(timed, s->options.time, sample);
    if (!err)
        take_times(row, sample, s->options.time);
    for (size_t i = 1; i < N_TIMED; i++) {
        memory_release(&timed[i].memory);
        exp_emit_code_release(&timed[i].code);
    }
    exp_tensors_release(&tensors);
    free(sample);
    return err ? exp_fail(&s->why, err, "layer '%s': cannot be timed: %s", plan->layer, strerror(-err)) : 0;
}

static int time_all(struct session *s)
{
    int err = 0;

    if (ctr_pin(-1, NULL, SIM_WHY(s->why.text)))
        fprintf(stderr, "sconv-gen: not pinned: %s\n", s->why.text);
    for (size_t i = 0; i < s->plans.list.n && !err; i++) {
        const struct conv_layer_plan *plan = &s->plans.list.plan[i];

        if (exp_emit_is_repeated(&s->plans, i))
            continue;
        if (!conv_plan_runs(&plan->plan))
            return refuse_to_run(plan, &s->why);
        s->row = exp_resize(s->row, s->n_rows + N_TIMED, sizeof *s->row);
        err = time_forms(s, plan, s->row + s->n_rows);
        s->n_rows += N_TIMED;
    }
    return err;
}

static int write_times(void *session)
{
    struct session *s = session;
    struct exp_csv *csv = exp_csv_begin(&s->results.dir, &exp_emit_times_table.file, s->what);
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    exp_csv_header(csv, "computer", "%s; one thread, its own time; %u rounds", cpu, s->options.time);
    exp_csv_header(csv, "planned for", "%s", s->plans.setup.machine.name);
    for (size_t i = 0; i < s->n_rows; i++)
        rec_put(csv, &exp_emit_times_table, &s->row[i]);
    return exp_csv_close(csv, &s->why);
}

/* ---- the course ---- */

static const struct exp_results_layout layout = { "/emit", false, "code.csv", exp_emit_print_code };

static int prepare(void *session)
{
    struct session *s = session;
    int err = exp_emit_plans_make(&s->plans, &s->options, &s->why);

    s->results.leaves_none = !s->options.time;
    exp_say(s->what, sizeof s->what, "generated code beside the library");
    return !err && *s->options.weights ? read_filters(s) : err;
}

static int print(void *session, FILE *out)
{
    struct session *s = session;
    const struct conv_c_options options = { s->filters, fusion(s) };

    return exp_emit_print(exp_emit_form(s->options.emit), s->plans.list.plan, s->plans.list.n, &options, out, &s->why);
}

static int work(void *session)
{
    struct session *s = session;

    if (s->options.time)
        return time_all(s);
    return s->options.check ? check_all(s) : exp_file_write(s->options.out, print, s, &s->why);
}

static void release(void *session)
{
    struct session *s = session;

    free(s->filters);
    for (size_t i = 0; i < s->n_rows; i++)
        free((char *)(uintptr_t)s->row[i].time_ns.why);
    free(s->row);
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
             "c (default): C for this computer's compiler; mlir_linalg: linalg.conv_2d_nchw_fchw and a script of "
             "transforms that tiles and packs it; sconv_opt: the convolution alone, which sconv-opt slices; mlir: "
             "another word for mlir_linalg",
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
    .wants = { "kernels: get the code of plans as C or MLIR|make gen MACHINE=clx4208 LAYER=vgg16:conv3_1" },
    .takes = "Less than a second for a layer, once build/sconv-gen is built.",
    .examples = { "make gen LAYER=vgg16:conv5_1 MACHINE=clx4208 OUT=conv5_1.c",
                  "make gen PLAN=plans.json EMIT=mlir OUT=plans.mlir" },
    .needs = { "LAYER|MODEL|PLAN=vgg16:conv3_1" },
    .options = options,
    .place = &layout,
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .machine_at = offsetof(struct session, plans.setup.machine),
    .tables = { &exp_emit_times_table },
    .prepare = prepare,
    .prepares_from_files = true,
    .work = work,
    .write = write_times,
    .release = release,
};
