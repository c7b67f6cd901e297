/*
 * The portable micro-kernels of types with several channels in a lane: blocks of four windows by up to six filters.
 * Accesses are volatile, so that a load in the source is a load in the machine, in its order. The including file
 * defines
 *
 *   SUM               the type of a sum
 *   DOT(sum, w, f)    the sum and the products of two lanes
 *   HEAD              1: sums start at the panel's head; 0: at zero
 *   UKR               the name of the function
 */
#ifndef KERNELS_UKR_LANES_REF_TMPL_H
#define KERNELS_UKR_LANES_REF_TMPL_H

#include <assert.h>

#include "kernels/ukr/lanes.h"
#include "kernels/ukr/registry.h"

enum { BLOCK_WIN = CONV_LANES_BLOCK_WIN, BLOCK_F = CONV_LANES_BLOCK_F };

typedef SUM __attribute__((may_alias)) lane_sum;
typedef uint32_t __attribute__((may_alias)) lane_word;

static inline __attribute__((always_inline)) void
store_sums(lane_sum *out, size_t ld_out, size_t n_win, SUM acc[BLOCK_F][BLOCK_WIN], const size_t n_f, bool accumulate)
{
    for (size_t f = 0; f < n_f; f++, out += ld_out) {
        for (size_t i = 0; i < n_win; i++) {
            volatile lane_sum *at = out + i;

            *at = accumulate ? *at + acc[f][i] : acc[f][i];
        }
    }
}

static inline __attribute__((always_inline)) void block(const struct conv_ukr_args *a, size_t in_width, size_t win0,
                                                        size_t f0, const size_t n_f)
{
    const volatile lane_word *in = (const lane_word *)(uintptr_t)a->in + win0;
    const volatile lane_word *filter = (const lane_word *)(uintptr_t)a->filter + f0;
    SUM acc[BLOCK_F][BLOCK_WIN];

#pragma GCC unroll 6
    for (size_t f = 0; f < n_f; f++) {
        const SUM start = HEAD ? (SUM)filter[f] : (SUM)0;

#pragma GCC unroll 4
        for (size_t i = 0; i < BLOCK_WIN; i++)
            acc[f][i] = start;
    }
    filter += HEAD * a->n_f;
    for (size_t t = a->k; t; t--, in += in_width, filter += a->n_f) {
        uint32_t windows[BLOCK_WIN];

#pragma GCC unroll 4
        for (size_t i = 0; i < BLOCK_WIN; i++)
            windows[i] = in[i];
#pragma GCC unroll 6
        for (size_t f = 0; f < n_f; f++) {
            const uint32_t weights = filter[f];

#pragma GCC unroll 4
            for (size_t i = 0; i < BLOCK_WIN; i++)
                acc[f][i] = DOT(acc[f][i], windows[i], weights);
        }
    }
    store_sums((lane_sum *)(uintptr_t)a->out + f0 * a->ld_out + win0, a->ld_out, min_size(BLOCK_WIN, a->n_win - win0),
               acc, n_f, a->accumulate);
}

#define BLOCK(n_f)                                                                                                     \
    static void block_##n_f(const struct conv_ukr_args *a, size_t in_width, size_t win0, size_t f0)                    \
    {                                                                                                                  \
        block(a, in_width, win0, f0, n_f);                                                                             \
    }
/* clang-format off */
BLOCK(1) BLOCK(2) BLOCK(3) BLOCK(4) BLOCK(5) BLOCK(6)
    /* clang-format on */

    void UKR(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    static void (*const instance[BLOCK_F])(const struct conv_ukr_args *, size_t, size_t, size_t) = {
        block_1, block_2, block_3, block_4, block_5, block_6,
    };
    const size_t in_width = conv_ukr_in_width(u, a->n_win);

    assert(in_width % BLOCK_WIN == 0);
    for (size_t win0 = 0; win0 < a->n_win; win0 += BLOCK_WIN) {
        for (size_t f0 = 0; f0 < a->n_f; f0 += BLOCK_F)
            instance[min_size(BLOCK_F, a->n_f - f0) - 1](a, in_width, win0, f0);
    }
}

#endif
