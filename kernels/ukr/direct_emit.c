/* Accesses and costs of the form "direct", without vector code (direct_avx2.c ...), so that every CPU can replay. */
#include "kernels/ukr/ukr.h"
#include "kernels/ukr/direct_tile.h"

static struct sim_run run_of(enum sim_kind kind, enum conv_tensor tag, uint64_t addr, size_t bytes)
{
    return (struct sim_run){
        .addr = addr,
        .count = 1,
        .access_bytes = (uint32_t)bytes,
        .kind = (uint8_t)kind,
        .tag = (uint8_t)tag,
        .phase = CONV_PHASE_UKR,
    };
}

static void emit_filter_values(const struct conv_direct_call *call, uint64_t filter, struct sim_sink *sink)
{
    struct sim_run run = run_of(SIM_LOAD, CONV_FILTER, filter, sizeof(float));

    run.count = (uint32_t)conv_direct_steps[call->step].n_taps;
    run.stride_bytes = (int64_t)(call->p->s * sizeof(float));
    sim_emit(sink, &run, 1, 1);
}

/* Emits the windows' loads: of each live row, only the parts of vectors inside the row are loaded. */
static void emit_windows(const struct conv_direct_call *call, size_t lanes, uint64_t in, ptrdiff_t column,
                         uint32_t live, struct sim_sink *sink)
{
    size_t first = 0, end, n_vectors = conv_direct_steps[call->step].n_vectors, n = 0;
    struct sim_run run[CONV_DIRECT_MAX_VECTORS];

    while (live && !(live >> first & 1))
        first++;
    for (end = first; live >> end & 1;)
        end++;
    for (size_t i = 0; i < n_vectors; i++) {
        struct conv_direct_part part = conv_direct_part_of(column + (ptrdiff_t)(i * lanes), lanes, call->p->w);

        if (!part.end)
            continue;
        run[n] =
            run_of(SIM_LOAD, CONV_INPUT, in + first * call->row_step + (i * lanes + (size_t)part.first) * sizeof(float),
                   (size_t)(part.end - part.first) * sizeof(float));
        run[n++].step_bytes = (int64_t)call->row_step;
    }
    if (n && end > first)
        sim_emit(sink, run, n, end - first);
}

static void emit_column(const struct conv_direct_call *call, const struct conv_direct_tile *t, size_t lanes, size_t fw,
                        uint64_t plane, uint64_t filter, struct sim_sink *sink)
{
    const struct conv_direct_step *s = &conv_direct_steps[call->step];
    const struct conv_problem *p = call->p;
    size_t n_in = conv_direct_in_rows(*s, t->n_rows);

    for (size_t i = 0; i < call->steps_per_column; i++) {
        uint32_t live = conv_direct_live(t->row + (ptrdiff_t)(i * p->dilation_h), call->row_apart, n_in, p->h);

        emit_filter_values(call, filter + (i * p->s + fw) * sizeof(float), sink);
        emit_windows(call, lanes, plane + i * call->tap_step + fw * p->dilation_w * sizeof(float),
                     t->column + (ptrdiff_t)(fw * p->dilation_w), live, sink);
    }
}

struct emission {
    struct sim_sink *sink;
    size_t lanes;
};

static void emit_tile(void *ctx, const struct conv_direct_call *call, const struct conv_direct_tile *t)
{
    const struct emission *e = ctx;
    const struct conv_problem *p = call->p;
    struct sim_run rows = run_of(SIM_STORE, CONV_OUTPUT, t->out, t->n_columns * sizeof(float));

    for (size_t fw = 0; fw < p->s; fw++) {
        for (size_t c = 0; c < call->n_c; c++)
            emit_column(call, t, e->lanes, fw, t->in + c * p->h * p->w * sizeof(float),
                        t->filter + c * p->r * p->s * sizeof(float), e->sink);
    }
    rows.count = (uint32_t)t->n_rows;
    rows.stride_bytes = (int64_t)(p->q * sizeof(float));
    sim_emit(e->sink, &rows, 1, 1);
}

void conv_direct_emit_columns(const struct conv_direct *d, const struct conv_direct_args *a, struct sim_sink *sink)
{
    struct emission e = { sink, d->lanes };

    conv_direct_tiles(d, a, emit_tile, &e);
}

/* A row of windows is a vector per step between columns. */
#define CHECK_STRIDE(isa, lanes, max_stride)                                                                           \
    _Static_assert(lanes == 1 || max_stride <= CONV_DIRECT_MAX_VECTORS, "too many vectors");
CONV_DIRECTS(CHECK_STRIDE)

/* Starting and ending a tile: masks, addresses, stores. Some 50 cycles, measured, with two ports. */
enum { TILE_SLOTS = 100 };

struct issued {
    double fmas, slots;
};

static struct issued issued_by(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows)
{
    struct conv_direct_step s = conv_direct_steps[conv_direct_step_of(p, d->lanes)];
    size_t fmas = s.n_taps * n_rows, loads = s.n_taps + conv_direct_in_rows(s, n_rows) * s.n_vectors;

    return (struct issued){ (double)fmas, (double)(loads > fmas ? loads : fmas) };
}

/* Sums up the rows of a filter over all tiles of n_rows rows. */
static struct issued issued_for(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows)
{
    struct conv_direct_step s = conv_direct_steps[conv_direct_step_of(p, d->lanes)];
    size_t n_tiles = ceil_div(n_rows, CONV_DIRECT_TILE_ROWS), height = ceil_div(n_rows, n_tiles),
           last = n_rows % height;
    double times = (double)ceil_div(p->q, d->lanes) * (double)(conv_reduction(p) / s.n_taps);
    double n_whole = (double)(n_rows / height);
    struct issued whole = issued_by(d, p, height), sum = { whole.fmas * n_whole, whole.slots * n_whole };

    if (last) {
        struct issued rest = issued_by(d, p, last);

        sum.fmas += rest.fmas;
        sum.slots += rest.slots;
    }
    return (struct issued){ sum.fmas * times, sum.slots * times };
}

static bool suits(const struct conv_direct *d, const struct conv_problem *p)
{
    return p->stride_w <= d->max_stride;
}

static double slots(const struct conv_direct *d, const struct conv_problem *p)
{
    double tiles = (double)ceil_div(p->p, CONV_DIRECT_TILE_ROWS) * (double)ceil_div(p->q, d->lanes);

    return (issued_for(d, p, p->p).slots + tiles * TILE_SLOTS) * (double)conv_group_filters(p);
}

static uint64_t fmas(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows, size_t n_f)
{
    return (uint64_t)issued_for(d, p, n_rows).fmas * n_f;
}

/* Each filter of a group reads the rows of a tile again. */
static double reread_bytes(const struct conv_direct *d, const struct conv_problem *p)
{
    double rows = (double)(CONV_DIRECT_TILE_ROWS - 1) * (double)p->stride_h + (double)((p->r - 1) * p->dilation_h + 1);
    double row_bytes = (double)(conv_group_channels(p) * p->w * sizeof(float));

    (void)d;
    return conv_group_filters(p) == 1 ? 0 : row_bytes * (rows < (double)p->h ? rows : (double)p->h);
}

const struct conv_direct_form conv_direct_columns_form = {
    .suits = suits,
    .slots = slots,
    .fmas = fmas,
    .reread_bytes = reread_bytes,
    .tile_rows = CONV_DIRECT_TILE_ROWS,
    .least_windows = 1,
};
