/*
 * A call is a column: filters by all whole window panels, or by one narrower panel. Where 24 filters meet two panels or
 * more, every panel's outputs are written in halves of twelve rows: one half at once, the other half together with the
 * next panel's, so that each row is visited for two panels at a time. (Until then the half lies on the stack.)
 */
#include "kernels/blas/core_loads.h"
#include "kernels/blas/core_loop.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

enum { WIN = 16, PANEL_BYTES = WIN * sizeof(float), HALF_F = 12, ALL_F = 2 * HALF_F, BODY = 4 };

/* ---- prefetches of loops ---- */

/* Each step asks for the windows eight steps on; bodies for outputs and the next column's filters. */
#define EACH_STEP(step)                                                                                                \
    {                                                                                                                  \
        step, 1, ASKS_WINDOWS, 512, 0                                                                                  \
    }
#define LAST 99 /* after all loads of the step */

static const struct core_ask alone_asks[] = { EACH_STEP(0), EACH_STEP(1), { 1, LAST, ASKS_OUTPUTS, 0, 0 },
                                              EACH_STEP(2), EACH_STEP(3), { 3, LAST, ASKS_NEXT, 0, 0 } };
static const struct core_ask one_asks[] = { { 1, LAST, ASKS_OUTPUTS, 0, 0 }, { 3, LAST, ASKS_NEXT, 0, 0 } };
static const struct core_ask first_asks[] = {
    EACH_STEP(0), EACH_STEP(1), { 1, LAST, ASKS_OUTPUTS, 0, 0 }, EACH_STEP(2), { 2, LAST, ASKS_NEXT, 0, 0 },
    EACH_STEP(3)
};
static const struct core_ask pair_asks[] = {
    EACH_STEP(0), EACH_STEP(1), { 1, LAST, ASKS_OUTPUTS, -64, 0 }, EACH_STEP(2), { 2, LAST, ASKS_NEXT, 0, 0 },
    EACH_STEP(3)
};
static const struct core_ask last_asks[] = { EACH_STEP(0),
                                             EACH_STEP(1),
                                             { 1, LAST, ASKS_OUTPUTS, -64, 0 },
                                             { 1, LAST, ASKS_OUTPUTS, 0, 0 },
                                             EACH_STEP(2),
                                             { 2, LAST, ASKS_NEXT, 0, 0 },
                                             EACH_STEP(3) };

/* Single steps at the end prefetch the outputs that are about to be written, whole. */
static const struct core_ask alone_left[] = { { 0, 0, ASKS_OUTPUTS, 0, 0 },
                                              { 0, 0, ASKS_OUTPUTS, 63, 0 },
                                              { 0, 0, ASKS_OUTPUTS, 0, 1 },
                                              { 0, 0, ASKS_OUTPUTS, 63, 1 },
                                              EACH_STEP(0) };
static const struct core_ask one_left[] = { { 0, 0, ASKS_OUTPUTS, 0, 0 },
                                            { 0, 0, ASKS_OUTPUTS, 63, 0 },
                                            { 0, 0, ASKS_OUTPUTS, 0, 1 },
                                            { 0, 0, ASKS_OUTPUTS, 63, 1 } };
static const struct core_ask first_left[] = { { 0, 0, ASKS_OUTPUTS, 0, 0 },
                                              { 0, 0, ASKS_OUTPUTS, 63, 0 },
                                              EACH_STEP(0) };
static const struct core_ask pair_left[] = {
    { 0, 0, ASKS_OUTPUTS, -64, 0 }, { 0, 0, ASKS_OUTPUTS, 0, 0 }, { 0, 0, ASKS_OUTPUTS, 63, 0 }, EACH_STEP(0)
};
static const struct core_ask last_left[] = { { 0, 0, ASKS_OUTPUTS, -64, 0 },
                                             { 0, 0, ASKS_OUTPUTS, 0, 0 },
                                             { 0, 0, ASKS_OUTPUTS, 63, 0 },
                                             { 0, 0, ASKS_OUTPUTS, -64, 1 },
                                             { 0, 0, ASKS_OUTPUTS, 0, 1 },
                                             { 0, 0, ASKS_OUTPUTS, 63, 1 },
                                             EACH_STEP(0) };

/* A lone panel, a lone panel with a single filter; the first panel of a column, a middle panel, the last panel. */
enum panel_kind { ALONE, ONE_FILTER, FIRST, PAIR, LAST_OF_COLUMN };

#define BODIES(asks, per_row, stride, again)                                                                           \
    {                                                                                                                  \
        BODY, N(asks), asks, per_row, stride, 1, again                                                                 \
    }
#define LEFT(asks, rows)                                                                                               \
    {                                                                                                                  \
        1, N(asks), asks, 1, 0, rows, 0                                                                                \
    }

static const struct {
    struct core_body bodies, left;
} loops[] = {
    [ALONE] = { BODIES(alone_asks, 2, 63, 0), LEFT(alone_left, 2) },
    [ONE_FILTER] = { BODIES(one_asks, 2, 63, 0), LEFT(one_left, 2) },
    [FIRST] = { BODIES(first_asks, 4, 21, 48), LEFT(first_left, 1) },
    [PAIR] = { BODIES(pair_asks, 4, 43, 48), LEFT(pair_left, 1) },
    [LAST_OF_COLUMN] = { BODIES(last_asks, 2, 63, 48), LEFT(last_left, 2) },
};

