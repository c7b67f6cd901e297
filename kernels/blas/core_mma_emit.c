#include "kernels/blas/core_loads.h"
#include "kernels/blas/core_loop.h"
#include "kernels/shape/sizes.h"

/*
 * OpenBLAS's POWER10 kernel for a full tile is unrolled by 64, 32 and 16 steps. In these bodies the compiler, short of
 * registers, loads some window vectors a second time. The table names their places, in vectors of 16 bytes from the
 * body's first step on. Observed under emulation in Debian's 0.3.21 (counters/watch/). Edge tiles load everything
 * once.
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

enum { WIN = 16, ALL_F = 8, VECTOR_BYTES = 16, FILTERS = 0, WINDOWS = 1, MAX_RUNS = 3 };

/* The runs of a step: filters, then a panel of windows or two. */
struct step {
    size_t n_runs;
    struct sim_run run[MAX_RUNS];
};

/* A panel's part of every step: vectors, or single elements if the panel is narrower. */
static struct sim_run panel_loads(uint64_t addr, size_t width, enum conv_tensor tag)
{
    size_t row_bytes = width * sizeof(float);
    uint32_t bytes = row_bytes < VECTOR_BYTES ? (uint32_t)sizeof(float) : VECTOR_BYTES;

    return conv_core_load(tag, addr, bytes, row_bytes / bytes, row_bytes);
}

/* Emits n_steps of the loop and moves on behind them. */
static void emit_steps(struct step *s, size_t n_steps, struct sim_sink *sink)
{
    sim_emit(sink, s->run, s->n_runs, n_steps);
    for (size_t i = 0; i < s->n_runs; i++)
        s->run[i].addr += n_steps * (uint64_t)s->run[i].step_bytes;
}

/* A body in pieces of a few steps. Vectors that are loaded again come right after the piece that loaded them first. */
static void emit_body(const struct mma_body *body, struct step *s, struct sim_sink *sink)
{
    enum { PIECE = 8 };
    const struct sim_run *windows = &s->run[WINDOWS];
    struct sim_run again[sizeof body->reload];
    size_t first = 0;

    for (size_t step = PIECE; step <= body->n_steps; step += PIECE) {
        size_t n = 0;

        for (; first < body->n_reloads && body->reload[first] < step * windows->count; first++) {
            again[n] = *windows;
            again[n].addr += (body->reload[first] - (step - PIECE) * windows->count) * windows->access_bytes;
            again[n++].count = 1;
        }
        emit_steps(s, PIECE, sink);
        if (n)
            sim_emit(sink, again, n, 1);
    }
}

/* Emits the first step, which loads a pair beside vectors at once. */
static void emit_first_step(struct step *s, struct sim_sink *sink)
{
    struct step first = *s;

    for (int i = FILTERS; i <= WINDOWS; i++) {
        const struct sim_run *other = &s->run[FILTERS + WINDOWS - i];

        if (s->run[i].step_bytes == 2 * sizeof(float) && other->access_bytes > sizeof(float)) {
            first.run[i].access_bytes = 2 * sizeof(float);
            first.run[i].count = 1;
        }
        s->run[i].addr += (uint64_t)s->run[i].step_bytes;
    }
    for (size_t i = WINDOWS + 1; i < s->n_runs; i++)
        s->run[i].addr += (uint64_t)s->run[i].step_bytes;
    sim_emit(sink, first.run, first.n_runs, 1);
}

/* A window and a filter: four steps at a time. */
static void emit_dot_product(struct step *s, size_t k, struct sim_sink *sink)
{
    const size_t per_load = VECTOR_BYTES / sizeof(float);
    struct step wide = *s;

    for (size_t i = 0; i < s->n_runs; i++)
        wide.run[i].access_bytes = (uint32_t)(wide.run[i].step_bytes = VECTOR_BYTES);
    emit_steps(&wide, k / per_load, sink);
    for (size_t i = 0; i < s->n_runs; i++)
        s->run[i].addr = wide.run[i].addr;
    emit_steps(s, k % per_load, sink);
}

/* Vectors of four windows, vectors of four filters; the first step is peeled off. */
static void emit_loop(const struct conv_ukr_args *a, struct step *s, struct sim_sink *sink)
{
    const bool is_whole = a->n_win == WIN && a->n_f == ALL_F;
    size_t left = a->k - 1;

    emit_first_step(s, sink);
    for (size_t i = 0; is_whole && i < sizeof mma_bodies / sizeof mma_bodies[0]; i++) {
        for (; left >= mma_bodies[i].n_steps; left -= mma_bodies[i].n_steps)
            emit_body(&mma_bodies[i], s, sink);
    }
    emit_steps(s, left, sink);
}

/* Emits the update: groups of four rows, in vectors; of two windows both, or one row after the other. */
static void emit_update(const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const bool has_vectors = a->n_win >= 4;
    const struct core_update update = { .group_rows = 4,
                                        .rows = 1,
                                        .pieces = a->n_win == 2 && a->n_f != 2 ? 2 : 1,
                                        .piece_bytes = has_vectors ? VECTOR_BYTES : sizeof(float) };

    conv_core_update_emit(a, &update, sink);
}

/* Emits a tile: a panel of windows, or two whole panels that share each load of the filters. */
static void emit_tile(const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const size_t width = min_size(a->n_win, WIN);
    struct step s = { .run[FILTERS] = panel_loads(a->filter, a->n_f, CONV_PACKED_FILTER) };

    for (size_t win = 0; win < a->n_win; win += width)
        s.run[WINDOWS + win / width] = panel_loads(a->in + win * a->k * sizeof(float), width, CONV_PACKED_INPUT);
    s.n_runs = WINDOWS + a->n_win / width;
    if (a->n_win * a->n_f == 1)
        emit_dot_product(&s, a->k, sink);
    else
        emit_loop(a, &s, sink);
    emit_update(a, sink);
}

/* A column of eight filters prefetches the first two lines of its windows. */
static void emit_asks(const struct conv_ukr_args *a, struct sim_sink *sink)
{
    struct sim_run run = conv_core_load(CONV_PACKED_INPUT, a->in + 128, 1, 2, 0);

    run.kind = SIM_PREFETCH;
    run.stride_bytes = 128;
    sim_emit(sink, &run, 1, 1);
}

void conv_core_mma_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    struct conv_ukr_args tile = *a;

    (void)u;
    if (a->n_f == ALL_F && a->n_win % WIN == 0)
        emit_asks(a, sink);
    for (size_t win = 0; win < a->n_win; win += tile.n_win) {
        const size_t left = a->n_win - win;

        tile.n_win = left >= 2 * WIN && a->n_f > 1 && a->n_f < ALL_F ? 2 * WIN : min_size(left, WIN);
        tile.in = a->in + win * a->k * sizeof(float);
        tile.out = a->out + win * sizeof(float);
        emit_tile(&tile, sink);
    }
}
