#include "experiments/polydl/time/exp_polydl_tasks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_bench.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/base/exp_stats.h"
#include "experiments/polydl/analysis/exp_analysis.h"
#include "experiments/polydl/analysis/exp_walk.h"
#include "experiments/polydl/time/exp_baselines.h"
#include "experiments/polydl/time/exp_turns.h"
#include "kernels/lib/team.h"

enum { LEAST_ROUNDS = 2, MOST_ROUNDS = 40, MOST_REFINED = 200, MICRO_TILE = 16 };

/* A run that takes longer than this (ns) needs none before it: it has brought its own data into the caches soon. */
static const uint64_t long_run_ns = 20000000;
static const double long_run_flops = 2e9; /* of runs that take longer on most computers */
static const double once_flops = 2e10;    /* of runs that two threads do once */

/* Slow code is timed in part: the first iterations of the outermost loop that have so many operations. */
static const double most_flops_of_loops = 5e8, most_flops_of_tiles = 2e9;

/* A layer while it is timed. */
struct bench {
    const struct exp_polydl_layer *layer;
    const struct exp_polydl_timing *timing;
    struct exp_watch watch; /* the ruler's */
    struct exp_operands operands;
    struct exp_baselines baselines;
    struct sconv_team *team; /* of two; NULL: only one thread is timed yet */
};

/* Says which iterations of an outermost loop are timed: the first of so many; all 0: everything. */
struct slice {
    size_t n, of;
};

/* Runs what takes turns: a variant, or a baseline. */
struct runner {
    struct bench *bench;
    const struct exp_variant *variant;
    struct exp_walk walk[EXP_N_POLYDL_THREADS]; /* of each thread's image */
    struct exp_executor executor;
    enum exp_polydl_threads threads;
    enum exp_polydl_baseline baseline; /* without a variant */
    struct slice slice;
    uint64_t last_ns;
    struct exp_polydl_time *time; /* where what is measured goes */
};

/* ---- running ---- */

static void run_share(void *ctx, unsigned thread)
{
    struct runner *r = ctx;

    if (r->bench->layer->source.problem)
        exp_walk_execute(&r->walk[thread], 0, 1, &r->executor);
    else if (r->slice.n)
        exp_walk_execute(&r->walk[0], 0, r->slice.of / r->slice.n, &r->executor);
    else
        exp_walk_execute(&r->walk[0], thread, exp_polydl_n_threads(r->threads), &r->executor);
}

/* An OpenBLAS call does what Base's would. */
static void run_sgemm(const struct bench *b)
{
    enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111 };
    const struct exp_gemm *g = &b->layer->source.gemm;
    float *const *of = b->operands.of[0];

    b->timing->setup->blas.sgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, (int)g->m, (int)g->n, (int)g->k, 1.0f,
                                 of[EXP_OPERAND_B], (int)g->k, of[EXP_OPERAND_A], (int)g->n, 0.0f, of[EXP_OPERAND_C],
                                 (int)g->n);
}

static int run_baseline(struct runner *r)
{
    struct bench *b = r->bench;
    float *const *of = b->operands.of[0];

    if (r->baseline == EXP_POLYDL_LOOPS)
        exp_loops_run(&b->layer->source, r->slice.n, of[EXP_OPERAND_A], of[EXP_OPERAND_B], of[EXP_OPERAND_C]);
    else if (r->baseline == EXP_POLYDL_BASE && !b->layer->source.problem)
        run_sgemm(b);
    else
        return exp_baselines_run(&b->baselines, r->baseline);
    return 0;
}

static int run(void *ctx)
{
    struct runner *r = ctx;
    const uint64_t begin = ctr_now_ns();
    int err = 0;

    if (r->variant)
        conv_team_run(r->bench->team, exp_polydl_n_threads(r->threads), &(struct conv_team_job){ run_share, r });
    else
        err = run_baseline(r);
    r->last_ns = ctr_now_ns() - begin;
    return err;
}

