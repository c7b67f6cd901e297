#include "kernels/blas/gemm_core.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/blas/haswell_prefetch.h"

/* ---- x86: what both generations share ---- */

static struct sim_run ukr_load(enum conv_tensor tag, uint64_t addr, uint32_t bytes, size_t count, size_t step_bytes)
{
    return (struct sim_run){
        .addr = addr,
        .stride_bytes = bytes,
        .step_bytes = (int64_t)step_bytes,
        .count = (uint32_t)count,
        .access_bytes = bytes,
        .kind = SIM_LOAD,
        .tag = (uint8_t)tag,
        .phase = CONV_PHASE_UKR,
    };
}

/* The loads of filters [f0, f0 + n_f) in one step, `bytes` at a time; returns how many runs they are. */
static size_t filter_loads(const struct conv_ukr *u, const struct conv_ukr_args *a, size_t f0, size_t n_f,
                           uint32_t bytes, struct sim_run *run)
{
    size_t width = a->n_f < u->f_panel ? a->n_f : u->f_panel, n = 0;

    for (size_t f = f0, n_here; f < f0 + n_f; f += n_here, n++) {
        uint64_t panel = a->filter + f / width * width * a->k * sizeof(float);

        n_here = width - f % width < f0 + n_f - f ? width - f % width : f0 + n_f - f;
        run[n] = ukr_load(CONV_PACKED_FILTER, panel + f % width * sizeof(float), bytes, n_here * sizeof(float) / bytes,
                          width * sizeof(float));
    }
    return n;
}

/* The loads of one step: of the windows, each as wide, all over again or side by side; of the filters, each as wide. */
struct step_loads {
    uint32_t win_bytes, win_times, f_bytes;
};

static void emit_x86_steps(const struct conv_ukr *u, const struct conv_ukr_args *a, struct step_loads step,
                           struct sim_sink *sink)
{
    struct sim_run run[SIM_MAX_BURST_RUNS];
    size_t n;

    run[0] = ukr_load(CONV_PACKED_INPUT, a->in, step.win_bytes, step.win_times, a->n_win * sizeof(float));
    if (step.win_bytes == a->n_win * sizeof(float))
        run[0].stride_bytes = 0;
    n = 1 + filter_loads(u, a, 0, a->n_f, step.f_bytes, run + 1);
    sim_emit(sink, run, n, a->k);
}

/* ---- SkylakeX and Cooperlake: sgemm_kernel_16x4_skylakex_3.c, as watched by data breakpoints ---- */

/* A whole panel twice (even and odd lanes) with the filters in pairs; narrower ones once, in vectors of four. */
static struct step_loads avx512_step(size_t n_win, size_t n_f)
{
    uint32_t all = (uint32_t)(n_win * sizeof(float));

    if (n_win == 16)
        return (struct step_loads){ all, n_f > 1 ? 2 : 1, n_f > 1 ? 8 : 4 };
    if (n_f >= 4)
        return n_win >= 4 ? (struct step_loads){ 16, all / 16, 16 } : (struct step_loads){ 4, (uint32_t)n_win, 16 };
    return (struct step_loads){ all, 1, n_win == 1 && n_f == 2 ? 8 : 4 };
}

/* Whole panels are written by two filters, as its observed machine code does: both loads, then both stores. */
static void emit_update_by_pairs(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const size_t pairs = a->n_f / 2, row_bytes = a->ld_out * sizeof(float);
    const struct sim_run both = { .addr = a->out,
                                  .stride_bytes = (int64_t)row_bytes,
                                  .step_bytes = (int64_t)(2 * row_bytes),
                                  .count = 2,
                                  .access_bytes = u->win_load_bytes,
                                  .kind = SIM_LOAD,
                                  .tag = CONV_OUTPUT,
                                  .phase = CONV_PHASE_UKR };
    struct sim_run run[2] = { both, both };
    struct conv_ukr_args last = *a;

    run[1].kind = SIM_STORE;
    if (pairs)
        sim_emit(sink, a->accumulate ? run : run + 1, a->accumulate ? 2 : 1, pairs);
    last.out += 2 * pairs * row_bytes;
    last.n_f -= 2 * pairs;
    if (last.n_f)
        conv_emit_tile_update(&last, u->win_load_bytes, sink);
}

static void openblas_avx512_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    emit_x86_steps(u, a, avx512_step(a->n_win, a->n_f), sink);
    if (a->n_win == u->n_win)
        emit_update_by_pairs(u, a, sink);
    else
        conv_emit_tile_update(a, u->win_load_bytes, sink);
}

/* ---- Haswell and Zen: sgemm_kernel_8x4_haswell_2.c, as observed under emulation ---- */

