/* The decisions of 16x16 with AVX2, shared by running and emitting. Internal to kernels/ukr. */
#ifndef KERNELS_UKR_F32_16X16_AVX2_H
#define KERNELS_UKR_F32_16X16_AVX2_H

#include "kernels/ukr/registry.h"
#include "kernels/ukr/walk.h"

enum { VECTOR = 8, N_WIN = 16, N_F = 16, ACCUMULATORS = 12 };

static inline size_t vectors(size_t n_f)
{
    return ceil_div(n_f, VECTOR);
}

/* Returns the next tile's windows of a row's `left`: equal parts of at most twelve accumulators (one vector: eight). */
static inline size_t part_windows(size_t left, size_t n_v)
{
    size_t most = n_v > 1 ? ACCUMULATORS / 2 : VECTOR;

    return ceil_div(left, ceil_div(left, most));
}

/* The register tile that starts with window `first` of the call; a tile does not reach into the next row of windows. */
static inline struct walk_tile part_at(const struct conv_ukr_args *a, const struct conv_taps *taps, size_t first)
{
    size_t left = taps->row_windows - first % taps->row_windows;
    size_t n_win = part_windows(min_size(left, a->n_win - first), vectors(a->n_f));

    return (struct walk_tile){
        .first = first,
        .n_win = n_win,
        .vector = VECTOR,
        .group = a->n_f % VECTOR ? 1 : walk_group(taps),
    };
}

#endif