static int prepare(void *ctx)
{
    struct runner *r = ctx;

    return r->last_ns < long_run_ns ? run(ctx) : 0;
}

/* ---- contenders ---- */

/* Returns as what a layer's runs are taken before the first. */
static uint64_t expected_ns(const struct exp_polydl_layer *l)
{
    return l->flops < long_run_flops ? 0 : UINT64_MAX;
}

/* Returns the first iterations, at least one and a share that divides `of`, that have at most so many operations. */
static struct slice slice_of(size_t of, double flops, double most)
{
    size_t n = (size_t)((double)of * most / flops);

    n = n > of ? of : n ? n : 1;
    while (of % n)
        n--;
    return (struct slice){ n, of };
}

/* Tells whether tiles of 16 divide a GEMM's rows and sums, too: else they are of columns alone. */
static bool has_row_tiles(const struct exp_variant_source *s)
{
    return s->gemm.m % MICRO_TILE == 0 && s->gemm.k % MICRO_TILE == 0;
}

/* Returns what is timed of a baseline. */
static struct slice slice_of_baseline(const struct exp_polydl_layer *l, enum exp_polydl_baseline b)
{
    const struct exp_variant_source *s = &l->source;

    if (b == EXP_POLYDL_LOOPS)
        return slice_of(exp_loops_iterations(s), l->flops, most_flops_of_loops);
    if ((b == EXP_POLYDL_MICRO || b == EXP_POLYDL_XSMM) && !s->problem && has_row_tiles(s))
        return slice_of(s->gemm.m / MICRO_TILE, l->flops, most_flops_of_tiles);
    return (struct slice){ 1, 1 };
}

double exp_polydl_timed_share(const struct exp_polydl_layer *l, enum exp_polydl_baseline b)
{
    const struct slice s = slice_of_baseline(l, b);

    return (double)s.n / (double)s.of;
}

/* Prepares a variant. Returns whether there is a micro-kernel for it. */
static bool prepare_variant(struct runner *r, struct bench *b, const struct exp_variant *v,
                            enum exp_polydl_threads threads, bool uses_xsmm)
{
    *r = (struct runner){ .bench = b, .variant = v, .threads = threads, .last_ns = expected_ns(b->layer) };
    for (size_t image = 0; image < b->operands.n_images; image++) {
        uint64_t base[EXP_N_OPERANDS];

        exp_operands_base(&b->operands, image, base);
        exp_walk_init(&r->walk[image], v, base);
    }
    r->executor.small = uses_xsmm ? NULL : b->timing->small;
    r->executor.jit = uses_xsmm ? exp_xsmm_compile(&r->walk[0].first) : NULL;
    return r->executor.small || r->executor.jit;
}

/* Tells whether a baseline that is no variant is there. */
static bool is_there(const struct bench *b, enum exp_polydl_baseline baseline)
{
    const bool is_gemm = !b->layer->source.problem;

    switch (baseline) {
    case EXP_POLYDL_ONEDNN:
        return b->baselines.dnnl != NULL;
    case EXP_POLYDL_SCONV:
        return exp_baselines_tensor(&b->baselines, CONV_INPUT) != NULL;
    case EXP_POLYDL_BASE:
        return is_gemm ? b->timing->setup->blas.handle != NULL : b->baselines.tensors[EXP_POLYDL_BASE].arena != NULL;
    default:
        return false;
    }
}

/* The paper's `Microkernel`: no tiles but the micro-kernel's. */
static int micro_variant(const struct bench *b, struct exp_variant *v, struct exp_why *why)
{
    const struct exp_variant_source *s = &b->layer->source;
    const char *text = s->problem ? "ofm ifm oj kj ki" : has_row_tiles(s) ? "i.16* j.16 k.16" : "j.16";

    return exp_variant_read(v, s, text, why);
}

/* ---- rounds ---- */

/*
 * Long runs have no others before them than those of check(), if any. The ruler sees the calling thread's core: it stands
 * beside runs of one thread only.
 */
