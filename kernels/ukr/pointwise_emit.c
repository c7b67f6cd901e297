/* The pointwise kernels' accesses and costs, without vector code: every CPU can replay. */
#include "kernels/ukr/direct_forms.h"
#include "kernels/ukr/pointwise_tile.h"

/* Puts a tile's windows into two runs: whole vectors, then the last vector. */
static void set_windows(const struct conv_direct_emission *e, const struct conv_pointwise_tile *t, enum sim_kind kind,
                        enum conv_tensor tag, uint64_t addr, uint64_t step_bytes, struct sim_run run[2])
{
    size_t bytes = e->lanes * sizeof(float);

    run[0] = conv_direct_run(kind, tag, addr, bytes);
    run[0].count = (uint32_t)(t->n_v - 1);
    run[0].stride_bytes = (int64_t)bytes;
    run[1] = conv_direct_run(kind, tag, addr + (t->n_v - 1) * bytes, t->n_last * sizeof(float));
    run[0].step_bytes = run[1].step_bytes = (int64_t)step_bytes;
}

static void emit_tile(void *ctx, const struct conv_pointwise_call *call, const struct conv_pointwise_tile *t)
{
    const struct conv_direct_emission *e = ctx;
    size_t vector_bytes = e->lanes * sizeof(float);
    struct sim_run channel[3], out[2], ahead = conv_direct_run(SIM_PREFETCH, CONV_OUTPUT, t->ahead, 1);

    ahead.count = (uint32_t)ceil_div(t->n_v * vector_bytes, CONV_POINTWISE_LINE);
    ahead.stride_bytes = CONV_POINTWISE_LINE;
    ahead.step_bytes = (int64_t)call->out_bytes;
    if (t->ahead && e->lanes > 1)
        sim_emit(e->sink, &ahead, 1, t->n_f);

    set_windows(e, t, SIM_LOAD, CONV_INPUT, t->in, call->plane_bytes, channel);
    channel[2] = conv_direct_run(SIM_LOAD, CONV_FILTER, t->filter, sizeof(float));
    channel[2].count = (uint32_t)t->n_f;
    channel[2].stride_bytes = (int64_t)call->filter_bytes;
    channel[2].step_bytes = sizeof(float);
    sim_emit(e->sink, channel, 3, call->n_c);
    set_windows(e, t, SIM_STORE, CONV_OUTPUT, t->out, call->out_bytes, out);
    sim_emit(e->sink, out, 2, t->n_f);
}

void conv_direct_emit_pointwise(const struct conv_direct *d, const struct conv_direct_args *a, struct sim_sink *sink)
{
    struct conv_direct_emission e = { sink, d->lanes };

    conv_pointwise_tiles(d, a, emit_tile, &e);
}

static bool suits(const struct conv_direct *d, const struct conv_problem *p)
{
    (void)d;
    return conv_is_pointwise(p);
}

static double slots(const struct conv_direct *d, const struct conv_problem *p)
{
    size_t n_win = conv_windows(p), n_f = conv_group_filters(p), n_c = conv_group_channels(p);

    return conv_pointwise_slots(d, conv_pointwise_best(d, n_win, n_f, n_c), ceil_div(n_win, d->lanes), n_f, n_c);
}

static uint64_t fmas(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows, size_t n_f)
{
    return (uint64_t)ceil_div(n_rows * p->q, d->lanes) * conv_group_channels(p) * n_f;
}

/* Tiles of filters read the windows again, and tiles of windows read the filters again. */
static double reread_bytes(const struct conv_direct *d, const struct conv_problem *p)
{
    size_t n_f = conv_group_filters(p), n_c = conv_group_channels(p);
    size_t n_v = conv_pointwise_best(d, conv_windows(p), n_f, n_c);
    size_t windows = n_f > d->tile[n_v - 1] ? n_v * d->lanes : 0;
    size_t filters = conv_windows(p) > n_v * d->lanes ? n_f : 0;

    return (double)((filters + windows) * n_c * sizeof(float));
}

const struct conv_direct_form conv_direct_pointwise_form = {
    .suits = suits,
    .slots = slots,
    .fmas = fmas,
    .reread_bytes = reread_bytes,
    .tile_rows = 1,
    .least_windows = 1024,
};
