/* Vector-based packing with AVX2: a span is up to four ymm, 8 windows a permutation of two neighbours and a blend. */
#include "kernels/ukr/pack_vbp.h"

#if defined(__x86_64__)
#include "kernels/ukr/avx2/x86_shift_avx2.h"
#include "kernels/ukr/x86/x86_mask.h"

enum { LANES = 8, MAX_PARTS = VBP_WIN / LANES, MAX_PIECES = 4 };

VBP_INLINE __m256i lanes(uint32_t mask)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);

    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)mask), bit), bit);
}

VBP_INLINE __m256 load(uint64_t address, uint32_t mask, __m256i lanes)
{
    if (!mask)
        return _mm256_setzero_ps();
    LOG_READ(conv_in_ptr(address) + __builtin_ctz(mask), (size_t)__builtin_popcount(mask) * sizeof(float));
    return _mm256_maskload_ps(conv_in_ptr(address), lanes);
}

VBP_INLINE void store(float *panel, __m256 x)
{
    _mm256_storeu_ps(panel, x);
    IN_ORDER();
}

/* Shared by the tiles of a group. */
struct common {
    size_t n_c, n_rows;
    uint64_t plane_bytes, channel_bytes;
    __m256i index, dilation;
    bool is_dense; /* taps are neighbours */
};

/* Shared by all channels of a tile, for each of its spans. */
struct spans {
    struct {
        uint64_t base;
        union vbp_mask valid;
        __m256i valid_lanes[MAX_PIECES];
        __m256 positions[MAX_PARTS];
    } of[VBP_WIN];
};

VBP_INLINE void set_spans(struct spans *s, const struct vbp_tile *t, const size_t n, const size_t n_pieces)
{
    for (size_t i = 0; i < n; i++) {
        s->of[i].base = t->span[i].base;
        s->of[i].valid = t->span[i].valid;
#pragma GCC unroll 4
        for (size_t piece = 0; piece < n_pieces; piece++)
            s->of[i].valid_lanes[piece] = lanes(t->span[i].valid.of8[piece]);
#pragma GCC unroll 2
        for (size_t part = 0; part < MAX_PARTS; part++)
            s->of[i].positions[part] = _mm256_castsi256_ps(lanes(t->span[i].positions.of8[part]));
    }
}

VBP_INLINE __m256 shifted(__m256 x, __m256 y, __m256i index)
{
    __m256 from_y = _mm256_castsi256_ps(_mm256_cmpgt_epi32(index, _mm256_set1_epi32(LANES - 1)));

    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(x, index), _mm256_permutevar8x32_ps(y, index), from_y);
}

/* The spans' elements in the spans' positions; zeros elsewhere. */
VBP_INLINE __m256 put_together(const struct spans *s, const __m256 *own, const size_t n, const size_t part)
{
    __m256 row = n ? _mm256_and_ps(own[0], s->of[0].positions[part]) : _mm256_setzero_ps();

    for (size_t i = 1; i < n; i++)
        row = _mm256_blendv_ps(row, own[i], s->of[i].positions[part]);
    return row;
}

/* The panel rows of a channel: shifts of n spans, put together. rows: their number, for shifts by 0, 1, ...; or 0. */
VBP_INLINE void pack_channel(const struct spans *s, const struct common *c, uint64_t plane, float *panel,
                             const size_t n, const size_t rows, const size_t stride, const size_t n_parts)
{
    const size_t n_pieces = (MAX_PARTS - 1) * stride + 2, row = n_parts * LANES;
    __m256 x[VBP_WIN][MAX_PIECES];
    __m256i index = c->index;

    for (size_t i = 0; i < n; i++) {
#pragma GCC unroll 4
        for (size_t piece = 0; piece < n_pieces; piece++)
            x[i][piece] = load(s->of[i].base + plane + piece * LANES * sizeof(float), s->of[i].valid.of8[piece],
                               s->of[i].valid_lanes[piece]);
    }
    for (size_t fw = 0; fw < c->n_rows && !rows; fw++, index = _mm256_add_epi32(index, c->dilation), panel += row) {
#pragma GCC unroll 2
        for (size_t part = 0; part < n_parts; part++) {
            __m256 own[VBP_WIN];

            for (size_t i = 0; i < n; i++)
                own[i] = shifted(x[i][part * stride], x[i][part * stride + 1], index);
            store(panel + part * LANES, put_together(s, own, n, part));
        }
    }
#pragma GCC unroll 5
    for (size_t fw = 0; fw < rows; fw++, panel += row) {
#pragma GCC unroll 2
        for (size_t part = 0; part < n_parts; part++) {
            __m256 own[VBP_WIN];

            for (size_t i = 0; i < n; i++)
                own[i] = shifted_by(x[i][part], x[i][part + 1], fw);
            store(panel + part * LANES, put_together(s, own, n, part));
        }
    }
}

