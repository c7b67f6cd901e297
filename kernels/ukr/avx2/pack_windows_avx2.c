/*
 * Vector-based packing with AVX2: a span is up to four ymm of 8 elements, each 8 windows of a panel row a permutation
 * of two neighbours and a blend.
 */
#include "kernels/ukr/pack_vbp.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86/x86_mask.h"

enum { LANES = 8, MAX_PARTS = VBP_WIN / LANES, MAX_PIECES = 4 };

/* A vector mask from eight bits. */
VBP_INLINE __m256i lanes(uint32_t mask)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);

    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)mask), bit), bit);
}

VBP_INLINE __m256 load(uint64_t address, uint32_t mask)
{
    if (!mask)
        return _mm256_setzero_ps();
    LOG_READ(conv_in_ptr(address) + __builtin_ctz(mask), (size_t)__builtin_popcount(mask) * sizeof(float));
    return _mm256_maskload_ps(conv_in_ptr(address), lanes(mask));
}

VBP_INLINE void store(float *panel, __m256 x)
{
    _mm256_storeu_ps(panel, x);
    IN_ORDER();
}

VBP_INLINE __m256 shifted(__m256 x, __m256 y, __m256i index)
{
    __m256 from_y = _mm256_castsi256_ps(_mm256_cmpgt_epi32(index, _mm256_set1_epi32(LANES - 1)));

    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(x, index), _mm256_permutevar8x32_ps(y, index), from_y);
}

/* The panel rows of one channel: shifts of n spans, put together. */
VBP_INLINE void pack_spans(const struct vbp_tile *t, const struct vbp_group *g, uint64_t plane, __m256i index,
                           __m256i dilation, float *panel, const size_t n, const size_t stride)
{
    size_t n_rows = g->n_rows, n_parts = g->width / LANES;
    const size_t n_pieces = (MAX_PARTS - 1) * stride + 2;
    __m256 x[VBP_WIN][MAX_PIECES], positions[VBP_WIN][MAX_PARTS];

    for (size_t s = 0; s < n; s++) {
        for (size_t i = 0; i < n_pieces; i++)
            x[s][i] = load(t->span[s].base + plane + i * LANES * sizeof(float), t->span[s].valid.of8[i]);
        for (size_t i = 0; i < MAX_PARTS; i++)
            positions[s][i] = _mm256_castsi256_ps(lanes(t->span[s].positions.of8[i]));
    }
    for (size_t fw = 0; fw < n_rows; fw++, index = _mm256_add_epi32(index, dilation)) {
#pragma GCC unroll 2
        for (size_t part = 0; part < MAX_PARTS; part++) {
            __m256 row = _mm256_setzero_ps();

            if (part == n_parts)
                break;
            for (size_t s = 0; s < n; s++)
                row = _mm256_blendv_ps(row, shifted(x[s][part * stride], x[s][part * stride + 1], index),
                                       positions[s][part]);
            store(panel, row);
            panel += LANES;
        }
    }
}

/* As pack_spans does it: all loads first. */
VBP_INLINE void copy(const float *in, float *panel, size_t width)
{
    __m256 x = _mm256_loadu_ps(in), y = x;

    IN_ORDER();
    if (width > LANES)
        y = _mm256_loadu_ps(in + LANES);
    store(panel, x);
    if (width > LANES)
        store(panel + LANES, y);
}

VBP_INLINE void pack_tile(const struct vbp_tile *t, const struct vbp_group *g, uint64_t plane, __m256i index,
                          __m256i dilation, float *panel, const size_t stride)
{
    if (t->n_spans == 1)
        pack_spans(t, g, plane, index, dilation, panel, 1, stride);
    else if (t->n_spans == 2)
        pack_spans(t, g, plane, index, dilation, panel, 2, stride);
    else if (t->n_spans == 3)
        pack_spans(t, g, plane, index, dilation, panel, 3, stride);
    else if (t->n_spans == 4)
        pack_spans(t, g, plane, index, dilation, panel, 4, stride);
    else
        pack_spans(t, g, plane, index, dilation, panel, t->n_spans, stride);
}

void vbp_pack_group__avx2(const struct vbp_group *g)
{
    const __m256i iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i index = _mm256_mullo_epi32(iota, _mm256_set1_epi32((int)g->stride));
    const __m256i dilation = _mm256_set1_epi32((int)g->dilation);

    for (size_t c = 0; c < g->n_c; c++) {
        uint64_t plane = c * g->plane_bytes, offset = c * g->channel_bytes;

        for (size_t i = 0; i < g->n_tiles; i++) {
            const struct vbp_tile *t = &g->tile[i];
            float *panel = conv_out_ptr(t->panel + offset);

            if (t->is_copy)
                copy(conv_in_ptr(t->span[0].base + plane), panel, g->width);
            else if (g->stride == 1)
                pack_tile(t, g, plane, index, dilation, panel, 1);
            else
                pack_tile(t, g, plane, index, dilation, panel, 2);
        }
    }
}
#endif
