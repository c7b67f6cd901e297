#include "experiments/emit/exp_emit_try.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_bench.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/base/exp_stats.h"
#include "experiments/setup/exp_case.h"
#include "experiments/setup/exp_tensors.h"
#include "kernels/backend/backend.h"
#include "kernels/conv_naive.h"
#include "kernels/nest/nest.h"

/* Returns the bias that a filter's outputs get. */
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

static int compare_plane(const struct conv_noted_plan *n, const struct conv_fusion *after, const float *out,
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

static int compare(const struct conv_noted_plan *n, const struct conv_fusion *after, const struct exp_tensors *t,
                   struct exp_why *why)
{
    const struct conv_problem *p = &n->plan.problem;
    double *want = calloc(2 * conv_windows(p), sizeof *want), *magnitude = want ? want + conv_windows(p) : NULL;
    int err = want ? 0 : exp_fail(why, -ENOMEM, "out of memory");

    for (size_t i = 0; i < p->n * p->k && !err; i++) {
        conv_naive_plane(p, conv_in_ptr(t->bind.addr[CONV_INPUT]), conv_in_ptr(t->bind.addr[CONV_FILTER]), i / p->k,
                         i % p->k, want, magnitude);
        err = compare_plane(n, after, conv_in_ptr(t->bind.addr[CONV_OUTPUT]), i, want, magnitude, why);
    }
    free(want);
    return err;
}

/* Packs the filters by the code's own function, if it has one, then convolves. bias may be NULL. */
static void run(const struct exp_emit_code *code, const struct conv_noted_plan *n, const struct exp_tensors *t,
                const float *bias)
{
    float *packed = conv_out_ptr(t->bind.addr[CONV_PACKED_FILTER]);
    const float *filter = conv_in_ptr(t->bind.addr[CONV_FILTER]), *in = conv_in_ptr(t->bind.addr[CONV_INPUT]);
    float *panels = conv_out_ptr(t->bind.addr[CONV_PACKED_INPUT]), *out = conv_out_ptr(t->bind.addr[CONV_OUTPUT]);

    exp_emit_pack_fn pack = exp_emit_code_packer(code, n->layer, 0);

    memset(packed, 0xff, n->plan.layout.bytes[CONV_PACKED_FILTER]); /* NaN: exp_tensors_init has packed them already */
    if (pack)
        pack(filter, packed);
    if (bias)
        exp_emit_code_fused(code, n->layer, 0)(in, filter, packed, panels, out, bias);
    else
        exp_emit_code_function(code, n->layer, 0)(in, filter, packed, panels, out);
}

/* Returns a bias for each filter; NULL when out of memory. */
static float *make_bias(const struct conv_problem *p)
{
    float *bias = calloc(p->k, sizeof *bias);

    for (size_t i = 0; bias && i < p->k; i++)
        bias[i] = bias_of(i);
    return bias;
}

static int run_and_compare(const struct exp_emit_code *code, const struct conv_noted_plan *plan,
                           const struct conv_fusion *after, struct exp_why *why)
{
    float *bias = after->adds_bias ? make_bias(&plan->plan.problem) : NULL;
    struct exp_tensors t = { 0 };
    int err = 0;

    if (exp_tensors_init(&t, &plan->plan) || (after->adds_bias && !bias))
        err = exp_fail(why, -ENOMEM, "out of memory for the tensors of layer '%s'", plan->layer);
    if (!err) {
        run(code, plan, &t, bias);
        err = compare(plan, after, &t, why);
    }
    exp_tensors_release(&t);
    free(bias);
    return err;
}

int exp_emit_check(enum exp_emit_what what, const struct conv_noted_plan *plan, const struct conv_fusion *after,
                   double *seconds, struct exp_why *why)
{
    struct exp_emit_code code;
    uint64_t start = ctr_now_ns();
    int err = exp_emit_build_fused(&code, what, plan, 1, after, false, why);

    *seconds = (double)(ctr_now_ns() - start) * 1e-9;
    if (err)
        return err;
    if (!conv_plan_runs(&plan->plan))
        err = exp_fail(why, -ENOTSUP, "layer '%s': this computer cannot execute %s", plan->layer, plan->plan.ukr->name);
    if (!err)
        err = run_and_compare(&code, plan, after, why);
    exp_emit_code_release(&code);
    return err;
}

static const struct exp_csv_column columns[] = {
    { "layer", "", "name of the layer", "" },
    { "code", "", "library: the nest, executed; else the form of generated code, as EMIT names it", "" },
    { "plan", "", "micro-kernel, schedule, tiles and windows", "" },
    { "macs", "", "nominal multiply-adds, padding taps included", "" },
    { "compile_s", "s", "CPU time of printing, lowering and compiling; empty for the library", "clock" },
    { "time_ns", "ns", "the fastest round, caches warm", "clock" },
    { "median_ns", "ns", "the median round", "clock" },
    { "gflops", "GFLOP/s", "2 macs / time_ns", "clock" },
    { "speedup", "", "the library's time_ns divided by this one", "clock" },
};

const struct exp_csv_file exp_emit_time_file = EXP_CSV_FILE("code.csv", columns);

/* A contender: the library, or a form. */
struct timed {
    const char *name;
    const struct conv_noted_plan *plan;
    const struct exp_tensors *tensors;
    struct exp_emit_code code;
    exp_code_fn fn; /* NULL: the library */
    double compile_s;
    char why_not[256]; /* "": nothing is against it */
};

enum { N_TIMED = 1 + EXP_EMIT_N_FORMS, WARMUPS = 2 };

static int run_form(void *timed)
{
    const struct timed *t = timed;
    const struct conv_binding *b = &t->tensors->bind;
    struct conv_exec exec;

    if (t->fn) {
        t->fn(conv_in_ptr(b->addr[CONV_INPUT]), conv_in_ptr(b->addr[CONV_FILTER]),
              conv_out_ptr(b->addr[CONV_PACKED_FILTER]), conv_out_ptr(b->addr[CONV_PACKED_INPUT]),
              conv_out_ptr(b->addr[CONV_OUTPUT]));
        return 0;
    }
    conv_exec_init(&exec, &t->plan->plan, b);
    return conv_nest_run(&t->plan->plan, &exec.base);
}

/* The time on CPUs of this thread and of compilers that have ended. */
static double cpu_s(void)
{
    struct rusage tools;

    getrusage(RUSAGE_CHILDREN, &tools);
    return (double)ctr_thread_ns() * 1e-9 + (double)(tools.ru_utime.tv_sec + tools.ru_stime.tv_sec) +
           (double)(tools.ru_utime.tv_usec + tools.ru_stime.tv_usec) * 1e-6;
}

/* Builds a form. What is against it is no failure, unless it is an interruption. */
static int build(struct timed *t, enum exp_emit_what what)
{
    const char *why_no_compiler = exp_emit_why_no_compiler(what);
    struct exp_why why = { "" };
    double start = cpu_s();
    int err;

    t->name = exp_emit_name(what);
    if (why_no_compiler) {
        exp_say(t->why_not, sizeof t->why_not, "%s", why_no_compiler);
        return 0;
    }
    err = exp_emit_build(&t->code, what, t->plan, 1, false, &why);
    exp_say(t->why_not, sizeof t->why_not, "%s", why.text);
    t->compile_s = cpu_s() - start;
    if (!err)
        t->fn = exp_emit_code_function(&t->code, t->plan->layer, 0);
    return err == -EINTR || err == -ENOMEM ? err : 0;
}

/* Puts those that can run first; the library is the first. Returns their number. */
static size_t list_contenders(struct timed timed[N_TIMED], struct exp_contender contender[N_TIMED])
{
    size_t n = 0;

    for (size_t i = 0; i < N_TIMED; i++) {
        if (!*timed[i].why_not)
            contender[n++] = (struct exp_contender){ timed[i].name, run_form, NULL, &timed[i] };
    }
    return n;
}

static void write_times(struct exp_csv *csv, const struct timed *t, const uint64_t *sample, size_t n, double library_ns)
{
    double macs = conv_macs(&t->plan->plan.problem), fastest = (double)exp_stats_min(sample, n);

    exp_csv_double(csv, "time_ns", fastest);
    exp_csv_double(csv, "median_ns", exp_stats_median(sample, n));
    exp_csv_double(csv, "gflops", 2 * macs / fastest);
    exp_csv_double(csv, "speedup", library_ns / fastest);
    printf("  %s %.2f", t->name, library_ns / fastest);
}

static void write_row(struct exp_csv *csv, const struct timed *t, const uint64_t *sample, size_t n, double library_ns)
{
    char plan[EXP_PLAN_TEXT_BYTES];

    exp_plan_text(&t->plan->plan, plan);
    exp_csv_string(csv, "layer", t->plan->layer);
    exp_csv_string(csv, "code", t->name);
    exp_csv_string(csv, "plan", plan);
    exp_csv_double(csv, "macs", conv_macs(&t->plan->plan.problem));
    if (*t->why_not || !t->fn)
        exp_csv_empty(csv, "compile_s");
    else
        exp_csv_double(csv, "compile_s", t->compile_s);
    if (!*t->why_not) {
        write_times(csv, t, sample, n, library_ns);
    } else {
        static const char *const missing[] = { "time_ns", "median_ns", "gflops", "speedup" };

        for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
            exp_csv_missing(csv, missing[i], t->why_not);
    }
    exp_csv_end_row(csv);
}

static int measure(struct timed timed[N_TIMED], size_t n_rounds, uint64_t *sample)
{
    const struct exp_bench protocol = { .n_warmups = WARMUPS,
                                        .rounds = { n_rounds, n_rounds, 0 },
                                        .now_ns = ctr_thread_ns,
                                        .interrupted = exp_interrupted };
    struct exp_contender contender[N_TIMED];
    struct exp_bench_result result;
    size_t n = list_contenders(timed, contender);

    return exp_bench_run(&protocol, contender, n, sample, &result);
}

static int measure_and_write(struct timed timed[N_TIMED], size_t n_rounds, struct exp_csv *csv)
{
    uint64_t *sample = calloc(N_TIMED * n_rounds, sizeof *sample);
    int err = sample ? measure(timed, n_rounds, sample) : -ENOMEM;
    const uint64_t *at = sample;

    if (!err)
        printf("%-28s", timed[0].plan->layer);
    for (size_t i = 0; i < N_TIMED && !err; i++) {
        write_row(csv, &timed[i], at, n_rounds, (double)exp_stats_min(sample, n_rounds));
        at += *timed[i].why_not ? 0 : n_rounds;
    }
    if (!err)
        printf("\n");
    free(sample);
    return err ? err : exp_csv_error(csv);
}

int exp_emit_time(const struct conv_noted_plan *plan, size_t n_rounds, struct exp_csv *csv, struct exp_why *why)
{
    struct timed timed[N_TIMED] = { 0 };
    struct exp_tensors tensors = { 0 };
    int err = 0;

    if (!conv_plan_runs(&plan->plan))
        return exp_fail(why, -ENOTSUP, "layer '%s': this computer cannot execute %s", plan->layer,
                        plan->plan.ukr->name);
    for (size_t i = 0; i < N_TIMED; i++)
        timed[i] = (struct timed){ .name = "library", .plan = plan, .tensors = &tensors };
    for (size_t i = 1; i < N_TIMED && !err; i++)
        err = build(&timed[i], (enum exp_emit_what)(i - 1));
    if (!err)
        err = exp_tensors_init(&tensors, &plan->plan);
    if (!err)
        err = measure_and_write(timed, n_rounds, csv);
    for (size_t i = 1; i < N_TIMED; i++)
        exp_emit_code_release(&timed[i].code);
    exp_tensors_release(&tensors);
    return err ? exp_fail(why, err, "layer '%s': cannot be timed: %s", plan->layer, strerror(-err)) : 0;
}
