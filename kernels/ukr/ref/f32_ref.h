/* The blocks of a portable tile, shared by running, emitting and generated code. Internal to kernels. */
#ifndef KERNELS_UKR_REF_F32_REF_H
#define KERNELS_UKR_REF_F32_REF_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/shape/sizes.h"

/* A vector's floats, and a whole block's vectors of windows, windows and filters: the sums fit into 16 registers. */
enum {
    CONV_REF_LANES = 4,
    CONV_REF_BLOCK_VECTORS = 2,
    CONV_REF_BLOCK_WIN = CONV_REF_BLOCK_VECTORS * CONV_REF_LANES,
    CONV_REF_BLOCK_F = 6,
};

/* A block of a tile: its first window and filter, and its numbers of windows and filters. */
struct conv_ref_block {
    size_t win0, n_win, f0, n_f;
};

/* Goes on to a tile's next block, filters first, or from 0 to the first. Returns whether there is a next block. */
static inline bool conv_ref_next_block(struct conv_ref_block *b, size_t n_win, size_t n_f)
{
    b->f0 += b->n_f;
    if (b->f0 >= n_f) {
        b->f0 = 0;
        b->win0 += b->n_win;
    }
    b->n_win = min_size(n_win - b->win0, CONV_REF_BLOCK_WIN);
    b->n_f = min_size(n_f - b->f0, CONV_REF_BLOCK_F);
    return b->win0 < n_win;
}

#endif