enum { AVX2_WIN = 8, AVX2_F = 12, AVX2_HALF = AVX2_F / 2, AVX2_ALONE_F = 4 };

/* Part of a column of whole window panels: n_panels of them from `panel` on, filters [f0, f0 + n_f). */
struct avx2_block {
    size_t panel, n_panels;
    size_t f0, n_f;
    bool prefetches;
    enum haswell_kind kind;
};

/* Emits the loop of a block that prefetches. */
static void emit_avx2_loop(const struct conv_ukr_args *a, const struct avx2_block *b, const struct sim_run *load,
                           size_t n_loads, const struct conv_ukr_args *out, struct sim_sink *sink)
{
    size_t panel_bytes = AVX2_WIN * a->k * sizeof(float), filter_panel = a->k * 4 * sizeof(float);
    struct haswell_loop l = {
        .kind = b->kind,
        .load = load,
        .n_loads = n_loads,
        .k = a->k,
        .windows = a->in + (b->panel + b->n_panels - 1) * panel_bytes,
        .has_single_steps = a->n_f == AVX2_F,
        .filters = a->filter + (b->f0 ? 2 * filter_panel : 0),
        .next = a->filter + a->k * AVX2_F * sizeof(float),
        .asks_again = b->f0 > 0,
        .first_filters = a->filter,
        .out = out->out,
        .row_bytes = a->ld_out * sizeof(float),
    };

    l.next += b->panel * conv_haswell_eights(b->kind, a->k) * HASWELL_NEXT_STEP;
    conv_haswell_emit(&l, sink);
}

/* One panel is loaded twice a step (even and odd lanes) with the filters in pairs; two panels once, filters singly. */
static void emit_avx2_block(const struct conv_ukr *u, const struct conv_ukr_args *a, const struct avx2_block *b,
                            struct sim_sink *sink)
{
    size_t panel_bytes = AVX2_WIN * a->k * sizeof(float), n;
    uint32_t bytes = AVX2_WIN * sizeof(float);
    struct conv_ukr_args out = *a;
    struct sim_run run[SIM_MAX_BURST_RUNS];

    run[0] = ukr_load(CONV_PACKED_INPUT, a->in + b->panel * panel_bytes, bytes, 2, bytes);
    run[0].stride_bytes = b->n_panels == 1 ? 0 : (int64_t)panel_bytes;
    n = 1 + filter_loads(u, a, b->f0, b->n_f, b->n_panels == 1 ? 2 * sizeof(float) : sizeof(float), run + 1);
    out.out += (b->f0 * a->ld_out + b->panel * AVX2_WIN) * sizeof(float);
    if (b->prefetches)
        emit_avx2_loop(a, b, run, n, &out, sink);
    else
        sim_emit(sink, run, n, a->k);
    out.n_win = b->n_panels * AVX2_WIN;
    out.n_f = b->n_f;
    conv_emit_tile_update(&out, bytes, sink);
}

/*
 * A column of twelve filters: half of them with the first panel, then the halves in turns with two panels at a time,
 * each panel the second of one pair and the first of the next, and at last the other half with the last panel.
 */
static void emit_avx2_column(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    size_t n_panels = a->n_win / AVX2_WIN;
    struct avx2_block b = { .n_panels = 1, .n_f = AVX2_HALF };

    if (n_panels == 1) {
        b.n_f = AVX2_F;
        emit_avx2_block(u, a, &b, sink);
        return;
    }
    b.prefetches = true;
    b.kind = HASWELL_FIRST;
    emit_avx2_block(u, a, &b, sink);
    b.kind = HASWELL_PAIR;
    for (b.n_panels = 2; b.panel + 1 < n_panels; b.panel++) {
        b.f0 = AVX2_HALF - b.f0;
        emit_avx2_block(u, a, &b, sink);
    }
    b.kind = HASWELL_WINDOWS;
    b.n_panels = 1;
    b.f0 = AVX2_HALF - b.f0;
    emit_avx2_block(u, a, &b, sink);
}

/* A step of any other tile; windows first unless the filters come in wider loads than the windows. */
static struct step_loads avx2_step(size_t n_win, size_t n_f)
{
    uint32_t all = (uint32_t)(n_win * sizeof(float));

    if (n_win >= 4)
        return (struct step_loads){ all, n_f > 1 ? 2 : 1, n_f > 1 ? 8 : 4 };
    if (n_f >= 4)
        return (struct step_loads){ 4, (uint32_t)n_win, 16 };
    return (struct step_loads){ all, 1, n_win == 1 && n_f == 2 ? 8 : 4 };
}

