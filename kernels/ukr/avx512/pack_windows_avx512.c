/*
 * Vector-based packing with AVX-512: a span is two zmm of 16 elements, a panel row one two-register permutation per
 * segment.
 */
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

VBP_INLINE __m512 load_low(const struct vbp_span *s, uint64_t plane)
{
    return load(s->base + plane, s->valid.of16[0]);
}

VBP_INLINE __m512 load_high(const struct vbp_span *s, uint64_t plane)
{
    return load(s->base + plane + 64, s->valid.of16[1]);
}

/* The panel rows of one channel: shifts of n spans, put together. */
VBP_INLINE void pack_spans(const struct vbp_tile *t, uint64_t plane, __m512i index, __m512i dilation, size_t n_rows,
                           float *panel, const size_t n)
{
    __m512 low[VBP_WIN], high[VBP_WIN];
    __mmask16 positions[VBP_WIN];

    for (size_t g = 0; g < n; g++) {
        low[g] = load_low(&t->span[g], plane);
        high[g] = load_high(&t->span[g], plane);
        positions[g] = t->span[g].positions.of16[0];
    }
    for (size_t fw = 0; fw < n_rows; fw++, panel += VBP_WIN, index = _mm512_add_epi32(index, dilation)) {
        __m512 row = _mm512_setzero_ps();

        for (size_t g = 0; g < n; g++)
            row = _mm512_mask_mov_ps(row, positions[g], _mm512_permutex2var_ps(low[g], index, high[g]));
        _mm512_storeu_ps(panel, row);
    }
}

VBP_INLINE void pack_tile(const struct vbp_tile *t, uint64_t plane, __m512i index, __m512i dilation, size_t n_rows,
                          float *panel)
{
    if (t->is_copy)
        _mm512_storeu_ps(panel, _mm512_loadu_ps(conv_in_ptr(t->span[0].base + plane)));
    else if (t->n_spans == 1)
        pack_spans(t, plane, index, dilation, n_rows, panel, 1);
    else if (t->n_spans == 2)
        pack_spans(t, plane, index, dilation, n_rows, panel, 2);
    else if (t->n_spans == 3)
        pack_spans(t, plane, index, dilation, n_rows, panel, 3);
    else if (t->n_spans == 4)
        pack_spans(t, plane, index, dilation, n_rows, panel, 4);
    else
        pack_spans(t, plane, index, dilation, n_rows, panel, t->n_spans);
}

void vbp_pack_group__avx512(const struct vbp_group *g)
{
    const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i index = _mm512_mullo_epi32(iota, _mm512_set1_epi32((int)g->stride));
    const __m512i dilation = _mm512_set1_epi32((int)g->dilation);

    const size_t n_rows = g->n_rows, n_tiles = g->n_tiles;

    for (size_t c = 0; c < g->n_c; c++) {
        uint64_t plane = c * g->plane_bytes, offset = c * g->channel_bytes;

        for (size_t t = 0; t < n_tiles; t++)
            pack_tile(&g->tile[t], plane, index, dilation, n_rows, conv_out_ptr(g->tile[t].panel + offset));
    }
}
#endif
