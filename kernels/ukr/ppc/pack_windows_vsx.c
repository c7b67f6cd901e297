/*
 * Vector-based packing with POWER10's VSX: a span is up to eight vectors of 4 elements, each quarter of a panel row a
 * permutation of two neighbours (a shift of two registers where the stride is 1). Goes with the MMA tile.
 */
#include "kernels/ukr/pack_vbp.h"

#if defined(__MMA__)
#include "kernels/ukr/ppc/ppc_load.h"

enum { LANES = PPC_LANES, QUARTERS = VBP_WIN / LANES, MAX_PIECES = 8 };

typedef __vector unsigned char byte_index;
typedef __vector unsigned int lane_mask;

/* For lane l the bytes of element l * stride, stride 1 or 2, of two vectors, first bytes further on. */
VBP_INLINE byte_index index_of(const size_t stride, size_t first)
{
    const byte_index iota = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

    return vec_splats((unsigned char)first) + (stride == 2 ? iota + (iota & 12) : iota);
}

/* A vector mask from four bits. */
VBP_INLINE lane_mask mask_of(uint32_t lanes)
{
    const lane_mask bit = { 1, 2, 4, 8 };

    return (lane_mask)vec_cmpeq(vec_splats(lanes) & bit, bit);
}

/* The elements in mask, which are contiguous, in their lanes; zero elsewhere. */
VBP_INLINE ppc_vector load(uint64_t address, uint32_t mask)
{
    const ppc_vector zero = { 0 };
    size_t first;

    if (mask == (1 << LANES) - 1)
        return ppc_load(conv_in_ptr(address));
    if (!mask)
        return zero;
    first = (size_t)__builtin_ctz(mask);
    return vec_perm(zero, ppc_load_part(conv_in_ptr(address) + first, (size_t)__builtin_popcount(mask) * sizeof(float)),
                    index_of(1, PPC_BYTES - first * sizeof(float)));
}

/* The panel rows of one channel: shifts of n spans, put together. */
VBP_INLINE void pack_spans(const struct vbp_tile *t, const struct vbp_group *g, uint64_t plane, float *panel,
                           const size_t n, const size_t stride)
{
    const size_t n_pieces = (QUARTERS - 1) * stride + 2;
    const byte_index dilation = vec_splats((unsigned char)(g->dilation * sizeof(float)));
    byte_index index = index_of(stride, 0);
    ppc_vector x[VBP_WIN][MAX_PIECES];

    for (size_t s = 0; s < n; s++) {
        const struct vbp_span *span = &t->span[s];

#pragma GCC unroll 8
        for (size_t i = 0; i < n_pieces; i++)
            x[s][i] = load(span->base + plane + i * PPC_BYTES, span->valid.all >> (LANES * i) & 0xf);
    }
    for (size_t fw = 0; fw < g->n_rows; fw++, panel += VBP_WIN, index += dilation) {
#pragma GCC unroll 4
        for (size_t q = 0; q < QUARTERS; q++) {
            ppc_vector row = { 0 };

            for (size_t s = 0; s < n; s++)
                row = vec_sel(row, vec_perm(x[s][q * stride], x[s][q * stride + 1], index),
                              mask_of(t->span[s].positions.all >> (LANES * q)));
            ppc_store(panel + q * LANES, row);
        }
    }
}

/* As pack_spans does it: all loads first. */
VBP_INLINE void copy(uint64_t address, float *panel)
{
    ppc_vector x[QUARTERS];

#pragma GCC unroll 4
    for (size_t q = 0; q < QUARTERS; q++)
        x[q] = ppc_load(conv_in_ptr(address) + q * LANES);
#pragma GCC unroll 4
    for (size_t q = 0; q < QUARTERS; q++)
        ppc_store(panel + q * LANES, x[q]);
}

VBP_INLINE void pack_tile(const struct vbp_tile *t, const struct vbp_group *g, uint64_t plane, float *panel,
                          const size_t stride)
{
    if (t->n_spans == 1)
        pack_spans(t, g, plane, panel, 1, stride);
    else if (t->n_spans == 2)
        pack_spans(t, g, plane, panel, 2, stride);
    else if (t->n_spans == 3)
        pack_spans(t, g, plane, panel, 3, stride);
    else
        pack_spans(t, g, plane, panel, t->n_spans, stride);
}

void vbp_pack_group__vsx(const struct vbp_group *g)
{
    for (size_t c = 0; c < g->n_c; c++) {
        uint64_t plane = c * g->plane_bytes, offset = c * g->channel_bytes;

        for (size_t i = 0; i < g->n_tiles; i++) {
            const struct vbp_tile *t = &g->tile[i];
            float *panel = conv_out_ptr(t->panel + offset);

            if (t->is_copy)
                copy(t->span[0].base + plane, panel);
            else if (g->stride == 1)
                pack_tile(t, g, plane, panel, 1);
            else
                pack_tile(t, g, plane, panel, 2);
        }
    }
}
#endif
