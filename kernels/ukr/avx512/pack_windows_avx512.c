/* Vector-based packing with AVX-512: a span is two zmm, a panel row a two-register permutation per segment. */
#include "kernels/ukr/pack_vbp.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86/x86_mask.h"

VBP_INLINE __m512 load(uint64_t address, __mmask16 mask)
{
    if (!mask)
        return _mm512_setzero_ps();
    LOG_READ(conv_in_ptr(address) + __builtin_ctz(mask), (size_t)__builtin_popcount(mask) * sizeof(float));
    return _mm512_maskz_loadu_ps(mask, conv_in_ptr(address));
}

/* Shared by the tiles of a group. */
struct common {
    size_t n_c, n_rows;
    uint64_t plane_bytes, channel_bytes;
    __m512i index, dilation;
};

/* Shared by all channels of a tile, for each of its spans. */
struct spans {
    uint64_t base[VBP_WIN];
    __mmask16 low[VBP_WIN], high[VBP_WIN], positions[VBP_WIN];
};

VBP_INLINE void set_spans(struct spans *s, const struct vbp_tile *t, const size_t n)
{
    for (size_t i = 0; i < n; i++) {
        s->base[i] = t->span[i].base;
        s->low[i] = t->span[i].valid.of16[0];
        s->high[i] = t->span[i].valid.of16[1];
        s->positions[i] = t->span[i].positions.of16[0];
    }
}

/* The panel rows of a channel: shifts of n spans, put together. */
VBP_INLINE void pack_channel(const struct spans *s, const struct common *c, uint64_t plane, float *panel,
                             const size_t n)
{
    __m512 low[VBP_WIN], high[VBP_WIN];
    __m512i index = c->index;

    for (size_t i = 0; i < n; i++) {
        low[i] = load(s->base[i] + plane, s->low[i]);
        high[i] = load(s->base[i] + plane + 64, s->high[i]);
    }
    for (size_t fw = c->n_rows; fw; fw--, panel += VBP_WIN, index = _mm512_add_epi32(index, c->dilation)) {
        __m512 row = _mm512_setzero_ps();

        for (size_t i = 0; i < n; i++)
            row = _mm512_mask_mov_ps(row, s->positions[i], _mm512_permutex2var_ps(low[i], index, high[i]));
        _mm512_storeu_ps(panel, row);
    }
}

/* Channels first .. end - 1 of a tile of n spans. */
VBP_INLINE void pack_spans(const struct common *c, const struct vbp_tile *t, size_t first, size_t end, const size_t n)
{
    const uint64_t panel = t->panel;
    struct spans s;

    set_spans(&s, t, n);
    for (size_t i = first; i < end; i++)
        pack_channel(&s, c, i * c->plane_bytes, conv_out_ptr(panel + i * c->channel_bytes), n);
}

VBP_INLINE void copy(const struct common *c, const struct vbp_tile *t, size_t first, size_t end)
{
    const uint64_t in = t->span[0].base, panel = t->panel;

    for (size_t i = first; i < end; i++)
        _mm512_storeu_ps(conv_out_ptr(panel + i * c->channel_bytes),
                         _mm512_loadu_ps(conv_in_ptr(in + i * c->plane_bytes)));
}

VBP_INLINE void pack_tile(const struct common *c, const struct vbp_tile *t, size_t first, size_t end)
{
    if (t->is_copy)
        copy(c, t, first, end);
    else if (t->n_spans == 1)
        pack_spans(c, t, first, end, 1);
    else if (t->n_spans == 2)
        pack_spans(c, t, first, end, 2);
    else if (t->n_spans == 3)
        pack_spans(c, t, first, end, 3);
    else if (t->n_spans == 4)
        pack_spans(c, t, first, end, 4);
    else
        pack_spans(c, t, first, end, t->n_spans);
}

VBP_INLINE struct common common_of(const struct vbp_group *g)
{
    const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

    return (struct common){
        .n_c = g->n_c,
        .n_rows = g->n_rows,
        .plane_bytes = g->plane_bytes,
        .channel_bytes = g->channel_bytes,
        .index = _mm512_mullo_epi32(iota, _mm512_set1_epi32((int)g->stride)),
        .dilation = _mm512_set1_epi32((int)g->dilation),
    };
}

/* A lone tile goes through all channels at once: values shared by the channels stay in registers. */
static __attribute__((noinline)) void pack_alone(const struct vbp_group *g)
{
    const struct common c = common_of(g);

    pack_tile(&c, g->tile, 0, c.n_c);
}

static __attribute__((noinline)) void pack_together(const struct vbp_group *g)
{
    const struct common c = common_of(g);
    const size_t n_tiles = g->n_tiles;

    for (size_t i = 0; i < c.n_c; i++) {
        for (size_t t = 0; t < n_tiles; t++)
            pack_tile(&c, &g->tile[t], i, i + 1);
    }
}

void vbp_pack_group__avx512(const struct vbp_group *g)
{
    (g->n_tiles == 1 ? pack_alone : pack_together)(g);
}
#endif