static struct exp_bench protocol_of(const struct bench *b, uint64_t budget_ns, size_t n, uint64_t (*now_ns)(void))
{
    return (struct exp_bench){ .n_warmups = expected_ns(b->layer) < long_run_ns,
                               .rounds = { LEAST_ROUNDS, MOST_ROUNDS, budget_ns * n },
                               .now_ns = now_ns,
                               .wall_ns = ctr_now_ns,
                               .interrupted = exp_interrupted,
                               .watch = b->timing->ruler && now_ns == ctr_thread_ns ? &b->watch : NULL };
}

/* Returns the times of rounds that ran a slice, as of everything. */
static struct exp_polydl_time time_of(const uint64_t *round, size_t n_rounds, const struct slice *s)
{
    const struct exp_times t = exp_times_of(round, n_rounds);
    const double times = s->n ? (double)s->of / (double)s->n : 1;
    struct exp_polydl_time time = { n_rounds, t.fastest * times, t.median * times, { 0 } };

    for (size_t k = 0; k < n_rounds; k++) {
        double *half = &time.half_ns[k % 2], ns = (double)round[k] * times;

        if (k < 2 || ns < *half)
            *half = ns;
    }
    return time;
}

/* Has runners take turns, of which the first n_ranked are refined for so long, and gives each its times. */
static int take_turns(struct runner *runner, size_t n, const struct exp_bench *protocol, size_t n_ranked,
                      uint64_t refine_ns)
{
    const struct exp_turns turns = {
        .protocol = *protocol, .n_ranked = n_ranked, .most = MOST_REFINED, .refine_ns = refine_ns
    };
    struct exp_contender *contender = calloc(n + 1, sizeof *contender);
    uint64_t *sample = calloc(n * MOST_REFINED + 1, sizeof *sample);
    size_t *n_rounds = calloc(n + 1, sizeof *n_rounds);
    int err = contender && sample && n_rounds ? 0 : -ENOMEM;

    for (size_t i = 0; i < n && !err; i++)
        contender[i] = (struct exp_contender){ "", run, prepare, &runner[i] };
    if (n)
        exp_ruler_limit(runner->bench->timing->ruler, protocol->rounds.limit_ns + refine_ns);
    if (!err && n)
        err = exp_turns_run(&turns, contender, n, sample, n_rounds);
    for (size_t i = 0; i < n && !err; i++)
        *runner[i].time = time_of(sample + i * MOST_REFINED, n_rounds[i], &runner[i].slice);
    free(contender);
    free(sample);
    free(n_rounds);
    return err;
}

/*
 * Times the variants, and the micro-kernels in Figure 8's order, which have the same tensors: what runs between two of them
 * leaves no traces of its own in the outer caches.
 */
static int time_variants(struct bench *b, struct exp_polydl_times *times, enum exp_polydl_threads threads,
                         struct exp_why *why)
{
    const struct exp_variants *v = &b->layer->variants;
    const bool is_one = threads == EXP_POLYDL_ONE;
    struct runner *runner = calloc(v->n + EXP_N_POLYDL_BASELINES, sizeof *runner);
    struct exp_bench protocol;
    struct exp_variant micro;
    size_t n = 0;
    int err = runner ? micro_variant(b, &micro, why) : -ENOMEM;

    for (size_t i = 0; i < v->n && !err; i++) {
        if (!prepare_variant(&runner[n], b, &v->variant[i], threads, b->timing->uses_xsmm))
            err = exp_fail(why, -ENOTSUP, "LIBXSMM has no micro-kernel for '%s'", v->variant[i].name);
        runner[n++].time = &times->of_variant[i][threads];
    }
    for (enum exp_polydl_baseline x = EXP_POLYDL_MICRO; x <= EXP_POLYDL_XSMM && is_one && !err; x++) {
        if (!prepare_variant(&runner[n], b, &micro, threads, x == EXP_POLYDL_XSMM))
            continue;
        if (exp_polydl_timed_share(b->layer, x) < 1)
            runner[n].slice = slice_of_baseline(b->layer, x);
        runner[n++].time = &times->of_baseline[x];
    }
    protocol = protocol_of(b, b->timing->budget_ns / (is_one ? 1 : 2), n, is_one ? ctr_thread_ns : ctr_now_ns);
    if (!is_one && b->layer->flops >= once_flops)
        protocol.rounds.least = 1;
    if (!err)
        err = take_turns(runner, n, &protocol, v->n, b->timing->refine_ns / (is_one ? 1 : 2) * v->n);
    free(runner);
    return err;
}

