/* The dot kernels' accesses and costs, without vector code: every CPU can replay. */
#include "kernels/ukr/direct_forms.h"
#include "kernels/ukr/dot_tile.h"

/* Vectors of an image or a filter: whole vectors, and a last vector of n_last elements. Returns the number of runs. */
static size_t vectors_of(const struct conv_direct_emission *e, struct sim_run run, size_t n_v, size_t n_last,
                         struct sim_run *to)
{
    size_t bytes = e->lanes * sizeof(float);

    run.access_bytes = (uint32_t)bytes;
    run.stride_bytes = run.step_bytes = (int64_t)bytes;
    run.count = (uint32_t)(n_last == e->lanes ? n_v : n_v - 1);
    to[0] = run;
    run.addr += run.count * bytes;
    run.access_bytes = (uint32_t)(n_last * sizeof(float));
    run.count = n_last == e->lanes ? 0 : 1;
    to[1] = run;
    return 2;
}

/* Emits n_times steps of n_v vectors, from element `first` of the reduction on. */
static void emit_steps(const struct conv_direct_emission *e, const struct conv_dot_call *call,
                       const struct conv_dot_tile *t, size_t first, size_t n_v, size_t n_last, size_t n_times)
{
    size_t at = first * sizeof(float), bytes = n_v * e->lanes * sizeof(float), n = 0;
    struct sim_run run[2 * (CONV_DOT_COLUMNS + CONV_DOT_SUMS) + 1];

    for (size_t c = 0; c < t->n_columns; c++)
        n += vectors_of(e, conv_direct_run(SIM_LOAD, CONV_INPUT, t->in + c * call->in_bytes + at, 1), n_v, n_last,
                        &run[n]);
    for (size_t r = 0; r < t->n_rows; r++)
        n += vectors_of(e, conv_direct_run(SIM_LOAD, CONV_FILTER, t->filter + r * call->filter_bytes + at, 1), n_v,
                        n_last, &run[n]);
    if (t->ahead && e->lanes > 1) {
        run[n] = conv_direct_run(SIM_PREFETCH, CONV_FILTER,
                                 t->ahead + first / e->lanes * conv_dot_ahead_bytes(t->n_rows, e->lanes), 1);
        run[n].count = (uint32_t)ceil_div(t->n_rows * bytes, CONV_DOT_LINE);
        run[n].stride_bytes = CONV_DOT_LINE;
        run[n++].step_bytes = (int64_t)conv_dot_ahead_bytes(t->n_rows, e->lanes);
    }
    if (n_times)
        sim_emit(e->sink, run, n, n_times);
}

static void emit_tile(void *ctx, const struct conv_dot_call *call, const struct conv_dot_tile *t)
{
    const struct conv_direct_emission *e = ctx;
    size_t n_whole = call->n_k / e->lanes, n_last = call->n_k % e->lanes, n_v = ceil_div(call->n_k, e->lanes);
    size_t pieces = e->lanes > 1 ? 1 : t->n_rows;
    struct sim_run out = conv_direct_run(SIM_STORE, CONV_OUTPUT, t->out, t->n_rows / pieces * sizeof(float));

    if (n_v <= conv_dot_vectors(e->lanes, t->n_columns)) {
        emit_steps(e, call, t, 0, n_v, n_last ? n_last : e->lanes, 1);
    } else {
        emit_steps(e, call, t, 0, 1, e->lanes, n_whole);
        emit_steps(e, call, t, n_whole * e->lanes, 1, n_last, n_last > 0);
    }
    out.count = (uint32_t)pieces;
    out.stride_bytes = sizeof(float);
    out.step_bytes = (int64_t)call->out_bytes;
    sim_emit(e->sink, &out, 1, t->n_columns);
}

void conv_direct_emit_dot(const struct conv_direct *d, const struct conv_direct_args *a, struct sim_sink *sink)
{
    struct conv_direct_emission e = { sink, d->lanes };

    conv_dot_tiles(d, a, emit_tile, &e);
}

/* Filters as large as the image: the layer has a single window. */
static bool suits(const struct conv_direct *d, const struct conv_problem *p)
{
    (void)d;
    return p->h == p->r && p->w == p->s && conv_windows(p) == 1 && !conv_has_padding(p);
}

/* Adding up sums: log2(lanes) levels of shuffles and additions; and the start and the end of a tile. */
enum { TILE_SLOTS = 80 };

/* Of an image, where the images of the batch share the loads of filters. */
static double slots(const struct conv_direct *d, const struct conv_problem *p)
{
    size_t n_f = conv_group_filters(p), rows = conv_dot_rows(d, p->n), high = ceil_div(n_f, rows);
    size_t wide = ceil_div(p->n, CONV_DOT_COLUMNS), fmas = n_f * p->n, loads = n_f * wide + high * p->n;
    double steps = (double)ceil_div(conv_reduction(p), d->lanes);

    return (steps * (double)max_size(loads, fmas) + (double)(high * wide) * TILE_SLOTS) / (double)p->n;
}

static uint64_t fmas(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows, size_t n_f)
{
    return (uint64_t)ceil_div(conv_reduction(p), d->lanes) * n_rows * n_f;
}

static double reread_bytes(const struct conv_direct *d, const struct conv_problem *p)
{
    (void)d;
    (void)p;
    return 0;
}

const struct conv_direct_form conv_direct_dot_form = {
    .suits = suits,
    .slots = slots,
    .fmas = fmas,
    .reread_bytes = reread_bytes,
    .tile_rows = 1,
    .least_windows = 1,
    .takes_batch = true,
};
