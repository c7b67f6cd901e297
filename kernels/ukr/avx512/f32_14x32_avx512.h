/* What 14x32 reads, the same when it runs and when it is described. Internal to kernels/ukr. */
#ifndef KERNELS_UKR_F32_14X32_AVX512_H
#define KERNELS_UKR_F32_14X32_AVX512_H

#include "kernels/ukr/registry.h"

enum { VECTOR = 16, N_WIN = 14, N_F = 32 };

static inline size_t vectors(size_t n_f)
{
    return ceil_div(n_f, VECTOR);
}

/* Packed windows, and rows of a pointwise input: a single tap. */
static inline struct conv_taps single_tap(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    struct conv_taps t = {
        .n_c = a->k,
        .r = 1,
        .s = 1,
        .channel_bytes = (int64_t)(conv_ukr_ld_in(u, a) * sizeof(float)),
        .row_windows = a->n_win,
        .apart_bytes = sizeof(float),
        .row_live[0] = (1u << a->n_win) - 1,
        .column_live[0] = (1u << a->n_win) - 1,
    };

    for (size_t w = 0; w < a->n_win; w++)
        t.window_bytes[w] = (int64_t)(w * sizeof(float));
    return t;
}

#endif
