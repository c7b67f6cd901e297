/*
 * The body of the pointwise kernels, whose vectors differ. The including file defines before:
 *
 *   ISA                          the end of the names in pointwise_tile.h
 *   VECTOR, LANES                a vector's type and floats
 *   LANE_MASK, lane_mask(n)      the first n lanes
 *   zero, multiply_add
 *   broadcast, load, store       an element to all lanes; all lanes
 *   load_first, store_first      the first n lanes, n at least 1, with their mask
 *   PREFETCH                     asks for a line
 *   IN_REGISTER                  keeps a loaded vector from being loaded again (x86_mask.h)
 *
 * Both counts of a tile are constants of an instance. Internal to kernels/ukr.
 */
#ifndef KERNELS_UKR_POINTWISE_TMPL_H
#define KERNELS_UKR_POINTWISE_TMPL_H

#include "kernels/ukr/pointwise_tile.h"
#include "kernels/ukr/ukr.h"

static inline __attribute__((always_inline)) void load_channel(uint64_t in, size_t n_last, LANE_MASK mask,
                                                               const size_t n_v, VECTOR *x)
{
#pragma GCC unroll 8
    for (size_t v = 0; v < n_v; v++) {
        const float *at = conv_in_ptr(in) + v * LANES;

        x[v] = v + 1 < n_v ? load(at) : load_first(at, n_last, mask);
        IN_REGISTER(x[v]);
    }
}

/* Asks for the outputs of the next tile of windows. */
static inline __attribute__((always_inline)) void prefetch_tile(const struct conv_pointwise_call *call, uint64_t out,
                                                                const size_t n_v, const size_t n_f)
{
#pragma GCC unroll 24
    for (size_t f = 0; f < n_f; f++, out += call->out_bytes) {
#pragma GCC unroll 8
        for (size_t at = 0; at < n_v * sizeof(VECTOR); at += CONV_POINTWISE_LINE)
            PREFETCH(conv_in_ptr(out + at));
    }
}

static inline __attribute__((always_inline)) void store_tile(const struct conv_pointwise_call *call,
                                                             const struct conv_pointwise_tile *t, LANE_MASK mask,
                                                             const size_t n_v, const size_t n_f, const VECTOR *acc)
{
    uint64_t out = t->out;

#pragma GCC unroll 24
    for (size_t f = 0; f < n_f; f++, out += call->out_bytes) {
#pragma GCC unroll 8
        for (size_t v = 0; v < n_v; v++) {
            float *at = conv_out_ptr(out) + v * LANES;

            if (v + 1 < n_v || t->n_last == LANES)
                store(at, acc[f * n_v + v]);
            else
                store_first(at, t->n_last, mask, acc[f * n_v + v]);
        }
    }
}

static inline __attribute__((always_inline)) void
tile(const struct conv_pointwise_call *call, const struct conv_pointwise_tile *t, const size_t n_v, const size_t n_f)
{
    const LANE_MASK mask = lane_mask(t->n_last);
    uint64_t in = t->in, filter = t->filter;
    VECTOR acc[CONV_POINTWISE_SUMS], x[CONV_POINTWISE_VECTORS];

#pragma GCC unroll 24
    for (size_t i = 0; i < n_v * n_f; i++)
        acc[i] = zero();
    if (t->ahead)
        prefetch_tile(call, t->ahead, n_v, n_f);
    for (size_t c = call->n_c; c; c--, in += call->plane_bytes, filter += sizeof(float)) {
        uint64_t at = filter;

        load_channel(in, t->n_last, mask, n_v, x);
#pragma GCC unroll 24
        for (size_t f = 0; f < n_f; f++, at += call->filter_bytes) {
            VECTOR weight = broadcast(conv_in_ptr(at));

            if (n_v > 1)
                IN_REGISTER(weight);
#pragma GCC unroll 8
            for (size_t v = 0; v < n_v; v++)
                acc[f * n_v + v] = multiply_add(weight, x[v], acc[f * n_v + v]);
        }
    }
    store_tile(call, t, mask, n_v, n_f, acc);
}

typedef void (*tile_fn)(const struct conv_pointwise_call *call, const struct conv_pointwise_tile *t);

/* Instances of a tile for 1 filter, 2 filters and so on, and their names. */
#define INSTANCE(v, f)                                                                                                 \
    static void tile_##v##x##f(const struct conv_pointwise_call *call, const struct conv_pointwise_tile *t)            \
    {                                                                                                                  \
        tile(call, t, v, f);                                                                                           \
    }
#define NAME(v, f) tile_##v##x##f,
#define UP_TO_1(X, v) X(v, 1)
#define UP_TO_2(X, v) X(v, 1) X(v, 2)
#define UP_TO_3(X, v) UP_TO_2(X, v) X(v, 3)
#define UP_TO_4(X, v) UP_TO_3(X, v) X(v, 4)
#define UP_TO_6(X, v) UP_TO_4(X, v) X(v, 5) X(v, 6)
#define UP_TO_8(X, v) UP_TO_6(X, v) X(v, 7) X(v, 8)
#define UP_TO_12(X, v) UP_TO_8(X, v) X(v, 9) X(v, 10) X(v, 11) X(v, 12)
#define UP_TO_24(X, v)                                                                                                 \
    UP_TO_12(X, v)                                                                                                     \
    X(v, 13) X(v, 14) X(v, 15) X(v, 16) X(v, 17) X(v, 18) X(v, 19) X(v, 20) X(v, 21) X(v, 22) X(v, 23) X(v, 24)
#define INSTANCES(v, most) UP_TO_##most(INSTANCE, v)
#define NAMES(v, most) { UP_TO_##most(NAME, v) },

#define TILES_OF(isa, X) CONV_POINTWISE_TILES__##isa(X)
#define TILES(isa, X) TILES_OF(isa, X)
TILES(ISA, INSTANCES)

static const tile_fn instance[CONV_POINTWISE_VECTORS][CONV_POINTWISE_SUMS] = { TILES(ISA, NAMES) };

static void run_tile(void *ctx, const struct conv_pointwise_call *call, const struct conv_pointwise_tile *t)
{
    (void)ctx;
    instance[t->n_v - 1][t->n_f - 1](call, t);
}

#endif
