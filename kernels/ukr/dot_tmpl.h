/*
 * The body of the dot kernels, whose vectors differ. The including file defines before:
 *
 *   ISA                     the end of the names in dot_tile.h
 *   VECTOR, LANES           a vector's type and floats
 *   LANE_MASK, lane_mask(n) the first n lanes
 *   zero, multiply_add
 *   load, load_first        all lanes; the first n lanes, n at least 1, with their mask, the rest is 0
 *   SUMS, add_up(acc, n)    the sums of the lanes of each of n vectors, in order
 *   store_sums              sums first .. first + n - 1
 *   IN_ORDER                keeps the loads of a filter together: short filters are read in the order of memory
 *   IN_REGISTER             keeps a loaded vector from being loaded again (x86_mask.h)
 *
 * Both counts of a tile are constants of an instance. Internal to kernels/ukr.
 */
#ifndef KERNELS_UKR_DOT_TMPL_H
#define KERNELS_UKR_DOT_TMPL_H

#include "kernels/ukr/dot_tile.h"
#include "kernels/ukr/ukr.h"

static inline __attribute__((always_inline)) VECTOR load_vector(uint64_t at, size_t n, LANE_MASK mask,
                                                                const bool is_whole)
{
    return is_whole ? load(conv_in_ptr(at)) : load_first(conv_in_ptr(at), n, mask);
}

/* Products of n_v vectors of each image and each filter; the last vector has n elements. */
static inline __attribute__((always_inline)) void step(const struct conv_dot_call *call, uint64_t in, uint64_t filter,
                                                       uint64_t ahead, const size_t n_v, size_t n, const bool is_whole,
                                                       const size_t n_columns, const size_t n_rows, VECTOR *acc)
{
    const LANE_MASK mask = lane_mask(n);
    VECTOR column[CONV_DOT_VECTORS];

#pragma GCC unroll 4
    for (size_t c = 0; c < n_columns; c++, in += call->in_bytes) {
#pragma GCC unroll 8
        for (size_t v = 0; v < n_v; v++) {
            column[c * n_v + v] = load_vector(in + v * sizeof(VECTOR), n, mask, is_whole || v + 1 < n_v);
            IN_REGISTER(column[c * n_v + v]);
        }
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < n_rows; r++, filter += call->filter_bytes) {
        IN_ORDER();
#pragma GCC unroll 8
        for (size_t v = 0; v < n_v; v++) {
            VECTOR row = load_vector(filter + v * sizeof(VECTOR), n, mask, is_whole || v + 1 < n_v);

            if (n_columns > 1)
                IN_REGISTER(row);
#pragma GCC unroll 4
            for (size_t c = 0; c < n_columns; c++)
                acc[c * n_rows + r] = multiply_add(row, column[c * n_v + v], acc[c * n_rows + r]);
        }
    }
    if (!ahead)
        return;
#pragma GCC unroll 128
    for (size_t at = 0; at < n_rows * n_v * sizeof(VECTOR); at += CONV_DOT_LINE)
        PREFETCH(conv_in_ptr(ahead + at));
}

/* A reduction of at most `most` vectors, in a step: filters are read in the order of memory. */
static inline __attribute__((always_inline)) void short_tile(const struct conv_dot_call *call,
                                                             const struct conv_dot_tile *t, const size_t most,
                                                             const size_t n_columns, const size_t n_rows, VECTOR *acc)
{
    const size_t n_v = ceil_div(call->n_k, LANES), n_last = call->n_k - (n_v - 1) * LANES;

#pragma GCC unroll 8
    for (size_t v = 1; v <= CONV_DOT_VECTORS; v++) {
        if (v <= most && v == n_v)
            step(call, t->in, t->filter, t->ahead, v, n_last, false, n_columns, n_rows, acc);
    }
}

/* A long reduction, a vector in a step. */
static inline __attribute__((always_inline)) void long_tile(const struct conv_dot_call *call,
                                                            const struct conv_dot_tile *t, const size_t n_columns,
                                                            const size_t n_rows, VECTOR *acc)
{
    uint64_t in = t->in, filter = t->filter, ahead = t->ahead;
    size_t left = call->n_k;

    for (; left >= LANES; left -= LANES, in += sizeof(VECTOR), filter += sizeof(VECTOR)) {
        step(call, in, filter, ahead, 1, LANES, true, n_columns, n_rows, acc);
        ahead += ahead ? conv_dot_ahead_bytes(n_rows, LANES) : 0;
    }
    if (left)
        step(call, in, filter, ahead, 1, left, false, n_columns, n_rows, acc);
}

static inline __attribute__((always_inline)) void tile(const struct conv_dot_call *call, const struct conv_dot_tile *t,
                                                       const size_t n_columns, const size_t n_rows)
{
    const size_t most = conv_dot_vectors(LANES, n_columns);
    uint64_t out = t->out;
    VECTOR acc[CONV_DOT_SUMS];
    SUMS sums;

#pragma GCC unroll 16
    for (size_t i = 0; i < n_columns * n_rows; i++)
        acc[i] = zero();
    if (call->n_k <= most * LANES)
        short_tile(call, t, most, n_columns, n_rows, acc);
    else
        long_tile(call, t, n_columns, n_rows, acc);
    sums = add_up(acc, n_columns * n_rows);
#pragma GCC unroll 4
    for (size_t c = 0; c < n_columns; c++, out += call->out_bytes)
        store_sums(conv_out_ptr(out), c * n_rows, n_rows, sums);
}

typedef void (*tile_fn)(const struct conv_dot_call *call, const struct conv_dot_tile *t);

/* Instances of a tile for 1 filter, 2 filters and so on, and their names. */
#define INSTANCE(columns, rows)                                                                                        \
    static void tile_##columns##x##rows(const struct conv_dot_call *call, const struct conv_dot_tile *t)               \
    {                                                                                                                  \
        tile(call, t, columns, rows);                                                                                  \
    }
#define NAME(columns, rows) tile_##columns##x##rows,
#define UP_TO_2(X, columns) X(columns, 1) X(columns, 2)
#define UP_TO_4(X, columns) UP_TO_2(X, columns) X(columns, 3) X(columns, 4)
#define UP_TO_5(X, columns) UP_TO_4(X, columns) X(columns, 5)
#define UP_TO_8(X, columns) UP_TO_5(X, columns) X(columns, 6) X(columns, 7) X(columns, 8)
#define UP_TO_16(X, columns)                                                                                           \
    UP_TO_8(X, columns)                                                                                                \
    X(columns, 9)                                                                                                      \
    X(columns, 10) X(columns, 11) X(columns, 12) X(columns, 13) X(columns, 14) X(columns, 15) X(columns, 16)
#define INSTANCES(columns, most) UP_TO_##most(INSTANCE, columns)
#define NAMES(columns, most) { UP_TO_##most(NAME, columns) },

#define TILES_OF(isa, X) CONV_DOT_TILES__##isa(X)
#define TILES(isa, X) TILES_OF(isa, X)
TILES(ISA, INSTANCES)

static const tile_fn instance[CONV_DOT_COLUMNS][CONV_DOT_SUMS] = { TILES(ISA, NAMES) };

static void run_tile(void *ctx, const struct conv_dot_call *call, const struct conv_dot_tile *t)
{
    (void)ctx;
    instance[t->n_columns - 1][t->n_rows - 1](call, t);
}

#endif