static void emit_avx2_rest(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    emit_x86_steps(u, a, avx2_step(a->n_win, a->n_f), sink);
    conv_emit_tile_update(a, u->win_load_bytes, sink);
}

static void openblas_avx2_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const struct avx2_block alone = {
        .n_panels = 1, .n_f = a->n_f, .prefetches = a->n_f == AVX2_ALONE_F, .kind = HASWELL_WINDOWS
    };

    if (a->n_f == AVX2_F && a->n_win % AVX2_WIN == 0)
        emit_avx2_column(u, a, sink);
    else if (alone.prefetches && a->n_win == AVX2_WIN)
        emit_avx2_block(u, a, &alone, sink);
    else
        emit_avx2_rest(u, a, sink);
}

/* ---- POWER10 ---- */

/*
 * OpenBLAS's POWER10 kernel for a full tile is unrolled by 64, 32 and 16 steps, and in these bodies the compiler, short
 * of registers, loads some window vectors a second time: where, in vectors of 16 bytes from the body's first step on.
 * Observed under emulation in Debian's 0.3.21 (counters/observe/). Edge tiles load everything once.
 */
struct mma_body {
    size_t n_steps;
    size_t n_reloads;
    uint8_t reload[24];
};

static const struct mma_body mma_bodies[] = {
    { 64, 24, { 42,  44,  60,  63,  64,  81,  84,  102, 105, 123, 124, 126,
                128, 144, 147, 148, 165, 168, 189, 206, 212, 227, 228, 233 } },
    { 32, 10, { 42, 44, 45, 60, 63, 64, 81, 84, 102, 105 } },
    { 16, 1, { 42 } },
};

/* One panel's part of every step: vectors as wide as the routine loads them, or single elements if it is narrower. */
static struct sim_run mma_loads(uint64_t addr, size_t width, uint32_t load_bytes, enum conv_tensor tag)
{
    size_t row_bytes = width * sizeof(float);
    uint32_t bytes = row_bytes < load_bytes ? (uint32_t)sizeof(float) : load_bytes;

    return ukr_load(tag, addr, bytes, row_bytes / bytes, row_bytes);
}

/* Emits n_steps of the loop and moves run on to what follows. */
static void emit_steps(struct sim_run run[2], size_t n_steps, struct sim_sink *sink)
{
    sim_emit(sink, run, 2, n_steps);
    for (int i = 0; i < 2; i++)
        run[i].addr += n_steps * (uint64_t)run[i].step_bytes;
}

/* A body in pieces of a few steps, the vectors that are loaded again right after the piece that loaded them first. */
static void emit_body(const struct mma_body *body, struct sim_run run[2], struct sim_sink *sink)
{
    enum { PIECE = 8 };
    struct sim_run again[sizeof body->reload];
    size_t first = 0;

    for (size_t step = PIECE; step <= body->n_steps; step += PIECE) {
        size_t n = 0;

        for (; first < body->n_reloads && body->reload[first] < step * run[0].count; first++) {
            again[n] = run[0];
            again[n].addr += (body->reload[first] - (step - PIECE) * run[0].count) * run[0].access_bytes;
            again[n++].count = 1;
        }
        emit_steps(run, PIECE, sink);
        if (n)
            sim_emit(sink, again, n, 1);
    }
}

/* A pair beside vectors is loaded as one in the first step only. */
static void emit_first_step(const struct sim_run run[2], struct sim_sink *sink)
{
    struct sim_run first[2] = { run[0], run[1] };

    for (int i = 0; i < 2; i++) {
        if (run[i].step_bytes == 2 * sizeof(float) && run[1 - i].access_bytes > sizeof(float)) {
            first[i].access_bytes = 2 * sizeof(float);
            first[i].count = 1;
        }
    }
    sim_emit(sink, first, 2, 1);
}

/* One window and one filter: four steps at a time. */
static void emit_dot_product(struct sim_run run[2], size_t k, uint32_t load_bytes, struct sim_sink *sink)
{
    size_t per_load = load_bytes / sizeof(float);
    struct sim_run wide[2] = { run[0], run[1] };

    for (int i = 0; i < 2; i++) {
        wide[i].access_bytes = load_bytes;
        wide[i].step_bytes = load_bytes;
        run[i].addr += k / per_load * load_bytes;
    }
    sim_emit(sink, wide, 2, k / per_load);
    sim_emit(sink, run, 2, k % per_load);
}

/* Vectors of four windows, vectors of four filters; the first step is peeled off. */
static void emit_mma_loop(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_run run[2],
                          struct sim_sink *sink)
{
    size_t left = a->k - 1;