/* Times oneDNN, SConv and Base. */
static int time_baselines(struct bench *b, struct exp_polydl_times *times)
{
    struct runner runner[EXP_N_POLYDL_BASELINES];
    struct exp_bench protocol;
    size_t n = 0;

    for (enum exp_polydl_baseline x = EXP_POLYDL_ONEDNN; x < EXP_N_POLYDL_BASELINES; x++) {
        if (is_there(b, x))
            runner[n++] = (struct runner){
                .bench = b, .baseline = x, .last_ns = expected_ns(b->layer), .time = &times->of_baseline[x]
            };
    }
    protocol = protocol_of(b, b->timing->budget_ns, n, ctr_thread_ns);
    return take_turns(runner, n, &protocol, 0, 0);
}

/* Times the plain loops, which are slow: some iterations, once at least. */
static int time_loops(struct bench *b, struct exp_polydl_times *times)
{
    struct runner runner = { .bench = b,
                             .baseline = EXP_POLYDL_LOOPS,
                             .slice = slice_of_baseline(b->layer, EXP_POLYDL_LOOPS),
                             .last_ns = UINT64_MAX,
                             .time = &times->of_baseline[EXP_POLYDL_LOOPS] };
    struct exp_bench protocol = protocol_of(b, b->timing->budget_ns, 1, ctr_thread_ns);

    protocol.n_warmups = 0;
    protocol.rounds.least = 1;
    return take_turns(&runner, 1, &protocol, 0, 0);
}

/* ---- checks ---- */

/* Compares the output of the first variant with SConv's, which has run on the same numbers. */
static int check_first(struct bench *b, struct exp_why *why)
{
    const struct conv_problem *p = b->layer->source.problem;
    const size_t n = p->k * conv_windows(p);
    const float *want = exp_baselines_tensor(&b->baselines, CONV_OUTPUT);
    float *out = malloc(n * sizeof *out);
    int err = out ? exp_baselines_run(&b->baselines, EXP_POLYDL_SCONV) : -ENOMEM;
    size_t i = 0;

    if (!err)
        exp_unblock_output(p, b->layer->source.block, b->operands.of[0][EXP_OPERAND_C], out);
    while (!err && i < n && fabsf(out[i] - want[i]) <= 0.0f)
        i++;
    if (!err && i < n)
        err = exp_fail(why, -EILSEQ, "%s: output %zu of '%s' is %g, SConv's %g", b->layer->name, i,
                       b->layer->variants.variant[0].name, (double)out[i], (double)want[i]);
    free(out);
    return err;
}

/* Runs a variant on a cleared output. */
static void compute(struct bench *b, const struct exp_variant *v)
{
    struct runner r;

    memset(b->operands.of[0][EXP_OPERAND_C], 0, b->operands.bytes[EXP_OPERAND_C]);
    if (prepare_variant(&r, b, v, EXP_POLYDL_ONE, b->timing->uses_xsmm))
        run(&r);
}

