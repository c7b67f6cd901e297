#include "experiments/papers/polydl/time/time.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/papers/polydl/analysis/walk.h"
#include "kernels/lib/team.h"
#include "kernels/shape/sizes.h"

enum { LEAST_ROUNDS = 2, MOST_ROUNDS = 40, MOST_REFINED = 200, MICRO_TILE = 16 };

static const double long_run_flops = 2e9; /* of runs that take longer on most computers */
static const double once_flops = 2e10;    /* of runs that two threads do once */

/* Slow code is timed in part: the first iterations of the outermost loop with this many operations. */
static const double most_flops_of_loops = 5e8, most_flops_of_tiles = 2e9;

/* The tensors of a layer's variants in memory: all variants of a layer share the tensors. */
struct operands {
    float *of[EXP_N_POLYDL_THREADS][EXP_N_OPERANDS]; /* of each image; all images share A */
    size_t bytes[EXP_N_OPERANDS], n_images;
};

/* SConv, Base and oneDNN, on NCHW tensors of their own. A GEMM is a 1x1 convolution here. */
struct baselines {
    const struct exp_setup *setup;
    struct exp_layer_plans planned;
    struct exp_tensors tensors[EXP_N_POLYDL_BASELINES]; /* of SConv and Base */
    struct exp_dnnl_op *dnnl;
};

/* A layer while it is timed. */
struct bench {
    struct exp_polydl_layer *layer;
    const struct exp_polydl_timing *timing;
    struct exp_watch watch; /* the ruler's */
    struct operands operands;
    struct baselines baselines;
    struct sconv_team *team; /* of two; NULL: only a single thread is timed yet */
};

/* The timed iterations of an outermost loop: the first n; all 0: everything. */
struct slice {
    size_t n, of;
};

/* A contender: a variant, or a baseline. */
struct runner {
    struct bench *bench;
    const struct exp_variant *variant;
    struct exp_walk walk[EXP_N_POLYDL_THREADS]; /* of each thread's image */
    struct exp_executor executor;
    enum exp_polydl_threads threads;
    enum exp_polydl_baseline baseline; /* without a variant */
    struct slice slice;
};

/* ---- tensors of variants ---- */

void *exp_polydl_pages(size_t bytes)
{
    void *memory;

    if (posix_memalign(&memory, CONV_PAGE_BYTES, round_up(bytes + 1, CONV_PAGE_BYTES)))
        exp_program_out_of_memory();
    return memory;
}

/* Allocates for this many images, filled as exp_tensors_fill does; all images share A. */
static void open_operands(struct operands *o, const struct exp_variant *v, size_t n_images)
{
    *o = (struct operands){ .n_images = n_images };
    for (size_t i = 0; i < n_images * EXP_N_OPERANDS; i++) {
        const size_t image = i / EXP_N_OPERANDS, operand = i % EXP_N_OPERANDS;

        o->bytes[operand] = exp_tensor_bytes(&v->tensor[operand]);
        o->of[image][operand] = o->of[0][operand];
        if (image && operand == EXP_OPERAND_A)
            continue;
        o->of[image][operand] = exp_polydl_pages(o->bytes[operand]);
        exp_tensors_fill(o->of[image][operand], o->bytes[operand], 1 + operand);
    }
}

static void close_operands(struct operands *o)
{
    for (size_t i = 0; i < o->n_images * EXP_N_OPERANDS; i++) {
        if (i < EXP_N_OPERANDS || i % EXP_N_OPERANDS != EXP_OPERAND_A)
            free(o->of[i / EXP_N_OPERANDS][i % EXP_N_OPERANDS]);
    }
}

/* ---- plans in this project's algorithms ---- */

int exp_layer_plans_init(struct exp_layer_plans *p, const struct exp_setup *setup, const struct exp_polydl_layer *l,
                         const struct conv_problem *shape, const char *algos, struct exp_why *why)
{
    unsigned selected;
    int err;

    assert(shape && algos);
    *p = (struct exp_layer_plans){
        .layer = { .name = (char *)l->name, .problem = *shape, .line = 1, .index = 1 },
        .model = { .name = (char *)l->model, .path = (char *)l->model, .n_layers = 1 },
    };
    p->model.layer = &p->layer;
    err = exp_algo_select(algos, &selected, why);
    return err ? err : exp_experiment_plan(&p->plans, setup, &p->model, selected, why);
}

void exp_layer_plans_release(struct exp_layer_plans *p)
{
    exp_experiment_release(&p->plans);
}