    emit_first_step(run, sink);
    for (int i = 0; i < 2; i++)
        run[i].addr += (uint64_t)run[i].step_bytes;
    for (size_t i = 0; a->n_win == u->n_win && a->n_f == u->n_f && i < sizeof mma_bodies / sizeof mma_bodies[0]; i++) {
        for (; left >= mma_bodies[i].n_steps; left -= mma_bodies[i].n_steps)
            emit_body(&mma_bodies[i], run, sink);
    }
    emit_steps(run, left, sink);
}

static void openblas_mma_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    struct sim_run run[2] = {
        mma_loads(a->in, a->n_win, u->win_load_bytes, CONV_PACKED_INPUT),
        mma_loads(a->filter, a->n_f, u->f_load_bytes, CONV_PACKED_FILTER),
    };

    if (a->n_win * a->n_f == 1)
        emit_dot_product(run, a->k, u->win_load_bytes, sink);
    else
        emit_mma_loop(u, a, run, sink);
    conv_emit_tile_update(a, run[0].access_bytes, sink);
}

/* Of a core: its name and instruction set; block sizes; copy routines; micro-kernel's tile and window loads. */
#define X86_CORE(core, isa_, p_, q_, r_, row_pass, odd_twice, zero, windows, filters, win_bytes, columns, emit_)       \
    {                                                                                                                  \
        .name = core, .p = p_, .q = q_, .r = r_, .unroll_win = windows, .first_pass_f = 12, .pack_row_pass = row_pass, \
        .pack_win_bytes = 32, .pack_f_bytes = 16, .pack_f_odd_twice = odd_twice, .zero_bytes = zero,                   \
        .ukr = {                                                                                                       \
            .name = "openblas_" core,                                                                                  \
            .isa = isa_,                                                                                               \
            .n_win = windows,                                                                                          \
            .n_f = filters,                                                                                            \
            .win_granule = 1,                                                                                          \
            .f_panel = 4,                                                                                              \
            .splits_edges = true,                                                                                      \
            .takes_columns = columns,                                                                                  \
            .emit = emit_,                                                                                             \
            .win_load_bytes = win_bytes,                                                                               \
        },                                                                                                             \
    }

static const struct conv_gemm_core cores[] = {
    X86_CORE("SkylakeX", CPU_ISA_AVX512, 448, 448, 74432, 0, false, 64, 16, 24, 64, false, openblas_avx512_emit),
    X86_CORE("Cooperlake", CPU_ISA_AVX512, 640, 320, 104192, 0, false, 64, 16, 24, 64, false, openblas_avx512_emit),
    X86_CORE("Haswell", CPU_ISA_AVX2, 320, 320, 104512, 8, true, 32, 8, 12, 32, true, openblas_avx2_emit),
    X86_CORE("Zen", CPU_ISA_AVX2, 320, 320, 104512, 8, false, 32, 8, 12, 32, true, openblas_avx2_emit),
    {
        .name = "POWER10",
        .p = 512,
        .q = 512,
        .r = 4096,
        .unroll_win = 16,
        .first_pass_f = 24,
        .pack_row_pass = 4,
        .pack_win_bytes = 16,
        .pack_f_bytes = 4,
        .zero_bytes = 4,
        .ukr = {
            .name = "openblas_POWER10",
            .isa = CPU_ISA_MMA,
            .n_win = 16,
            .n_f = 8,
            .win_granule = 1,
            .f_panel = 8,
            .splits_edges = true,
            .emit = openblas_mma_emit,
            .win_load_bytes = 16,
            .f_load_bytes = 16,
        },
    },
};

size_t conv_gemm_core_count(void)
{
    return sizeof cores / sizeof cores[0];
}

const struct conv_gemm_core *conv_gemm_core_at(size_t i)
{
    return &cores[i];
}

const struct conv_gemm_core *conv_gemm_core_find(const char *name)
{
    for (size_t i = 0; i < conv_gemm_core_count(); i++) {
        if (!strcmp(cores[i].name, name))
            return &cores[i];
    }
    return NULL;
}

/* What runs on every CPU of the family that OpenBLAS's builds are for. */
#if defined(__x86_64__)
#define LEAST_CORE "Nehalem"
#elif defined(__powerpc64__)
#define LEAST_CORE "POWER8"
#else
#define LEAST_CORE NULL
#endif

const char *conv_gemm_core_for_host(void)
{
    if (sim_cpu_has(CPU_ISA_AVX512))
        return "SkylakeX";
    if (sim_cpu_has(CPU_ISA_AVX2))
        return "Haswell";
    return sim_cpu_is_limited() && !sim_cpu_has(CPU_ISA_MMA) ? LEAST_CORE : NULL;
}
