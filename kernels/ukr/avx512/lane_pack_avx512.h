/*
 * Packing of windows into lanes of several channels, with a stride along the width of 1 or 2: a row of a panel is put
 * together in a zmm, of masked loads of each channel. Borders cost no tests inside. The including file defines
 *
 *   ELEMENT_BYTES, N_CHANNELS   bytes of an element; channels of a lane
 *   LOAD(mask, at)              16 elements, zeros where the mask has none, widened to lanes
 *   LOAD_2(mask, at)            likewise, the even elements of 32
 *   FLIP                        exclusive-ored to all lanes
 *   PACK                        the name of the function
 */
#ifndef KERNELS_UKR_LANE_PACK_AVX512_H
#define KERNELS_UKR_LANE_PACK_AVX512_H

#include "kernels/ukr/lanes.h"
#include "kernels/ukr/x86/x86_mask.h"

/* Packs a tile's row: a tap of n channels from `in` on. */
static inline __attribute__((always_inline)) void pack_row(const struct conv_problem *p, const struct conv_tile *t,
                                                           size_t fh, size_t fw, uint64_t in, const size_t n,
                                                           const size_t stride, uint64_t panel)
{
    const uint64_t plane = p->h * p->w * ELEMENT_BYTES;
    __m512i lanes = _mm512_set1_epi32(FLIP);

    for (size_t g = 0; g < t->n_segments; g++) {
        const struct conv_lane_part part = conv_lane_part(p, &t->segment[g], fh, fw);
        const size_t first = part.first * stride;
        const __mmask32 mask = ((1u << part.span) - 1) << first;
        uint64_t at = in + (part.element - first) * ELEMENT_BYTES;

        if (!part.n)
            continue;
#pragma GCC unroll 4
        for (unsigned c = 0; c < n; c++, at += plane) {
            const void *from = (const void *)(uintptr_t)at;
            const __m512i channel = stride == 1 ? LOAD((__mmask16)mask, from) : LOAD_2(mask, from);

            LOG_READ((const char *)from + first * ELEMENT_BYTES, part.span * ELEMENT_BYTES);
            lanes = _mm512_xor_si512(lanes, _mm512_slli_epi32(channel, c * 8 * ELEMENT_BYTES));
        }
    }
    _mm512_storeu_si512((void *)(uintptr_t)panel, lanes);
}

/* Packs a lane of n channels, which start at `in` and whose rows start at `row` in a panel. */
static inline __attribute__((always_inline)) void pack_lane(const struct conv_pack_windows_args *a,
                                                            const struct conv_tiles *tiles, uint64_t in, const size_t n,
                                                            const size_t stride, size_t row)
{
    const struct conv_problem *p = a->p;

    for (size_t fh = 0; fh < p->r; fh++)
        for (size_t fw = 0; fw < p->s; fw++, row++)
            for (size_t t = 0; t < tiles->n; t++)
                pack_row(p, &tiles->tile[t], fh, fw, in, n, stride, tiles->tile[t].panel + row * sizeof(__m512i));
}

static inline __attribute__((always_inline)) void pack_tiles(const struct conv_pack_windows_args *a,
                                                             const struct conv_tiles *tiles, const size_t stride)
{
    const struct conv_problem *p = a->p;
    const uint64_t lane_bytes = p->h * p->w * N_CHANNELS * ELEMENT_BYTES;
    size_t c = 0, row = 0;
    uint64_t in = a->in;

    for (; c + N_CHANNELS <= a->n_c; c += N_CHANNELS, in += lane_bytes, row += p->r * p->s)
        pack_lane(a, tiles, in, N_CHANNELS, stride, row);
    if (c < a->n_c)
        pack_lane(a, tiles, in, a->n_c - c, stride, row);
}

void PACK(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a)
{
    struct conv_tiles tiles;

    (void)self;
    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        if (a->p->stride_w == 1)
            pack_tiles(a, &tiles, 1);
        else
            pack_tiles(a, &tiles, 2);
    }
}

#endif