/* At least twelve steps are left to single steps. */
static size_t n_bodies(size_t k)
{
    return k >= BODY * BODY ? (k - 3 * BODY) / BODY : 0;
}

/* The first two lines of the column's filters: the next panel begins with them. */
static void emit_again(const struct conv_ukr_args *a, struct sim_sink *sink)
{
    struct sim_run run = conv_core_load(CONV_PACKED_FILTER, a->filter, 1, 2, 0);

    run.kind = SIM_PREFETCH;
    run.stride_bytes = 64;
    sim_emit(sink, &run, 1, 1);
}

static void emit_loop(const struct conv_ukr *u, const struct conv_ukr_args *a, enum panel_kind kind, size_t panel,
                      uint64_t out, struct sim_sink *sink)
{
    static const struct core_step by_pairs = { PANEL_BYTES, 2, 8, false }, singly = { PANEL_BYTES, 1, 4, false };
    const size_t n = n_bodies(a->k);
    struct conv_ukr_args one = *a;
    struct sim_run load[CORE_MAX_LOADS];
    struct core_loop l = { .load = load, .out = out, .next_step = 32, .row_bytes = a->ld_out * sizeof(float) };

    one.n_win = WIN;
    one.in += panel * PANEL_BYTES * a->k;
    l.n_loads = conv_core_loads(u, &one, a->n_f > 1 ? by_pairs : singly, load);
    l.windows = one.in;
    l.next = a->filter + a->n_f * a->k * sizeof(float) + panel * n * (uint64_t)l.next_step;
    conv_core_loop_emit(&l, &loops[kind].bodies, 0, n, sink);
    conv_core_loop_emit(&l, &loops[kind].left, n * BODY, a->k - n * BODY, sink);
    emit_again(a, sink);
}

/* ---- whole panels ---- */

/* Emits the update of twelve rows or all: of a panel, two rows at a time, or of a pair, row by row. */
static void emit_rows(const struct conv_ukr_args *a, size_t f0, size_t n_f, size_t panel, size_t n_panels,
                      struct sim_sink *sink)
{
    const struct core_update update = { n_f, n_panels == 1 ? 2 : 1, n_panels, PANEL_BYTES };
    struct conv_ukr_args rows = *a;

    rows.out += f0 * a->ld_out * sizeof(float) + panel * PANEL_BYTES;
    rows.n_f = n_f;
    rows.n_win = n_panels * WIN;
    conv_core_update_emit(&rows, &update, sink);
}

/* Emits a column of 24 filters and two panels or more. */
static void emit_halves(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const size_t last = a->n_win / WIN - 1;
    size_t half = 0;

    emit_loop(u, a, FIRST, 0, a->out, sink);
    emit_rows(a, half, HALF_F, 0, 1, sink);
    for (size_t panel = 1; panel < last; panel++) {
        half = HALF_F - half;
        emit_loop(u, a, PAIR, panel, a->out + half * a->ld_out * sizeof(float) + panel * PANEL_BYTES, sink);
        emit_rows(a, half, HALF_F, panel - 1, 2, sink);
    }
    emit_loop(u, a, LAST_OF_COLUMN, last, a->out + last * PANEL_BYTES, sink);
    for (size_t f = 0; f < ALL_F; f += HALF_F)
        emit_rows(a, f, HALF_F, f == half ? last : last - 1, f == half ? 1 : 2, sink);
}

static void emit_panels(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    for (size_t panel = 0; panel < a->n_win / WIN; panel++) {
        emit_loop(u, a, a->n_f > 1 ? ALONE : ONE_FILTER, panel, a->out + panel * PANEL_BYTES, sink);
        emit_rows(a, 0, a->n_f, panel, 1, sink);
    }
}

/* ---- the rest ---- */

/* A step of a narrower tile. */
static struct core_step narrow_step(size_t n_win, size_t n_f)
{
    uint32_t all = (uint32_t)(n_win * sizeof(float));

    if (n_win >= 4 && n_f >= 4)
        return (struct core_step){ 16, all / 16, 16, false };
    if (n_f >= 4)
        return (struct core_step){ 4, (uint32_t)n_win, 16, false };
    return (struct core_step){ all, 1, n_win == 1 && n_f == 2 ? 8 : 4, n_win == 1 || (n_f == 1 && n_win != 2) };
}

static struct core_update narrow_update(size_t n_win, size_t n_f)
{
    const uint32_t all = (uint32_t)(n_win * sizeof(float)), most = n_f >= 4 ? 16 : all;

    return (struct core_update){ 2, n_f >= 4 || n_win == 1 ? 2 : 1, 1, all < most ? all : most };
}

static void emit_narrow(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const struct core_update update = narrow_update(a->n_win, a->n_f);
    struct sim_run load[CORE_MAX_LOADS];
    const size_t n = conv_core_loads(u, a, narrow_step(a->n_win, a->n_f), load);

    sim_emit(sink, load, n, a->k);
    conv_core_update_emit(a, &update, sink);
}

void conv_core_avx512_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    if (a->n_win % WIN)
        emit_narrow(u, a, sink);
    else if (a->n_f == ALL_F && a->n_win > WIN)
        emit_halves(u, a, sink);
    else
        emit_panels(u, a, sink);
}