VBP_INLINE void pack_channels(const struct common *c, const struct vbp_tile *t, size_t first, size_t end,
                              const size_t n, const size_t rows, const size_t stride, const size_t n_parts)
{
    const uint64_t panel = t->panel;
    struct spans s;

    set_spans(&s, t, n, (MAX_PARTS - 1) * stride + 2);
    for (size_t i = first; i < end; i++)
        pack_channel(&s, c, i * c->plane_bytes, conv_out_ptr(panel + i * c->channel_bytes), n, rows, stride, n_parts);
}

/* Channels first .. end - 1 of a tile of n spans. Three and five taps side by side have shifts that are constants. */
VBP_INLINE void pack_spans(const struct common *c, const struct vbp_tile *t, size_t first, size_t end, const size_t n,
                           const size_t stride, const size_t n_parts)
{
    if (stride == 1 && c->is_dense && c->n_rows == 3)
        pack_channels(c, t, first, end, n, 3, stride, n_parts);
    else if (stride == 1 && c->is_dense && c->n_rows == 5)
        pack_channels(c, t, first, end, n, 5, stride, n_parts);
    else
        pack_channels(c, t, first, end, n, 0, stride, n_parts);
}

/* Copies as pack_channel does: all loads first. */
VBP_INLINE void copy(const struct common *c, const struct vbp_tile *t, size_t first, size_t end, const size_t n_parts)
{
    uint64_t in = t->span[0].base + first * c->plane_bytes, panel = t->panel + first * c->channel_bytes;

    for (size_t i = first; i < end; i++, in += c->plane_bytes, panel += c->channel_bytes) {
        __m256 x = _mm256_loadu_ps(conv_in_ptr(in)), y = x;

        IN_ORDER();
        if (n_parts > 1)
            y = _mm256_loadu_ps(conv_in_ptr(in) + LANES);
        store(conv_out_ptr(panel), x);
        if (n_parts > 1)
            store(conv_out_ptr(panel) + LANES, y);
    }
}

VBP_INLINE void pack_tile(const struct common *c, const struct vbp_tile *t, size_t first, size_t end,
                          const size_t stride, const size_t n_parts)
{
    if (stride == 1 && t->is_copy)
        copy(c, t, first, end, n_parts);
    else if (t->n_spans == 1)
        pack_spans(c, t, first, end, 1, stride, n_parts);
    else if (t->n_spans == 2)
        pack_spans(c, t, first, end, 2, stride, n_parts);
    else if (t->n_spans == 3)
        pack_spans(c, t, first, end, 3, stride, n_parts);
    else if (t->n_spans == 4)
        pack_spans(c, t, first, end, 4, stride, n_parts);
    else
        pack_spans(c, t, first, end, t->n_spans, stride, n_parts);
}

VBP_INLINE struct common common_of(const struct vbp_group *g)
{
    const __m256i iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    return (struct common){
        .n_c = g->n_c,
        .n_rows = g->n_rows,
        .plane_bytes = g->plane_bytes,
        .channel_bytes = g->channel_bytes,
        .index = _mm256_mullo_epi32(iota, _mm256_set1_epi32((int)g->stride)),
        .dilation = _mm256_set1_epi32((int)g->dilation),
        .is_dense = g->dilation == 1,
    };
}

/* A lone tile goes through all channels at once: values shared by the channels stay in registers. */
VBP_INLINE void pack_tiles(const struct vbp_group *g, const size_t stride, const size_t n_parts)
{
    const struct common c = common_of(g);
    const size_t n_tiles = g->n_tiles;

    if (n_tiles == 1) {
        pack_tile(&c, g->tile, 0, c.n_c, stride, n_parts);
        return;
    }
    for (size_t i = 0; i < c.n_c; i++) {
        for (size_t t = 0; t < n_tiles; t++)
            pack_tile(&c, &g->tile[t], i, i + 1, stride, n_parts);
    }
}

static __attribute__((noinline)) void pack_1x1(const struct vbp_group *g)
{
    pack_tiles(g, 1, 1);
}

static __attribute__((noinline)) void pack_1x2(const struct vbp_group *g)
{
    pack_tiles(g, 1, 2);
}

static __attribute__((noinline)) void pack_2x1(const struct vbp_group *g)
{
    pack_tiles(g, 2, 1);
}

static __attribute__((noinline)) void pack_2x2(const struct vbp_group *g)
{
    pack_tiles(g, 2, 2);
}

void vbp_pack_group__avx2(const struct vbp_group *g)
{
    static void (*const pack[2][MAX_PARTS])(const struct vbp_group *) = { { pack_1x1, pack_1x2 },
                                                                          { pack_2x1, pack_2x2 } };

    pack[g->stride - 1][g->width / LANES - 1](g);
}
#endif
