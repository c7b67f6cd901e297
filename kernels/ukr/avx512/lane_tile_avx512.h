/*
 * The tile of the micro-kernels of types with several channels in a lane: 16 windows in a zmm by n_f filters, an
 * accumulator each. A step is a load of 16 lanes and n_f broadcasts of a lane. n_f is a constant of an instance. The
 * including file defines
 *
 *   DOT              the instruction: sums of products of lanes, 16 times
 *   ADD(a, b)        16 sums
 *   HEAD             1: sums start at the panel's head; 0: at zero
 *   UKR              the name of the function
 */
#ifndef KERNELS_UKR_LANE_TILE_AVX512_H
#define KERNELS_UKR_LANE_TILE_AVX512_H

#include "kernels/ukr/x86/x86_mask.h"

enum { TILE_VECTOR = 16, TILE_ACCUMULATORS = 24 };

typedef int __attribute__((may_alias)) lane_word;

/*
 * Adds the products of 16 lanes of windows by a lane of filters, broadcast from memory. The instruction is written down:
 * gcc 12 copies and spills the accumulators of the intrinsic functions.
 */
static inline __attribute__((always_inline)) void add_products(__m512i *acc, __m512i windows, const lane_word *filter)
{
    LOG_READ(filter, sizeof *filter);
    __asm__(DOT " %2%{1to16%}, %1, %0" : "+v"(*acc) : "v"(windows), "m"(*filter));
}

/* Stores a row of n windows, 16 if the mask is whole. */
static inline __attribute__((always_inline)) void store_row(lane_word *out, __m512i row, const bool accumulate,
                                                            const bool is_whole, size_t n)
{
    const __mmask16 mask = (__mmask16)((1u << n) - 1);

    if (is_whole) {
        _mm512_storeu_si512(out, accumulate ? ADD(row, _mm512_loadu_si512(out)) : row);
        return;
    }
    if (accumulate) {
        LOG_READ(out, n * sizeof *out);
        row = ADD(row, _mm512_maskz_loadu_epi32(mask, out));
    }
    LOG_WRITE(out, n * sizeof *out);
    _mm512_mask_storeu_epi32(out, mask, row);
}

static inline __attribute__((always_inline)) void store_tile(lane_word *out, const struct conv_ukr_args *a,
                                                             const __m512i *acc, const size_t n_f,
                                                             const bool accumulate, const bool is_whole)
{
#pragma GCC unroll 24
    for (size_t f = 0; f < n_f; f++) {
        store_row(out, acc[f], accumulate, is_whole, a->n_win);
        out += a->ld_out;
        __asm__("" : "+r"(out)); /* added up row by row: multiples of the distance would not fit into registers */
    }
}

static inline __attribute__((always_inline)) void one_tile(const struct conv_ukr_args *a, const lane_word *in,
                                                           const lane_word *filter, lane_word *out, const size_t n_f)
{
    __m512i acc[TILE_ACCUMULATORS];

#pragma GCC unroll 24
    for (size_t f = 0; f < n_f; f++)
        acc[f] = HEAD ? _mm512_set1_epi32(filter[f]) : _mm512_setzero_si512();
    filter += HEAD * n_f;
    for (size_t t = a->k; t; t--) {
        __m512i windows = _mm512_loadu_si512(in);

        IN_REGISTER(windows);
#pragma GCC unroll 24
        for (size_t f = 0; f < n_f; f++)
            add_products(&acc[f], windows, filter + f);
        in += TILE_VECTOR;
        filter += n_f;
    }
    if (a->n_win < TILE_VECTOR && a->accumulate)
        store_tile(out, a, acc, n_f, true, false);
    else if (a->n_win < TILE_VECTOR)
        store_tile(out, a, acc, n_f, false, false);
    else if (a->accumulate)
        store_tile(out, a, acc, n_f, true, true);
    else
        store_tile(out, a, acc, n_f, false, true);
}

static inline __attribute__((always_inline)) void tile(const struct conv_ukr_args *a, const size_t n_f)
{
    uint64_t in = a->in, filter = a->filter, out = a->out;

    for (size_t left = max_size(a->n_tiles, 1); left; left--) {
        one_tile(a, (const lane_word *)(uintptr_t)in, (const lane_word *)(uintptr_t)filter, (lane_word *)(uintptr_t)out,
                 n_f);
        in += (uint64_t)a->in_tile;
        filter += (uint64_t)a->filter_tile;
        out += (uint64_t)a->out_tile;
    }
}

#define INSTANCE(n_f)                                                                                                  \
    static void tile_##n_f(const struct conv_ukr_args *a)                                                              \
    {                                                                                                                  \
        tile(a, n_f);                                                                                                  \
    }

/* clang-format off */
INSTANCE(1) INSTANCE(2) INSTANCE(3) INSTANCE(4) INSTANCE(5) INSTANCE(6) INSTANCE(7) INSTANCE(8)
INSTANCE(9) INSTANCE(10) INSTANCE(11) INSTANCE(12) INSTANCE(13) INSTANCE(14) INSTANCE(15) INSTANCE(16)
INSTANCE(17) INSTANCE(18) INSTANCE(19) INSTANCE(20) INSTANCE(21) INSTANCE(22) INSTANCE(23) INSTANCE(24)

void UKR(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    static const conv_ukr_instance_fn instance[24] = {
        tile_1, tile_2, tile_3, tile_4, tile_5, tile_6, tile_7, tile_8, tile_9, tile_10, tile_11, tile_12,
        tile_13, tile_14, tile_15, tile_16, tile_17, tile_18, tile_19, tile_20, tile_21, tile_22, tile_23, tile_24,
    };

    (void)u;
    instance[a->n_f - 1](a);
}
/* clang-format on */

#endif