const struct exp_case *exp_layer_plans_case(const struct exp_layer_plans *p, const char *algo)
{
    assert(algo);
    for (size_t i = 0; i < p->plans.n_cases; i++) {
        if (!strcmp(p->plans.cases[i].algo->name, algo))
            return &p->plans.cases[i];
    }
    return NULL;
}

/* ---- baselines of further programs ---- */

static const struct exp_case *case_of(const struct baselines *r, enum exp_polydl_baseline b)
{
    return exp_layer_plans_case(&r->planned, exp_polydl_baseline_names[b]);
}

static bool has_tensors(const struct baselines *r, enum exp_polydl_baseline b)
{
    return r->tensors[b].arena != NULL;
}

static int make_tensors(struct baselines *r, enum exp_polydl_baseline b)
{
    const struct exp_case *c = case_of(r, b);

    return !c || exp_algo_why_not_run(c->algo, r->setup) ? 0 : exp_tensors_init(&r->tensors[b], &c->plan);
}

/* Returns SConv's tensors, of which input and filter are filled; NULL if SConv is not there. */
static const float *tensor_of_sconv(const struct baselines *r, enum conv_tensor t)
{
    return has_tensors(r, EXP_POLYDL_SCONV) ? conv_in_ptr(r->tensors[EXP_POLYDL_SCONV].bind.addr[t]) : NULL;
}

/*
 * Prepares the baselines of a layer. Base is there for a convolution only. Missing baselines are not run. Must stay at
 * its address. Returns 0, or -errno with a line in why.
 */
static int open_baselines(struct baselines *r, const struct exp_polydl_layer *l, const struct exp_polydl_timing *t,
                          struct exp_why *why)
{
    const struct exp_tensors *sconv = &r->tensors[EXP_POLYDL_SCONV];
    int err;

    *r = (struct baselines){ .setup = t->setup };
    err = exp_layer_plans_init(&r->planned, r->setup, l, l->shape, "base,sconv_tuned", why);
    if (!err)
        err = make_tensors(r, EXP_POLYDL_SCONV);
    if (!err && l->source.problem)
        err = make_tensors(r, EXP_POLYDL_BASE);
    if (err || !has_tensors(r, EXP_POLYDL_SCONV) || !t->dnnl)
        return err;
    err = exp_dnnl_open(&r->dnnl, t->dnnl, "blocked", l->shape, tensor_of_sconv(r, CONV_INPUT),
                        tensor_of_sconv(r, CONV_FILTER), conv_out_ptr(sconv->bind.addr[CONV_OUTPUT]), why);
    return err == -ENOTSUP ? 0 : err;
}

static void close_baselines(struct baselines *r)
{
    exp_dnnl_close(r->dnnl);
    for (size_t i = 0; i < EXP_N_POLYDL_BASELINES; i++)
        exp_tensors_release(&r->tensors[i]);
    exp_layer_plans_release(&r->planned);
}

/* Runs a baseline. Returns 0, -ENOENT if the baseline is not there, or -errno. */
static int run_other(struct baselines *r, enum exp_polydl_baseline b)
{
    const struct exp_case *c = case_of(r, b);

    if (b == EXP_POLYDL_ONEDNN && r->dnnl)
        exp_dnnl_run(r->dnnl);
    if (b == EXP_POLYDL_ONEDNN)
        return r->dnnl ? 0 : -ENOENT;
    return has_tensors(r, b) ? c->algo->run(r->setup, &c->plan, &r->tensors[b].bind) : -ENOENT;
}

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

/* Calls OpenBLAS as Base would. */
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
        return run_other(&b->baselines, r->baseline);
    return 0;
}

static int run(void *ctx)
{
    struct runner *r = ctx;

    if (!r->variant)
        return run_baseline(r);
    conv_team_run(r->bench->team, exp_polydl_n_threads(r->threads), &(struct conv_team_job){ run_share, r });
    return 0;
}

/* ---- contenders ---- */

/*
 * Returns the first iterations, at least an iteration and a share that divides `of`, with at most this many operations.
 */
static struct slice slice_of(size_t of, double flops, double most)
{
    size_t n = (size_t)((double)of * most / flops);

    n = n > of ? of : n ? n : 1;
    while (of % n)
        n--;
    return (struct slice){ n, of };
}

/* Tells whether tiles of 16 divide a GEMM's rows and sums, too: else there are tiles of columns alone. */
static bool has_row_tiles(const struct exp_variant_source *s)
{
    return s->gemm.m % MICRO_TILE == 0 && s->gemm.k % MICRO_TILE == 0;
}

/* Returns the timed part of a baseline. */
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

