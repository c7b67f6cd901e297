/*
 * The model is a core that starts two multiply-adds and two loads a cycle, six operations in all, and ends a
 * multiply-add after four cycles. A step of a register tile takes as long as the busiest resource: multiply-adds,
 * loads, all operations including the loop's own, and, with fewer than eight accumulators, the chain through each
 * accumulator.
 */
#include "experiments/speed/speed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/peak.h"

enum { FMA_PORTS = 2, LOAD_PORTS = 2, ISSUE = 6, LATENCY = 4, LOOP_OPERATIONS = 4 };
enum { ROUNDS = 9, STEPS = 288, CALLS = 1000, PEAK_STEPS = 100000, L1_FLOATS = 1 << 13, L2_FLOATS = 1 << 17 };

/* A tile, with properties of the register tile that the descriptor lacks. */
struct shape {
    const char *ukr;
    size_t n_win, n_f;
    size_t accumulators, panels; /* of a register tile, including steps of one in turn; register tiles of a step */
};

static const struct shape shapes[] = {
    { "f32_16x6__avx2", 16, 6, 12, 1 },     { "f32_16x6__avx2", 8, 6, 12, 1 },
    { "f32_16x6__avx2", 16, 4, 8, 1 },      { "f32_16x24__avx2", 16, 24, 12, 4 },
    { "f32_16x24__avx2", 9, 24, 9, 4 },     { "f32_16x24__avx2", 4, 24, 8, 4 },
    { "f32_16x24__avx2", 1, 24, 6, 4 },     { "f32_16x16__avx2", 16, 16, 10, 3 },
    { "f32_16x16__avx2", 12, 16, 12, 2 },   { "f32_16x16__avx2", 7, 16, 6, 2 },
    { "f32_16x16__avx2", 16, 8, 8, 2 },     { "f32_16x24__avx512", 16, 24, 24, 1 },
    { "f32_48x8__avx512", 48, 8, 24, 1 },   { "f32_32x12__avx512", 32, 12, 24, 1 },
    { "f32_14x32__avx512", 14, 32, 28, 1 }, { "f32_16x24__ref", 16, 24, 0, 1 },
};

enum { N_SHAPES = sizeof shapes / sizeof shapes[0], PLACES = 2, MOST = (N_SHAPES + 1) * PLACES + CPU_N_ISAS };

/* Returns the model's cycles of a step; NaN if the descriptor lacks the instructions. */
static double model_cycles(const struct conv_ukr *u, const struct shape *s)
{
    double fmas, loads, panels = (double)s->panels;

    if (!u->step_fmas || !u->step_loads)
        return NAN;
    fmas = (double)u->step_fmas(s->n_win, s->n_f);
    loads = (double)u->step_loads(s->n_win, s->n_f);
    return fmax(fmax(fmas / FMA_PORTS, loads / LOAD_PORTS),
                fmax((fmas + loads + panels * LOOP_OPERATIONS) / ISSUE, LATENCY * fmas / (double)s->accumulators));
}

/* A contender's calls, over arrays of floats that fit L1, or only L2. */
struct run {
    const struct shape *shape;
    const struct conv_ukr *u;
    const struct conv_peak *peak;
    size_t floats;
    float *in, *filter, *out;
};

static int run_tile(void *ctx)
{
    const struct run *r = ctx;
    const struct conv_ukr *u = r->u;
    size_t in = STEPS * conv_ukr_in_width(u, r->shape->n_win), filter = STEPS * r->shape->n_f;
    size_t i = 0, f = 0;

    for (int c = 0; c < CALLS; c++) {
        struct conv_ukr_args a = {
            .in = (uintptr_t)(r->in + i),
            .filter = (uintptr_t)(r->filter + f),
            .out = (uintptr_t)r->out,
            .k = STEPS,
            .ld_out = u->n_win,
            .n_win = r->shape->n_win,
            .n_f = r->shape->n_f,
            .accumulate = true,
        };

        conv_ukr_call(u, &a);
        i = i + 2 * in <= r->floats ? i + in : 0;
        f = f + 2 * filter <= r->floats ? f + filter : 0;
    }
    return 0;
}

static int run_peak(void *ctx)
{
    const struct run *r = ctx;
    volatile float used = r->peak->fma(PEAK_STEPS);

    (void)used;
    return 0;
}

enum { ROW = 256, ROWS = 24, PLAIN_STEPS = 16 * STEPS };

/*
 * A product of n_steps in plain C, which the compiler may vectorise for the baseline instruction set: the portable
 * micro-kernel's competitor.
 */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O3")))
#endif
static void
plain_product(const float *in, const float *filter, float *restrict out, size_t n_steps)
{
    for (size_t f = 0; f < ROWS; f++) {
        for (size_t t = 0; t < n_steps; t++) {
            for (size_t w = 0; w < ROW; w++)
                out[f * ROW + w] += filter[f * n_steps + t] * in[t * ROW + w];
        }
    }
}

static int run_plain(void *ctx)
{
    const struct run *r = ctx;
    const size_t n_steps = r->floats / 2 / ROW; /* half of the floats are the windows' */

    for (size_t t = 0; t < PLAIN_STEPS; t += n_steps)
        plain_product(r->in, r->filter, r->out, n_steps);
    return 0;
}

struct table {
    struct run run[MOST];
    struct exp_contender contender[MOST];
    double gflop[MOST]; /* of a round */
    size_t n;
};

