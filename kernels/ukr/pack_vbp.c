#include "kernels/ukr/pack_vbp.h"

#include "kernels/ukr/registry.h"

static uint32_t bits(ptrdiff_t first, ptrdiff_t end)
{
    uint64_t below_end = ((uint64_t)1 << (end < 0 ? 0 : end > 32 ? 32 : end)) - 1;
    uint64_t below_first = ((uint64_t)1 << (first < 0 ? 0 : first > 32 ? 32 : first)) - 1;

    return end > first ? (uint32_t)(below_end & ~below_first) : 0;
}

/* Filter columns whose panel rows come out of the same spans. */
struct columns {
    size_t fh;
    size_t fw0, n;
};

/* Finds the columns that a span reaches: lane i of two vectors reads up to element (lanes - 1) * stride + shift. */
static struct columns columns_at(const struct conv_problem *p, size_t lanes, size_t fh, size_t fw0)
{
    size_t max_shift = 2 * lanes - 1 - (lanes - 1) * p->stride_w;
    size_t n = 1 + max_shift / p->dilation_w;

    return (struct columns){ .fh = fh, .fw0 = fw0, .n = p->s - fw0 < n ? p->s - fw0 : n };
}

/* Returns the group after c; n = 0 after the last. */
static struct columns next_columns(const struct conv_problem *p, size_t lanes, struct columns c)
{
    if (c.fw0 + c.n < p->s)
        return columns_at(p, lanes, c.fh, c.fw0 + c.n);
    if (c.fh + 1 < p->r)
        return columns_at(p, lanes, c.fh + 1, 0);
    return (struct columns){ 0 };
}

static void set_spans(const struct conv_pack_windows_args *a, const struct conv_tile *t, struct columns c,
                      struct vbp_tile *tile)
{
    const struct conv_problem *p = a->p;
    ptrdiff_t reach = (ptrdiff_t)((c.n - 1) * p->dilation_w);
    ptrdiff_t stride = (ptrdiff_t)p->stride_w;

    tile->n_spans = 0;
    for (size_t g = 0; g < t->n_segments; g++) {
        const struct conv_segment *s = &t->segment[g];
        ptrdiff_t ih = s->ih0 + (ptrdiff_t)(c.fh * p->dilation_h);
        ptrdiff_t first = (ptrdiff_t)s->first * stride; /* the first position's element */
        ptrdiff_t last = first + (ptrdiff_t)(s->len - 1) * stride;
        ptrdiff_t row = first - s->iw0 - (ptrdiff_t)(c.fw0 * p->dilation_w); /* the input row's element 0 */
        uint32_t valid = bits(first, last + reach + 1) & bits(row, row + (ptrdiff_t)p->w);

        if (ih < 0 || ih >= (ptrdiff_t)p->h || !valid)
            continue;
        tile->span[tile->n_spans++] = (struct vbp_span){
            .base = a->in + (uint64_t)((ih * (ptrdiff_t)p->w - row) * (ptrdiff_t)sizeof(float)),
            .valid.all = valid,
            .positions.all = bits((ptrdiff_t)s->first, (ptrdiff_t)(s->first + s->len)),
        };
    }
}

static bool is_copy(const struct vbp_tile *t, const struct vbp_group *g)
{
    const uint32_t all = bits(0, (ptrdiff_t)g->width);

    return t->n_spans == 1 && g->n_rows == 1 && g->stride == 1 && t->span[0].valid.all == all &&
           t->span[0].positions.all == all;
}

static void set_group(const struct conv_pack_windows_args *a, const struct conv_tiles *tiles, struct columns c,
                      struct vbp_group *group)
{
    const struct conv_problem *p = a->p;

    group->n_c = a->n_c;
    group->n_rows = c.n;
    group->width = a->width;
    group->stride = p->stride_w;
    group->dilation = p->dilation_w;
    group->plane_bytes = p->h * p->w * sizeof(float);
    group->channel_bytes = (conv_panel_row(a, 1, 0) - conv_panel_row(a, 0, 0)) * sizeof(float);
    group->n_tiles = 0;
    for (size_t t = 0; t < tiles->n; t++) {
        struct vbp_tile *tile = &group->tile[group->n_tiles];

        if (!conv_tile_needs(&tiles->tile[t], p, c.fh))
            continue;
        set_spans(a, &tiles->tile[t], c, tile);
        tile->panel = tiles->tile[t].panel + (conv_panel_row(a, 0, c.fh) + c.fw0 * a->width) * sizeof(float);
        tile->is_copy = is_copy(tile, group);
        group->n_tiles++;
    }
}

void vbp_for_each_group(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a, void *ctx,
                        void (*fn)(const struct conv_pack_windows *self, const struct vbp_group *g, void *ctx))
{
    size_t lanes = self->vector_bytes / sizeof(float);
    struct conv_tiles tiles;
    struct vbp_group group;

    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        for (struct columns c = columns_at(a->p, lanes, 0, 0); c.n; c = next_columns(a->p, lanes, c)) {
            set_group(a, &tiles, c, &group);
            fn(self, &group, ctx);
        }
    }
}