/* Prepares a variant. Returns whether there is a micro-kernel for the variant. */
static bool prepare_variant(struct runner *r, struct bench *b, const struct exp_variant *v,
                            enum exp_polydl_threads threads, bool uses_xsmm)
{
    *r = (struct runner){ .bench = b, .variant = v, .threads = threads };
    for (size_t image = 0; image < b->operands.n_images; image++) {
        uint64_t base[EXP_N_OPERANDS];

        for (size_t i = 0; i < EXP_N_OPERANDS; i++)
            base[i] = (uintptr_t)b->operands.of[image][i];
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
        return tensor_of_sconv(&b->baselines, CONV_INPUT) != NULL;
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

/* Returns the turn of a runner, whose times go there. */
static struct exp_turn turn_of(struct runner *r, struct exp_polydl_time *time)
{
    const bool is_long = r->bench->layer->flops >= long_run_flops;

    return (struct exp_turn){ .run = run,
                              .ctx = r,
                              .last_ns = is_long ? UINT64_MAX : 0,
                              .times = r->slice.n ? (double)r->slice.of / (double)r->slice.n : 1,
                              .time = time };
}

/*
 * Long runs follow only the runs of check(), if any. The ruler sees the calling thread's core: the ruler stands beside
 * runs of a single thread only.
 */
static struct exp_turns turns_of(const struct bench *b, uint64_t budget_ns, size_t n, uint64_t (*now_ns)(void))
{
    return (struct exp_turns){ .protocol = { .n_warmups = b->layer->flops < long_run_flops,
                                             .rounds = { LEAST_ROUNDS, MOST_ROUNDS, budget_ns * n },
                                             .now_ns = now_ns,
                                             .wall_ns = ctr_now_ns,
                                             .interrupted = exp_interrupted,
                                             .watch = b->timing->ruler && now_ns == ctr_thread_ns ? &b->watch : NULL },
                               .most = MOST_REFINED };
}

/*
 * Times the variants, and the micro-kernels in Figure 8's order, which share the variants' tensors: runs in between
 * leave no traces of their own in the outer caches.
 */
static int time_variants(struct bench *b, enum exp_polydl_threads threads, struct exp_why *why)
{
    const struct exp_variants *v = &b->layer->variants;
    const bool is_one = threads == EXP_POLYDL_ONE;
    struct runner *runner = exp_new(v->n + EXP_N_POLYDL_BASELINES, sizeof *runner);
    struct exp_turn *turn = exp_new(v->n + EXP_N_POLYDL_BASELINES, sizeof *turn);
    struct exp_turns turns;
    struct exp_variant micro;
    size_t n = 0;
    int err = micro_variant(b, &micro, why);

    for (; n < v->n && !err; n++) {
        if (!prepare_variant(&runner[n], b, &v->variant[n], threads, b->timing->uses_xsmm))
            err = exp_fail(why, -ENOTSUP, "LIBXSMM has no micro-kernel for '%s'", v->variant[n].name);
        turn[n] = turn_of(&runner[n], &b->layer->of[n].time[threads]);
    }
    for (enum exp_polydl_baseline x = EXP_POLYDL_MICRO; x <= EXP_POLYDL_XSMM && is_one && !err; x++) {
        if (!prepare_variant(&runner[n], b, &micro, threads, x == EXP_POLYDL_XSMM))
            continue;
        if (exp_polydl_timed_share(b->layer, x) < 1)
            runner[n].slice = slice_of_baseline(b->layer, x);
        turn[n] = turn_of(&runner[n], &b->layer->baseline[x]);
        n++;
    }
    turns = turns_of(b, b->timing->budget_ns / (is_one ? 1 : 2), n, is_one ? ctr_thread_ns : ctr_now_ns);
    turns.n_ranked = v->n;
    turns.refine_ns = b->timing->refine_ns / (is_one ? 1 : 2) * v->n;
    if (!is_one && b->layer->flops >= once_flops)
        turns.protocol.rounds.least = 1;
    if (!err)
        err = exp_turns_take(turn, n, &turns, b->timing->ruler);
    free(turn);
    free(runner);
    return err;
}

/* Times oneDNN, SConv and Base. */
static int time_baselines(struct bench *b)
{
    struct runner runner[EXP_N_POLYDL_BASELINES];
    struct exp_turn turn[EXP_N_POLYDL_BASELINES];
    struct exp_turns turns;
    size_t n = 0;

    for (enum exp_polydl_baseline x = EXP_POLYDL_ONEDNN; x < EXP_N_POLYDL_BASELINES; x++) {
        if (!is_there(b, x))
            continue;
        runner[n] = (struct runner){ .bench = b, .baseline = x };
        turn[n] = turn_of(&runner[n], &b->layer->baseline[x]);
        n++;
    }
    turns = turns_of(b, b->timing->budget_ns, n, ctr_thread_ns);
    return exp_turns_take(turn, n, &turns, b->timing->ruler);
}

/* Times the plain loops, which are slow: some iterations, once at least, without a warm-up. */
static int time_loops(struct bench *b)
{
    struct runner runner = { .bench = b,
                             .baseline = EXP_POLYDL_LOOPS,
                             .slice = slice_of_baseline(b->layer, EXP_POLYDL_LOOPS) };
    struct exp_turn turn = turn_of(&runner, &b->layer->baseline[EXP_POLYDL_LOOPS]);
    struct exp_turns turns = turns_of(b, b->timing->budget_ns, 1, ctr_thread_ns);

    turn.last_ns = UINT64_MAX;
    turns.protocol.n_warmups = 0;
    turns.protocol.rounds.least = 1;
    return exp_turns_take(&turn, 1, &turns, b->timing->ruler);
}

/* ---- checks ---- */

/* Compares the output of the first variant with SConv's output of the same numbers. */
static int check_first(struct bench *b, struct exp_why *why)
{
    const struct conv_problem *p = b->layer->source.problem;
    const size_t n = p->k * conv_windows(p);
    const float *want = tensor_of_sconv(&b->baselines, CONV_OUTPUT);
    float *out = exp_new(n, sizeof *out);
    int err = run_other(&b->baselines, EXP_POLYDL_SCONV);
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
    float *first = exp_new(1, bytes);
    int err = 0;

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
    int err;

    open_operands(&b->operands, &b->layer->variants.variant[0], n_images);
    err = open_baselines(&b->baselines, b->layer, b->timing, why);
    if (err || !s->problem || !is_there(b, EXP_POLYDL_SCONV))
        return err;
    for (size_t image = 0; image < n_images; image++)
        exp_block_input(s->problem, s->block, tensor_of_sconv(&b->baselines, CONV_INPUT),
                        b->operands.of[image][EXP_OPERAND_B]);
    exp_block_filter(s->problem, s->block, tensor_of_sconv(&b->baselines, CONV_FILTER),
                     b->operands.of[0][EXP_OPERAND_A]);
    return 0;
}

/* Starts the team of two: from then on a waiting thread looks after the second core. */
static int open_team(struct bench *b)
{
    const unsigned n = exp_polydl_n_threads(EXP_POLYDL_TWO);
    int err = sconv_team_create(&b->team, n);

    return !err && sconv_team_threads(b->team) < n ? -EAGAIN : err;
}

int exp_polydl_time(struct exp_polydl_layer *l, const struct exp_polydl_timing *t, struct exp_why *why)
{
    struct bench b = { .layer = l, .timing = t, .watch = exp_ruler_watch(t->ruler) };
    int err = open_bench(&b, why);

    assert(l->variants.n > 0);
    if (!err)
        err = check(&b, why);
    if (!err)
        err = time_variants(&b, EXP_POLYDL_ONE, why);
    if (!err)
        err = time_baselines(&b);
    if (!err)
        err = time_loops(&b);
    if (!err && t->n_threads > 1)
        err = open_team(&b);
    if (!err && t->n_threads > 1)
        err = time_variants(&b, EXP_POLYDL_TWO, why);
    sconv_team_free(b.team);
    close_baselines(&b.baselines);
    close_operands(&b.operands);
    return err;
}

/* Leaders are reckoned to take half of the time that they may take. */
double exp_polydl_time_seconds(const struct exp_polydl_layer *l, const struct exp_polydl_timing *t)
{
    const bool is_long = l->flops >= long_run_flops, has_two = t->n_threads > 1;
    const double run = l->flops / 1e11, budget = (double)t->budget_ns / 1e9, refine = (double)t->refine_ns / 2e9;
    const double rounds = run * (is_long ? LEAST_ROUNDS : 2 * LEAST_ROUNDS + 2), one = fmax(rounds, budget);
    const double two =
        fmax((l->source.problem ? rounds : rounds / 2) / (l->flops < once_flops ? 1 : LEAST_ROUNDS), budget / 2);
    const double loops = exp_polydl_timed_share(l, EXP_POLYDL_LOOPS) * l->flops / (l->source.problem ? 3e9 : 3e8);

    return (double)l->variants.n * (run + one + refine + (has_two ? two + refine / 2 : 0)) + 5 * one + loops;
}