/* Checks that all variants make the same output. Sums of small whole numbers are exact in any order. */
static int check(struct bench *b, struct exp_why *why)
{
    const struct exp_variants *v = &b->layer->variants;
    const struct conv_problem *p = b->layer->source.problem;
    const size_t bytes = b->operands.bytes[EXP_OPERAND_C];
    float *first = malloc(bytes);
    int err = first ? 0 : -ENOMEM;

    for (size_t i = 0; i < v->n && !err; i++) {
        compute(b, &v->variant[i]);
        if (!i)
            memcpy(first, b->operands.of[0][EXP_OPERAND_C], bytes);
        else if (memcmp(first, b->operands.of[0][EXP_OPERAND_C], bytes) != 0)
            err = exp_fail(why, -EILSEQ, "%s: '%s' computes something else than '%s'", b->layer->name,
                           v->variant[i].name, v->variant[0].name);
        if (!err && !i && p && exp_tensors_exact(p) && is_there(b, EXP_POLYDL_SCONV))
            err = check_first(b, why);
        if (!err && exp_interrupted())
            err = -EINTR;
    }
    free(first);
    return err;
}

/* ---- a layer ---- */

static int open_bench(struct bench *b, struct exp_why *why)
{
    const struct exp_variant_source *s = &b->layer->source;
    const size_t n_images = s->problem ? b->timing->n_threads : 1;
    int err = exp_operands_init(&b->operands, &b->layer->variants.variant[0], n_images);

    if (!err)
        err = exp_baselines_init(&b->baselines, b->layer, b->timing, why);
    if (err || !s->problem || !is_there(b, EXP_POLYDL_SCONV))
        return err;
    for (size_t image = 0; image < n_images; image++)
        exp_block_input(s->problem, s->block, exp_baselines_tensor(&b->baselines, CONV_INPUT),
                        b->operands.of[image][EXP_OPERAND_B]);
    exp_block_filter(s->problem, s->block, exp_baselines_tensor(&b->baselines, CONV_FILTER),
                     b->operands.of[0][EXP_OPERAND_A]);
    return 0;
}

static void close_bench(struct bench *b)
{
    sconv_team_free(b->team);
    exp_baselines_release(&b->baselines);
    exp_operands_release(&b->operands);
}

/* Starts the team of two: from then on the other core is looked after by a thread that waits. */
static int open_team(struct bench *b)
{
    const unsigned n = exp_polydl_n_threads(EXP_POLYDL_TWO);
    int err = sconv_team_create(&b->team, n);

    return !err && sconv_team_threads(b->team) < n ? -EAGAIN : err;
}

int exp_polydl_time(const struct exp_polydl_layer *l, const struct exp_polydl_timing *t, struct exp_polydl_times *times,
                    struct exp_why *why)
{
    struct bench b = { .layer = l, .timing = t, .watch = exp_ruler_watch(t->ruler) };
    int err = open_bench(&b, why);

    if (!err)
        err = check(&b, why);
    if (!err)
        err = time_variants(&b, times, EXP_POLYDL_ONE, why);
    if (!err)
        err = time_baselines(&b, times);
    if (!err)
        err = time_loops(&b, times);
    if (!err && t->n_threads > 1)
        err = open_team(&b);
    if (!err && t->n_threads > 1)
        err = time_variants(&b, times, EXP_POLYDL_TWO, why);
    close_bench(&b);
    return err;
}

/* Leaders are reckoned to take half of the time that they may take. */
double exp_polydl_time_seconds(const struct exp_polydl_layer *l, const struct exp_polydl_timing *t)
{
    const bool is_long = expected_ns(l) >= long_run_ns, has_two = t->n_threads > 1;
    const double run = l->flops / 1e11, budget = (double)t->budget_ns / 1e9, refine = (double)t->refine_ns / 2e9;
    const double rounds = run * (is_long ? LEAST_ROUNDS : 2 * LEAST_ROUNDS + 2), one = fmax(rounds, budget);
    const double two =
        fmax((l->source.problem ? rounds : rounds / 2) / (l->flops < once_flops ? 1 : LEAST_ROUNDS), budget / 2);
    const double loops = exp_polydl_timed_share(l, EXP_POLYDL_LOOPS) * l->flops / (l->source.problem ? 3e9 : 3e8);

    return (double)l->variants.n * (run + one + refine + (has_two ? two + refine / 2 : 0)) + 5 * one + loops;
}
