#include "kernels/blas/core_kernels.h"
#include "kernels/blas/core_loads.h"
#include "kernels/blas/core_loop.h"

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

    return conv_core_load(tag, addr, bytes, row_bytes / bytes, row_bytes);
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

void conv_core_mma_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
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