static void run_group(const struct conv_pack_windows *self, const struct vbp_group *g, void *ctx)
{
    (void)ctx;
    self->pack_group(g);
}

/* Unused where this build has none of the groups below. */
__attribute__((unused)) static void pack(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a)
{
    vbp_for_each_group(self, a, NULL, run_group);
}

static bool can_pack(const struct conv_problem *p)
{
    return p->stride_w <= 2;
}

/* Returns the loads of a span: its valid elements, cut at vector boundaries. */
static size_t span_loads(const struct vbp_span *s, uint64_t plane_bytes, uint32_t vector_bytes, enum conv_tensor tag,
                         struct sim_run *run)
{
    uint32_t lanes = vector_bytes / (uint32_t)sizeof(float);
    size_t n = 0;

    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t piece = s->valid.all >> first & (uint32_t)(((uint64_t)1 << lanes) - 1);

        if (!piece)
            continue;
        run[n++] = (struct sim_run){
            .addr = s->base + (first + (uint32_t)__builtin_ctz(piece)) * sizeof(float),
            .step_bytes = (int64_t)plane_bytes,
            .count = 1,
            .access_bytes = (uint32_t)(__builtin_popcount(piece) * (int)sizeof(float)),
            .kind = SIM_LOAD,
            .tag = (uint8_t)tag,
            .phase = CONV_PHASE_PACK,
        };
    }
    return n;
}

/* Returns a tile's runs in channel 0; each advances by a channel. */
static size_t tile_runs(const struct vbp_group *g, const struct vbp_tile *t, uint32_t vector_bytes,
                        enum conv_tensor tag, struct sim_run *run)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_spans; i++)
        n += span_loads(&t->span[i], g->plane_bytes, vector_bytes, tag, run + n);
    run[n++] = (struct sim_run){
        .addr = t->panel,
        .stride_bytes = vector_bytes,
        .step_bytes = (int64_t)g->channel_bytes,
        .count = (uint32_t)(g->n_rows * g->width * sizeof(float) / vector_bytes),
        .access_bytes = vector_bytes,
        .kind = SIM_STORE,
        .tag = CONV_PACKED_INPUT,
        .phase = CONV_PHASE_PACK,
    };
    return n;
}

struct emission {
    struct sim_sink *sink;
    enum conv_tensor tag; /* tag of the input */
};

static void emit_group(const struct conv_pack_windows *self, const struct vbp_group *g, void *ctx)
{
    const struct emission *e = ctx;
    struct sim_run run[CONV_PACK_TILES][SIM_MAX_BURST_RUNS];
    size_t n[CONV_PACK_TILES];

    for (size_t t = 0; t < g->n_tiles; t++)
        n[t] = tile_runs(g, &g->tile[t], self->vector_bytes, e->tag, run[t]);
    for (size_t c = 0; c < g->n_c; c++) {
        for (size_t t = 0; t < g->n_tiles; t++) {
            sim_emit(e->sink, run[t], n[t], 1);
            for (size_t i = 0; i < n[t]; i++)
                run[t][i].addr += (uint64_t)run[t][i].step_bytes;
        }
    }
}

static void emit(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a, struct sim_sink *sink)
{
    struct emission e = { sink, a->tag };

    vbp_for_each_group(self, a, &e, emit_group);
}

/* Counts as pack_group chooses among its paths. */
static void count_group(const struct conv_pack_windows *self, const struct vbp_group *g, void *ctx)
{
    struct conv_pack_work *w = ctx;

    (void)self;
    w->tiles += g->n_tiles;
    for (size_t i = 0; i < g->n_tiles; i++) {
        const struct vbp_tile *t = &g->tile[i];
        size_t n = min_size(t->n_spans, CONV_PACK_SEGMENTS);
        size_t path = (g->stride - 1) * CONV_PACK_SEGMENTS + (n ? n : CONV_PACK_SEGMENTS) - 1;

        w->segments += t->n_spans;
        w->copies += t->is_copy ? g->n_c : 0;
        w->passes[path] += t->is_copy ? 0 : g->n_c;
        w->rows[path] += t->is_copy ? 0 : g->n_c * g->n_rows;
    }
}

static void count(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a,
                  struct conv_pack_work *work)
{
    vbp_for_each_group(self, a, work, count_group);
}

#define VBP_PACKER(isa_, granule_, vector_bytes_)                                                                      \
    const struct conv_pack_windows conv_pack_windows__##isa_ = {                                                       \
        .name = "pack_windows__" #isa_,                                                                                \
        .isa = CONV_ISA_##isa_,                                                                                        \
        .granule = granule_,                                                                                           \
        .max_width = VBP_WIN,                                                                                          \
        .fn = CONV_FN_##isa_(pack),                                                                                    \
        .emit = emit,                                                                                                  \
        .count = count,                                                                                                \
        .can_pack = can_pack,                                                                                          \
        .vector_bytes = vector_bytes_,                                                                                 \
        .pack_group = CONV_FN_##isa_(vbp_pack_group__##isa_),                                                          \
    };

VBP_PACKER(avx2, 8, 32)
VBP_PACKER(avx512, 16, 64)
VBP_PACKER(vsx, 16, 16)
