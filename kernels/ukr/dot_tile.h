/*
 * Describes how a call of a dot kernel is cut into tiles, for executing, emitting and counting. Internal to
 * kernels/.
 *
 * A layer whose filters are as large as the image has one output for each filter and image: a filter is a row of a
 * matrix, an image is a column, both contiguous, and an output is their dot product. Vectors lie along the reduction, so
 * filters are read in place. A tile is n_rows filters by n_columns images; each product has a vector of sums, added up at
 * the end of the tile:
 *
 *     groups
 *       tiles of filters, equally high
 *         tiles of images, equally wide
 *           vectors of the reduction, the last may be a part: a vector of each image, then of each filter
 */
#ifndef KERNELS_UKR_DOT_TILE_H
#define KERNELS_UKR_DOT_TILE_H

#include "kernels/shape/sizes.h"
#include "kernels/ukr/direct.h"
#include "kernels/ukr/registry.h"

enum {
    CONV_DOT_COLUMNS = 4,
    CONV_DOT_SUMS = 16,
    CONV_DOT_VECTORS = 8,
    CONV_DOT_LINE = 64,
    CONV_DOT_NEAR = 3072,
    CONV_DOT_AHEAD = 32768
};

/* The most filters of a tile of 1 to 4 images: as many products as a vector has floats, at most. */
#define CONV_DOT_TILES__ref(X) CONV_DOT_TILES__avx2(X)
#define CONV_DOT_TILES__avx2(X) X(1, 8) X(2, 4) X(3, 2) X(4, 2)
#define CONV_DOT_TILES__avx512(X) X(1, 16) X(2, 8) X(3, 5) X(4, 4)

/* Shared by all tiles of a call. */
struct conv_dot_call {
    size_t n_k;            /* the reduction */
    uint64_t filter_bytes; /* between two filters */
    uint64_t in_bytes;     /* between two images of the input, */
    uint64_t out_bytes;    /* of the output */
};

struct conv_dot_tile {
    uint64_t in, filter, out;
    uint64_t ahead; /* the filters of the next tile, prefetched where a tile's filters are few; 0: none */
    size_t n_rows, n_columns;
};

/* A step's vectors of the reduction, of each image and filter: registers hold the vectors of all images. */
static inline size_t conv_dot_vectors(size_t lanes, size_t n_columns)
{
    return (lanes < 16 ? CONV_DOT_VECTORS / 2 : CONV_DOT_VECTORS) / n_columns;
}

/* Bytes prefetched by a step: as many as the step loads of the tile's own filters, in whole lines. */
static inline size_t conv_dot_ahead_bytes(size_t n_rows, size_t lanes)
{
    return round_up(n_rows * lanes * sizeof(float), CONV_DOT_LINE);
}

typedef void (*conv_dot_tile_fn)(void *ctx, const struct conv_dot_call *call, const struct conv_dot_tile *t);

/* The tiles of images of a tile of filters. */
static inline __attribute__((always_inline)) void conv_dot_columns(const struct conv_dot_call *call,
                                                                   struct conv_dot_tile t, size_t n_images,
                                                                   conv_dot_tile_fn fn, void *ctx)
{
    for (size_t n_tiles = ceil_div(n_images, CONV_DOT_COLUMNS); n_tiles; n_tiles--) {
        t.n_columns = ceil_div(n_images, n_tiles);
        fn(ctx, call, &t);
        t.ahead = 0;
        t.in += t.n_columns * call->in_bytes;
        t.out += t.n_columns * call->out_bytes;
        n_images -= t.n_columns;
    }
}

/* The most filters of a tile beside all images. */
static inline size_t conv_dot_rows(const struct conv_direct *d, size_t n_images)
{
    return d->tile[ceil_div(n_images, ceil_div(n_images, CONV_DOT_COLUMNS)) - 1];
}

/* The filters of a later tile, prefetched by a tile, or none. */
static inline uint64_t conv_dot_ahead(const struct conv_dot_call *call, const struct conv_dot_tile *t, size_t lanes,
                                      uint64_t end)
{
    const uint64_t bytes = t->n_rows * call->filter_bytes, ahead = t->filter + round_up(CONV_DOT_NEAR, bytes);
    const uint64_t ahead_bytes = ceil_div(call->n_k, lanes) * conv_dot_ahead_bytes(t->n_rows, lanes);

    return bytes <= CONV_DOT_AHEAD && ahead + ahead_bytes <= end ? ahead : 0;
}

/* The tiles of a group. */
static inline __attribute__((always_inline)) void conv_dot_group(const struct conv_direct *d,
                                                                 const struct conv_dot_call *call,
                                                                 struct conv_dot_tile t, size_t n_f, size_t n_images,
                                                                 conv_dot_tile_fn fn, void *ctx)
{
    const uint64_t end = t.filter + n_f * call->filter_bytes;

    for (size_t n_tiles = ceil_div(n_f, conv_dot_rows(d, n_images)); n_tiles; n_tiles--) {
        t.n_rows = ceil_div(n_f, n_tiles);
        t.ahead = conv_dot_ahead(call, &t, d->lanes, end);
        conv_dot_columns(call, t, n_images, fn, ctx);
        t.filter += t.n_rows * call->filter_bytes;
        t.out += t.n_rows * sizeof(float);
        n_f -= t.n_rows;
    }
}

/* All tiles of a call, in order. A call has some filters of a group, or all filters of several groups. */
static inline __attribute__((always_inline)) void
conv_dot_tiles(const struct conv_direct *d, const struct conv_direct_args *a, conv_dot_tile_fn fn, void *ctx)
{
    const struct conv_problem *p = a->p;
    const struct conv_dot_call call = {
        .n_k = a->group_channels * p->r * p->s,
        .filter_bytes = a->group_channels * p->r * p->s * sizeof(float),
        .in_bytes = p->c * p->h * p->w * sizeof(float),
        .out_bytes = p->k * sizeof(float),
    };
    struct conv_dot_tile t = { .in = a->in, .filter = a->filter, .out = a->out };

    for (size_t left = a->n_f, n_f; left; left -= n_f) {
        n_f = min_size(left, a->group_filters);
        conv_dot_group(d, &call, t, n_f, a->n_images, fn, ctx);
        t.in += call.filter_bytes; /* an image's group is as large as a filter */
        t.filter += n_f * call.filter_bytes;
        t.out += n_f * sizeof(float);
    }
}

#endif
