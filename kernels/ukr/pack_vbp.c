#include "kernels/ukr/pack_vbp.h"

static uint32_t bits(ptrdiff_t first, ptrdiff_t end)
{
    uint64_t below_end = ((uint64_t)1 << (end < 0 ? 0 : end > 32 ? 32 : end)) - 1;
    uint64_t below_first = ((uint64_t)1 << (first < 0 ? 0 : first > 32 ? 32 : first)) - 1;

    return end > first ? (uint32_t)(below_end & ~below_first) : 0;
}

/* Columns from fw0 on that one span reaches: lane i of two vectors reads up to element (lanes - 1) * stride + shift. */
static struct vbp_columns columns_at(const struct conv_problem *p, size_t lanes, size_t fh, size_t fw0)
{
    size_t max_shift = 2 * lanes - 1 - (lanes - 1) * p->stride_w;
    size_t n = 1 + max_shift / p->dilation_w;

    return (struct vbp_columns){ .fh = fh, .fw0 = fw0, .n = p->s - fw0 < n ? p->s - fw0 : n };
}

struct vbp_columns vbp_first(const struct conv_problem *p, size_t lanes)
{
    return columns_at(p, lanes, 0, 0);
}

struct vbp_columns vbp_next(const struct conv_problem *p, size_t lanes, struct vbp_columns c)
{
    if (c.fw0 + c.n < p->s)
        return columns_at(p, lanes, c.fh, c.fw0 + c.n);
    if (c.fh + 1 < p->r)
        return columns_at(p, lanes, c.fh + 1, 0);
    return (struct vbp_columns){ 0 };
}

size_t vbp_spans(const struct conv_problem *p, const struct conv_tile *t, struct vbp_columns c, struct vbp_span *span)
{
    ptrdiff_t reach = (ptrdiff_t)((c.n - 1) * p->dilation_w);
    ptrdiff_t stride = (ptrdiff_t)p->stride_w;
    size_t n = 0;

    for (size_t g = 0; g < t->n_segments; g++) {
        const struct conv_segment *s = &t->segment[g];
        ptrdiff_t ih = s->ih0 + (ptrdiff_t)(c.fh * p->dilation_h);
        ptrdiff_t first = (ptrdiff_t)s->first * stride; /* the first position's element */
        ptrdiff_t last = first + (ptrdiff_t)(s->len - 1) * stride;
        ptrdiff_t row = first - s->iw0 - (ptrdiff_t)(c.fw0 * p->dilation_w); /* the input row's element 0 */
        uint32_t valid = bits(first, last + reach + 1) & bits(row, row + (ptrdiff_t)p->w);

        if (ih < 0 || ih >= (ptrdiff_t)p->h || !valid)
            continue;
        span[n++] = (struct vbp_span){
            .offset = ih * (ptrdiff_t)p->w - row,
            .valid = valid,
            .positions = bits((ptrdiff_t)s->first, (ptrdiff_t)(s->first + s->len)),
        };
    }
    return n;
}

void vbp_pack(const struct conv_pack_windows_args *a, size_t lanes, vbp_columns_fn fn)
{
    struct conv_tiles tiles;

    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        for (struct vbp_columns c = vbp_first(a->p, lanes); c.n; c = vbp_next(a->p, lanes, c))
            fn(a, &tiles, c);
    }
}

bool vbp_suits(const struct conv_problem *p)
{
    return p->stride_w <= 2;
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

/* One tile's runs for one group of columns, in channel 0; each advances by a channel. */
static size_t group_runs(const struct conv_pack_windows_args *a, const struct conv_tile *t, struct vbp_columns c,
                         uint32_t vector_bytes, struct sim_run *run)
{
    const struct conv_problem *p = a->p;
    size_t row_bytes = VBP_WIN * sizeof(float);
    struct vbp_span span[VBP_WIN];
    size_t n_spans = vbp_spans(p, t, c, span);
    size_t n = 0;

    for (size_t g = 0; g < n_spans; g++)
        n += span_loads(&span[g], a->in, (int64_t)(p->h * p->w * sizeof(float)), vector_bytes, run + n);
    run[n++] = (struct sim_run){
        .addr = t->panel + (c.fh * p->s + c.fw0) * row_bytes,
        .stride_bytes = vector_bytes,
        .step_bytes = (int64_t)(p->r * p->s * row_bytes),
        .count = (uint32_t)(c.n * row_bytes / vector_bytes),
        .access_bytes = vector_bytes,
        .kind = SIM_STORE,
        .tag = CONV_PACKED_INPUT,
        .phase = CONV_PHASE_PACK,
    };
    return n;
}

static void emit_group(const struct conv_pack_windows_args *a, const struct conv_tiles *tiles,
                       struct vbp_columns columns, uint32_t vector_bytes, struct sim_sink *sink)
{
    struct sim_run run[CONV_PACK_TILES][SIM_MAX_BURST_RUNS];
    size_t n[CONV_PACK_TILES];

    for (size_t t = 0; t < tiles->n; t++)
        n[t] = group_runs(a, &tiles->tile[t], columns, vector_bytes, run[t]);
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
    size_t lanes = vector_bytes / sizeof(float);
    struct conv_tiles tiles;

    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        for (struct vbp_columns c = vbp_first(a->p, lanes); c.n; c = vbp_next(a->p, lanes, c))
            emit_group(a, &tiles, c, vector_bytes, sink);
    }
}
