/*
 * Describes how a call of a micro-kernel on blocks is cut into tiles: one description for executing and emitting.
 * Internal to kernels/.
 *
 *     columns of c, as wide as the widest tile that fits
 *       tiles of rows, equally high, or one row less
 */
#ifndef KERNELS_UKR_SMALL_TILE_H
#define KERNELS_UKR_SMALL_TILE_H

#include <assert.h>

#include "kernels/shape/sizes.h"
#include "kernels/ukr/registry.h"
#include "kernels/ukr/small.h"

#define CONV_SMALL_COUNT(isa, lanes) +1
enum { CONV_SMALL_N = 0 CONV_SMALLS(CONV_SMALL_COUNT) };
extern const struct conv_small conv_small_table[CONV_SMALL_N]; /* the portable micro-kernel first */

/* The tiles of each instruction set: vectors, rows at most. Their product is the accumulators. */
#define CONV_SMALL_TILES__ref(X) X(4, 2)
#define CONV_SMALL_TILES__avx2(X) X(2, 6)
#define CONV_SMALL_TILES__avx512(X) X(4, 6) X(2, 12) X(1, 24)

/* The call of a tile is a call, too: tile[index] has its vectors, n is its rows. */
typedef void (*conv_small_tile_fn)(void *ctx, const struct conv_small_args *tile, size_t index);

/* The tiles of a column. */
static inline __attribute__((always_inline)) void conv_small_rows(const struct conv_small *s, struct conv_small_args t,
                                                                  size_t index, conv_small_tile_fn fn, void *ctx)
{
    size_t left = t.n;

    for (size_t n_tiles = ceil_div(t.n, s->tile[index].n_rows); n_tiles; n_tiles--) {
        t.n = ceil_div(left, n_tiles);
        fn(ctx, &t, index);
        t.b += t.n * t.ldb * sizeof(float);
        t.c += t.n * t.ldc * sizeof(float);
        left -= t.n;
    }
}

/* All tiles of a call, in order. */
static inline __attribute__((always_inline)) void
conv_small_tiles(const struct conv_small *s, const struct conv_small_args *a, conv_small_tile_fn fn, void *ctx)
{
    struct conv_small_args t = *a;
    size_t index = 0;

    for (size_t left = a->m; left; left -= t.m) {
        while (index + 1 < s->n_tiles && s->tile[index].n_vectors * s->lanes > left)
            index++;
        t.m = s->tile[index].n_vectors * s->lanes;
        assert(t.m <= left);
        conv_small_rows(s, t, index, fn, ctx);
        t.a += t.m * sizeof(float);
        t.c += t.m * sizeof(float);
    }
}

#endif
