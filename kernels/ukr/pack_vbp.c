#include "kernels/ukr/pack_vbp.h"

static uint32_t bits(ptrdiff_t first, ptrdiff_t end)
{
    uint64_t below_end = ((uint64_t)1 << (end < 0 ? 0 : end > 32 ? 32 : end)) - 1;
    uint64_t below_first = ((uint64_t)1 << (first < 0 ? 0 : first > 32 ? 32 : first)) - 1;

    return end > first ? (uint32_t)(below_end & ~below_first) : 0;
}

size_t vbp_spans(const struct conv_problem *p, const struct conv_tile *t, size_t fh, struct vbp_span *span)
{
    const struct conv_segment *segment = t->segment;
    ptrdiff_t reach = (ptrdiff_t)((p->s - 1) * p->dilation_w);
    size_t n = 0;

    for (size_t g = 0; g < t->n_segments; g++) {
        ptrdiff_t ih = segment[g].ih0 + (ptrdiff_t)(fh * p->dilation_h);
        ptrdiff_t first = (ptrdiff_t)segment[g].first;
        ptrdiff_t end = first + (ptrdiff_t)segment[g].len;
        uint32_t valid = bits(first, end + reach) & bits(first - segment[g].iw0, first - segment[g].iw0 + (ptrdiff_t)p->w);

        if (ih < 0 || ih >= (ptrdiff_t)p->h || !valid)
            continue;
        span[n++] = (struct vbp_span){
            .offset = ih * (ptrdiff_t)p->w + segment[g].iw0 - first,
            .valid = valid,
            .positions = bits(first, end),
        };
    }
    return n;
}

bool vbp_suits(const struct conv_problem *p, size_t max_shift)
{
    return p->stride_w == 1 && p->s - 1 <= max_shift / p->dilation_w;
}

/* The loads of one span: its valid elements, cut at vector boundaries. */
static size_t span_loads(const struct vbp_span *s, uint64_t plane, int64_t plane_step, uint32_t vector_bytes,
                         struct sim_run *run)
{
    uint32_t lanes = vector_bytes / (uint32_t)sizeof(float);
    size_t n = 0;

    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t piece = s->valid >> first & (uint32_t)(((uint64_t)1 << lanes) - 1);

        if (!piece)
            continue;
        first += (uint32_t)__builtin_ctz(piece);
        run[n++] = (struct sim_run){
            .addr = plane + (uint64_t)((s->offset + first) * (int64_t)sizeof(float)),
            .step_bytes = plane_step,
            .count = 1,
            .access_bytes = (uint32_t)(__builtin_popcount(piece) * (int)sizeof(float)),
            .kind = SIM_LOAD,
            .tag = CONV_INPUT,
            .phase = CONV_PHASE_PACK,
        };
        first -= (uint32_t)__builtin_ctz(piece);
    }
    return n;
}

/* One tile's filter row: its runs for channel 0, each of which advances by a channel. */
static size_t row_runs(const struct conv_pack_windows_args *a, const struct conv_tile *t, size_t fh, uint32_t vector_bytes,
                       struct sim_run *run)
{
    const struct conv_problem *p = a->p;
    size_t row_bytes = VBP_WIN * sizeof(float);
    struct vbp_span span[VBP_WIN];
    size_t n_spans = vbp_spans(p, t, fh, span);
    size_t n = 0;

    for (size_t g = 0; g < n_spans; g++)
        n += span_loads(&span[g], a->in, (int64_t)(p->h * p->w * sizeof(float)), vector_bytes, run + n);
    run[n++] = (struct sim_run){
        .addr = t->panel + fh * p->s * row_bytes,
        .stride_bytes = vector_bytes,
        .step_bytes = (int64_t)(p->r * p->s * row_bytes),
        .count = (uint32_t)(p->s * row_bytes / vector_bytes),
        .access_bytes = vector_bytes,
        .kind = SIM_STORE,
        .tag = CONV_PACKED_INPUT,
        .phase = CONV_PHASE_PACK,
    };
    return n;
}

static void emit_rows(const struct conv_pack_windows_args *a, const struct conv_tiles *tiles, size_t fh,
                      uint32_t vector_bytes, struct sim_sink *sink)
{
    struct sim_run run[CONV_PACK_TILES][SIM_MAX_BURST_RUNS];
    size_t n[CONV_PACK_TILES];

    for (size_t t = 0; t < tiles->n; t++)
        n[t] = row_runs(a, &tiles->tile[t], fh, vector_bytes, run[t]);
    for (size_t c = 0; c < a->n_c; c++) {
        for (size_t t = 0; t < tiles->n; t++) {
            sim_emit(sink, run[t], n[t], 1);
            for (size_t i = 0; i < n[t]; i++)
                run[t][i].addr += (uint64_t)run[t][i].step_bytes;
        }
    }
}

void vbp_emit(const struct conv_pack_windows_args *a, uint32_t vector_bytes, struct sim_sink *sink)
{
    struct conv_tiles tiles;

    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        for (size_t fh = 0; fh < a->p->r; fh++)
            emit_rows(a, &tiles, fh, vector_bytes, sink);
    }
}
