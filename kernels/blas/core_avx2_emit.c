/*
 * A call is a column of whole window panels, or one narrower panel. With twelve filters, half of the filters go with
 * the first panel, then the halves in turns with two panels at a time, each panel the second of a pair and the first of
 * the next pair, and at last the other half with the last panel.
 */
#include "kernels/blas/core_loads.h"
#include "kernels/blas/core_loop.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

enum { WIN = 8, PANEL_BYTES = WIN * sizeof(float), ALL_F = 12, HALF_F = ALL_F / 2, ALONE_F = 4, BODY = 8 };

/* ---- prefetches of loops ---- */

#define WINDOWS(step)                                                                                                  \
    {                                                                                                                  \
        step, 1, ASKS_WINDOWS, 512, 0                                                                                  \
    }
#define FILTERS(step)                                                                                                  \
    {                                                                                                                  \
        step, LAST, ASKS_FILTERS, 144, 0                                                                               \
    }
#define LAST 99 /* after all loads of the step */

static const struct core_ask alone_asks[] = { WINDOWS(0), WINDOWS(2), WINDOWS(4), WINDOWS(6) };
static const struct core_ask first_asks[] = {
    WINDOWS(0), WINDOWS(2), WINDOWS(4), WINDOWS(6), { 7, LAST, ASKS_OUTPUTS, 0, 0 }
};
static const struct core_ask pair_asks[] = { WINDOWS(0),
                                             FILTERS(1),
                                             WINDOWS(2),
                                             { 3, LAST, ASKS_OUTPUTS, 0, 0 },
                                             WINDOWS(4),
                                             FILTERS(5),
                                             { 5, LAST, ASKS_NEXT, 0, 0 },
                                             WINDOWS(6) };

static const struct core_ask alone_left[] = { WINDOWS(0) };
static const struct core_ask pair_left[] = { { 0, 0, ASKS_OUTPUTS, 0, 0 }, { 0, 0, ASKS_OUTPUTS, 63, 0 }, WINDOWS(0) };

/* A panel by itself beside four filters; of twelve the first panel, a pair, the last panel. */
enum block_kind { ALONE, FIRST, PAIR, LAST_OF_COLUMN };

static const struct {
    struct core_body bodies, left;
} loops[] = {
    [ALONE] = { { BODY, N(alone_asks), alone_asks, 0, 0, 0, 0 }, { 1, 0, NULL, 0, 0, 0, 0 } },
    [FIRST] = { { BODY, N(first_asks), first_asks, 2, 31, 1, 0 }, { 1, N(alone_left), alone_left, 0, 0, 0, 0 } },
    [PAIR] = { { BODY, N(pair_asks), pair_asks, 4, 21, 1, 24 }, { 1, N(pair_left), pair_left, 1, 0, 1, 6 } },
    [LAST_OF_COLUMN] = { { BODY, N(alone_asks), alone_asks, 0, 0, 0, 0 },
                         { 1, N(alone_left), alone_left, 0, 0, 0, 0 } },
};

/* A loop for pairs leaves at least six steps to single steps, and does not begin below sixteen. */
static size_t n_bodies(enum block_kind kind, size_t k)
{
    if (kind != PAIR)
        return k / BODY;
    return k >= 2 * BODY ? (k - 6) / BODY : 0;
}

/* The first two lines of the column's filters: the next pair begins with them. */
static void emit_again(const struct conv_ukr_args *a, struct sim_sink *sink)
{
    struct sim_run run = conv_core_load(CONV_PACKED_FILTER, a->filter, 1, 2, 0);

    run.kind = SIM_PREFETCH;
    run.stride_bytes = 64;
    sim_emit(sink, &run, 1, 1);
}

/* ---- whole panels ---- */

/* Part of a column: n_panels panels from `panel` on, filters [f0, f0 + n_f). */
struct block {
    enum block_kind kind;
    size_t panel, n_panels, f0, n_f;
};

/* One panel is loaded twice a step (even and odd lanes), filters in pairs; two panels once each, filters singly. */
static size_t block_loads(const struct conv_ukr *u, const struct conv_ukr_args *a, const struct block *b,
                          struct sim_run *run)
{
    const size_t panel_bytes = PANEL_BYTES * a->k;

    run[0] = conv_core_load(CONV_PACKED_INPUT, a->in + b->panel * panel_bytes, PANEL_BYTES, 2, PANEL_BYTES);
    run[0].stride_bytes = b->n_panels == 1 ? 0 : (int64_t)panel_bytes;
    return 1 + conv_core_filter_loads(u, a, b->f0, b->n_f, b->n_panels == 1 ? 8 : 4, run + 1);
}