static void add(struct table *t, const char *name, int (*fn)(void *ctx), const struct run *r, double gflop)
{
    t->run[t->n] = *r;
    t->contender[t->n] = (struct exp_contender){ .name = name, .run = fn, .ctx = &t->run[t->n] };
    t->gflop[t->n++] = gflop;
}

/* Fills the shapes that run here, in L1 and L2; the peaks of the instruction sets; the plain product, in both. */
static void fill(struct table *t, const struct run *memory)
{
    static const size_t floats[PLACES] = { L1_FLOATS, L2_FLOATS };

    for (size_t i = 0; i < N_SHAPES; i++) {
        struct run r = *memory;

        r.shape = &shapes[i];
        r.u = conv_ukr_find(shapes[i].ukr);
        for (size_t p = 0; p < PLACES && conv_ukr_runs(r.u); p++) {
            r.floats = floats[p];
            add(t, r.u->name, run_tile, &r, 2e-9 * STEPS * CALLS * (double)(shapes[i].n_win * shapes[i].n_f));
        }
    }
    for (size_t i = 0; i < conv_peak_count(); i++) {
        struct run r = { .peak = conv_peak_at(i) };

        if (conv_peak_runs(r.peak))
            add(t, r.peak->name, run_peak, &r, 1e-9 * r.peak->flop_per_step * PEAK_STEPS);
    }
    for (size_t p = 0; p < PLACES; p++) {
        struct run r = *memory;

        r.floats = floats[p];
        add(t, "plain", run_plain, &r, 2e-9 * ROWS * PLAIN_STEPS * ROW);
    }
}

/* Returns the peak of an instruction set; without an instruction set, the plain product's speed in the same cache. */
static double ceiling(const struct table *t, const double *gflops, enum cpu_isa isa, size_t place)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->run[i].peak && t->run[i].peak->isa == isa)
            return gflops[i];
    }
    return gflops[t->n - PLACES + place];
}

static void print_tiles(const struct table *t, const double *gflops)
{
    printf("tiles: %% of the multiply-add peak, %d steps; the ports allow: %d multiply-adds (%d cycles), %d loads, %d "
           "operations a cycle\n%-24s %8s %8s %8s %10s %8s %8s\n",
           STEPS, FMA_PORTS, LATENCY, LOAD_PORTS, ISSUE, "", "tile", "fmas", "loads", "ports", "L1", "L2");
    for (size_t i = 0; i < t->n && t->run[i].shape; i += PLACES) {
        const struct shape *s = t->run[i].shape;
        const struct conv_ukr *u = t->run[i].u;
        double cycles = model_cycles(u, s);

        printf("%-24s %5zux%-2zu", u->name, s->n_win, s->n_f);
        if (isnan(cycles))
            printf(" %8s %8s %10s", "-", "-", "-");
        else
            printf(" %8zu %8zu %10.0f", u->step_fmas(s->n_win, s->n_f), u->step_loads(s->n_win, s->n_f),
                   100 * (double)u->step_fmas(s->n_win, s->n_f) / FMA_PORTS / cycles);
        for (size_t place = 0; place < PLACES; place++)
            printf(" %8.0f", 100 * gflops[i + place] / ceiling(t, gflops, u->isa, place));
        printf("\n");
    }
    printf("The portable one (ref) in %% of a plain loop that the compiler made vectors of: %.1f GFLOP/s out of L1, "
           "%.1f out of L2.\n\n",
           gflops[t->n - PLACES], gflops[t->n - PLACES + 1]);
}

int exp_bench_fastest(const struct exp_contender *contender, size_t n, size_t n_rounds, uint64_t (*now_ns)(void),
                      uint64_t *fastest_ns)
{
    const struct exp_bench protocol = {
        .n_warmups = 1, .rounds = { n_rounds, n_rounds, 0 }, .now_ns = now_ns, .interrupted = exp_interrupted
    };
    uint64_t *sample = exp_new(n * n_rounds, sizeof *sample);
    struct exp_bench_result result;
    int err = exp_bench_run(&protocol, contender, n, sample, &result);

    for (size_t i = 0; i < n && !err; i++)
        fastest_ns[i] = exp_stats_min(sample + i * n_rounds, result.n_rounds);
    free(sample);
    return err;
}

static int measure(const struct table *t, double *gflops)
{
    uint64_t fastest_ns[MOST];
    int err = exp_bench_fastest(t->contender, t->n, ROUNDS, ctr_thread_ns, fastest_ns);

    for (size_t i = 0; i < t->n && !err; i++)
        gflops[i] = t->gflop[i] / ((double)fastest_ns[i] / 1e9);
    return err;
}

int exp_bench_tiles(void)
{
    enum { MOST_FLOATS = L2_FLOATS + STEPS * 64 };
    struct run memory = { .floats = L1_FLOATS };
    struct table t = { .n = 0 };
    double gflops[MOST];
    int err;

    memory.in = calloc(3 * MOST_FLOATS, sizeof(float));
    if (!memory.in)
        return -ENOMEM;
    memory.filter = memory.in + MOST_FLOATS;
    memory.out = memory.filter + MOST_FLOATS;
    fill(&t, &memory);
    err = measure(&t, gflops);
    if (!err)
        print_tiles(&t, gflops);
    free(memory.in);
    return err;
}
