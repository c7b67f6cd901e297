/* The direct kernels and their accesses, without vector code (direct_avx2.c ...), so that every CPU can replay them. */
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

static void emit(const struct conv_direct *d, const struct conv_direct_args *a, struct sim_sink *sink)
{
    struct emission e = { sink, d->lanes };

    conv_direct_tiles(d, a, emit_tile, &e);
}

#define DIRECT(isa_, lanes_, max_stride_)                                                                              \
    { .name = "f32_direct_8x" #lanes_ "__" #isa_,                                                                      \
      .isa = CONV_ISA_##isa_,                                                                                          \
      .tile_rows = CONV_DIRECT_TILE_ROWS,                                                                              \
      .lanes = lanes_,                                                                                                 \
      .max_stride = max_stride_,                                                                                       \
      .fn = CONV_FN_##isa_(conv_f32_direct__##isa_),                                                                   \
      .emit = emit },

const struct conv_direct conv_direct_table[CONV_DIRECT_N] = { CONV_DIRECTS(DIRECT) };

/* A row of windows is a vector per step between columns. */
#define CHECK_STRIDE(isa, lanes, max_stride)                                                                           \
    _Static_assert(lanes == 1 || max_stride <= CONV_DIRECT_MAX_VECTORS, "too many vectors");
CONV_DIRECTS(CHECK_STRIDE)