static void emit_loop(const struct conv_ukr *u, const struct conv_ukr_args *a, const struct block *b, uint64_t out,
                      struct sim_sink *sink)
{
    const size_t n = n_bodies(b->kind, a->k);
    struct sim_run load[CORE_MAX_LOADS];
    struct core_loop l = {
        .load = load,
        .n_loads = block_loads(u, a, b, load),
        .windows = a->in + (b->panel + b->n_panels - 1) * PANEL_BYTES * a->k,
        .out = out,
        .next_step = 16,
        .row_bytes = a->ld_out * sizeof(float),
    };

    l.filters = a->filter + (b->f0 ? 2 * u->f_panel * a->k * sizeof(float) : 0);
    l.next = a->filter + ALL_F * a->k * sizeof(float) + b->panel * n * (uint64_t)l.next_step;
    conv_core_loop_emit(&l, &loops[b->kind].bodies, 0, n, sink);
    conv_core_loop_emit(&l, &loops[b->kind].left, n * BODY, a->k - n * BODY, sink);
    if (b->kind == PAIR && b->f0)
        emit_again(a, sink);
}

static void emit_block(const struct conv_ukr *u, const struct conv_ukr_args *a, const struct block *b,
                       struct sim_sink *sink)
{
    const struct core_update update = { b->n_f, b->n_panels == 1 ? 2 : 1, b->n_panels, PANEL_BYTES };
    struct conv_ukr_args out = *a;

    out.out += b->f0 * a->ld_out * sizeof(float) + b->panel * PANEL_BYTES;
    out.n_win = b->n_panels * WIN;
    out.n_f = b->n_f;
    emit_loop(u, a, b, out.out, sink);
    conv_core_update_emit(&out, &update, sink);
}

static void emit_halves(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const size_t last = a->n_win / WIN - 1;
    struct block b = { FIRST, .n_panels = 1, .n_f = HALF_F };

    emit_block(u, a, &b, sink);
    for (b.kind = PAIR, b.n_panels = 2; b.panel < last; b.panel++) {
        b.f0 = HALF_F - b.f0;
        emit_block(u, a, &b, sink);
    }
    b = (struct block){ LAST_OF_COLUMN, last, 1, HALF_F - b.f0, HALF_F };
    emit_block(u, a, &b, sink);
}

/* ---- the rest ---- */

/* A step of a tile without a case above. */
static struct core_step other_step(size_t n_win, size_t n_f)
{
    uint32_t all = (uint32_t)(n_win * sizeof(float));

    if (n_win >= 4)
        return (struct core_step){ all, n_f > 1 ? 2 : 1, n_f > 1 ? 8 : 4, false };
    if (n_f >= 4)
        return (struct core_step){ 4, (uint32_t)n_win, 16, true };
    return (struct core_step){ all, 1, n_win == 1 && n_f == 2 ? 8 : 4, n_win == 1 || (n_f == 1 && n_win != 2) };
}

static void emit_other(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const bool by_pairs = a->n_win != 4 && (a->n_win != 2 || a->n_f >= 4);
    const struct core_update update = { a->n_f, by_pairs ? 2 : 1, 1, (uint32_t)(a->n_win * sizeof(float)) };
    struct sim_run load[CORE_MAX_LOADS];
    const size_t n = conv_core_loads(u, a, other_step(a->n_win, a->n_f), load);

    sim_emit(sink, load, n, a->k);
    conv_core_update_emit(a, &update, sink);
}

/* Emits whole panels beside fewer filters. */
static void emit_panels(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    struct block b = { ALONE, .n_panels = 1, .n_f = a->n_f };
    struct conv_ukr_args one = *a;

    one.n_win = WIN;
    for (; b.panel < a->n_win / WIN; b.panel++) {
        if (a->n_f == ALONE_F)
            emit_block(u, a, &b, sink);
        else
            emit_other(u, &one, sink);
        one.in += PANEL_BYTES * a->k;
        one.out += PANEL_BYTES;
    }
}

void conv_core_avx2_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    if (a->n_win % WIN)
        emit_other(u, a, sink);
    else if (a->n_f == ALL_F && a->n_win > WIN)
        emit_halves(u, a, sink);
    else
        emit_panels(u, a, sink);
}
