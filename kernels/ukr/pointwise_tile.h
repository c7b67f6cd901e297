/*
 * Describes how a call of a pointwise kernel is cut into tiles, for executing, emitting and counting. Internal to
 * kernels/.
 *
 * Vectors lie along the windows of a plane, whose rows follow each other. A tile is n_v vectors by n_f filters, and adds
 * up all channels of the group, so each output is stored once:
 *
 *     groups
 *       tiles of windows, equally wide; the last vector may be a part
 *         tiles of filters, equally high
 *           channels: the vectors of the windows, then a filter value for each filter
 */
#ifndef KERNELS_UKR_POINTWISE_TILE_H
#define KERNELS_UKR_POINTWISE_TILE_H

#include "kernels/shape/sizes.h"
#include "kernels/ukr/direct.h"
#include "kernels/ukr/registry.h"

enum { CONV_POINTWISE_VECTORS = 8, CONV_POINTWISE_SUMS = 24, CONV_POINTWISE_LINE = 64 };

/* The most filters of a tile of 1 to 8 vectors: all sums, a channel's vectors and a filter value are in registers. */
#define CONV_POINTWISE_TILES__ref(X) CONV_POINTWISE_TILES__avx2(X)
#define CONV_POINTWISE_TILES__avx2(X) X(1, 12) X(2, 6) X(3, 4) X(4, 2) X(5, 2) X(6, 1) X(7, 1) X(8, 1)
#define CONV_POINTWISE_TILES__avx512(X) X(1, 24) X(2, 12) X(3, 8) X(4, 6) X(5, 4) X(6, 4) X(7, 3) X(8, 2)

/* Shared by all tiles of a call. */
struct conv_pointwise_call {
    size_t n_c;            /* channels of a group */
    size_t n_v, n_f;       /* vectors of a wide tile, most filters of the tile: found once for all groups */
    uint64_t plane_bytes;  /* between two channels of the input */
    uint64_t filter_bytes; /* between two filters */
    uint64_t out_bytes;    /* between two planes of the output */
};

struct conv_pointwise_tile {
    uint64_t in, filter, out;
    uint64_t ahead;          /* outputs of the next tile of windows, prefetched; 0: none */
    size_t n_v, n_f, n_last; /* vectors, filters, windows of the last vector */
};

/* Slots of a channel's vectors and filter values, or multiply-adds; and the cost of starting and ending tiles. */
static inline double conv_pointwise_slots(const struct conv_direct *d, size_t n_v, size_t n_vectors, size_t n_f,
                                          size_t n_c)
{
    enum { TILE_SLOTS = 80 }; /* by the times of a Zen 4: 70 to 140, the more the outputs are far away */
    size_t wide = ceil_div(n_vectors, n_v), high = ceil_div(n_f, d->tile[n_v - 1]);
    size_t loads = high * n_vectors + wide * n_f, fmas = n_vectors * n_f;

    return (double)max_size(loads, fmas) * (double)n_c + (double)(wide * high) * TILE_SLOTS;
}

/* The vectors of a tile with the fewest slots; of equals, the most: wide tiles visit fewer pages. */
static inline size_t conv_pointwise_best(const struct conv_direct *d, size_t n_win, size_t n_f, size_t n_c)
{
    size_t n_vectors = ceil_div(n_win, d->lanes), best = 1;

    for (size_t v = 2; v <= CONV_POINTWISE_VECTORS; v++) {
        if (conv_pointwise_slots(d, v, n_vectors, n_f, n_c) <= conv_pointwise_slots(d, best, n_vectors, n_f, n_c))
            best = v;
    }
    return best;
}

typedef void (*conv_pointwise_tile_fn)(void *ctx, const struct conv_pointwise_call *call,
                                       const struct conv_pointwise_tile *t);

/* The tiles of filters of a tile of windows; the prefetched outputs begin n_ahead windows on. */
static inline __attribute__((always_inline)) void conv_pointwise_filters(const struct conv_pointwise_call *call,
                                                                         struct conv_pointwise_tile t, size_t n_f,
                                                                         size_t most, size_t n_ahead,
                                                                         conv_pointwise_tile_fn fn, void *ctx)
{
    for (size_t n_tiles = ceil_div(n_f, most); n_tiles; n_tiles--) {
        t.n_f = ceil_div(n_f, n_tiles);
        t.ahead = n_ahead ? t.out + n_ahead * sizeof(float) : 0;
        fn(ctx, call, &t);
        t.filter += t.n_f * call->filter_bytes;
        t.out += t.n_f * call->out_bytes;
        n_f -= t.n_f;
    }
}

/* The tiles of a group. A tile prefetches as many outputs as the tile has, none behind the last window. */
static inline __attribute__((always_inline)) void conv_pointwise_group(const struct conv_direct *d,
                                                                       const struct conv_pointwise_call *call,
                                                                       struct conv_pointwise_tile t, size_t n_win,
                                                                       size_t n_f, conv_pointwise_tile_fn fn, void *ctx)
{
    size_t n_tiles = ceil_div(ceil_div(n_win, d->lanes), call->n_v);

    for (size_t width; n_win; n_win -= width) {
        t.n_v = ceil_div(ceil_div(n_win, d->lanes), n_tiles--);
        width = min_size(n_win, t.n_v * d->lanes);
        t.n_last = width - (t.n_v - 1) * d->lanes;
        conv_pointwise_filters(call, t, n_f, call->n_f, min_size(width, n_win - width), fn, ctx);
        t.in += width * sizeof(float);
        t.out += width * sizeof(float);
    }
}

/* All tiles of a call, in order. */
static inline __attribute__((always_inline)) void conv_pointwise_tiles(const struct conv_direct *d,
                                                                       const struct conv_direct_args *a,
                                                                       conv_pointwise_tile_fn fn, void *ctx)
{
    const struct conv_problem *p = a->p;
    const size_t n_v = conv_pointwise_best(d, a->n_rows * p->q, a->group_filters, a->group_channels);
    const struct conv_pointwise_call call = {
        .n_c = a->group_channels,
        .n_v = n_v,
        .n_f = d->tile[n_v - 1],
        .plane_bytes = p->h * p->w * sizeof(float),
        .filter_bytes = a->group_channels * sizeof(float),
        .out_bytes = p->p * p->q * sizeof(float),
    };
    struct conv_pointwise_tile t = { .in = a->in + a->row0 * p->w * sizeof(float), .filter = a->filter, .out = a->out };

    for (size_t f = 0; f < a->n_f; f += a->group_filters) {
        conv_pointwise_group(d, &call, t, a->n_rows * p->q, a->group_filters, fn, ctx);
        t.in += call.n_c * call.plane_bytes;
        t.filter += a->group_filters * call.filter_bytes;
        t.out += a->group_filters * call.out_bytes;
    }
}

#endif
