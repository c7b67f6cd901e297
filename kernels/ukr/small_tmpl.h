/*
 * The body of the micro-kernels on blocks, which differ in their vectors only. The including file defines before:
 *
 *   ISA                     the end of the names in small_tile.h
 *   VECTOR, LANES           its type, its floats
 *   multiply_add
 *   load, store, broadcast  all lanes; an element to all lanes
 *   IN_REGISTER             keeps a loaded vector from being loaded again (x86_mask.h)
 *
 * A step is the vectors of a row of a, then an element of b for each row of c. Both counts are constants of an
 * instance. Internal to kernels/ukr.
 */
#ifndef KERNELS_UKR_SMALL_TMPL_H
#define KERNELS_UKR_SMALL_TMPL_H

#include "kernels/ukr/small_tile.h"
#include "kernels/ukr/ukr.h"

enum { MAX_ACCUMULATORS = 24, MAX_VECTORS = 4 };

static inline __attribute__((always_inline)) void step(const float *a, const float *b, size_t ldb, const size_t n_v,
                                                       const size_t n_rows, VECTOR *acc)
{
    VECTOR row[MAX_VECTORS];

#pragma GCC unroll 4
    for (size_t v = 0; v < n_v; v++) {
        row[v] = load(a + v * LANES);
        IN_REGISTER(row[v]);
    }
#pragma GCC unroll 24
    for (size_t i = 0; i < n_rows; i++) {
        VECTOR x = broadcast(b + i * ldb);

        if (n_v > 1)
            IN_REGISTER(x);
#pragma GCC unroll 4
        for (size_t v = 0; v < n_v; v++)
            acc[i * n_v + v] = multiply_add(row[v], x, acc[i * n_v + v]);
    }
}

static inline __attribute__((always_inline)) void tile(const struct conv_small_args *t, const size_t n_v,
                                                       const size_t n_rows)
{
    const float *a = conv_in_ptr(t->a), *b = conv_in_ptr(t->b);
    float *c = conv_out_ptr(t->c);
    const size_t lda = t->lda, ldb = t->ldb, ldc = t->ldc;
    VECTOR acc[MAX_ACCUMULATORS];

#pragma GCC unroll 24
    for (size_t i = 0; i < n_v * n_rows; i++)
        acc[i] = load(c + i / n_v * ldc + i % n_v * LANES);
#pragma GCC unroll 4
    for (size_t left = t->k; left; left--) {
        step(a, b, ldb, n_v, n_rows, acc);
        a += lda;
        b++;
    }
#pragma GCC unroll 24
    for (size_t i = 0; i < n_v * n_rows; i++)
        store(c + i / n_v * ldc + i % n_v * LANES, acc[i]);
}

typedef void (*tile_fn)(const struct conv_small_args *t);

/* Instances of a tile for 1 row, 2 rows and so on, and their names. */
#define INSTANCE(v, rows)                                                                                              \
    static void tile_##v##x##rows(const struct conv_small_args *t)                                                     \
    {                                                                                                                  \
        tile(t, v, rows);                                                                                              \
    }
#define NAME(v, rows) tile_##v##x##rows,
#define UP_TO_2(X, v) X(v, 1) X(v, 2)
#define UP_TO_6(X, v) UP_TO_2(X, v) X(v, 3) X(v, 4) X(v, 5) X(v, 6)
#define UP_TO_12(X, v) UP_TO_6(X, v) X(v, 7) X(v, 8) X(v, 9) X(v, 10) X(v, 11) X(v, 12)
#define UP_TO_24(X, v)                                                                                                 \
    UP_TO_12(X, v)                                                                                                     \
    X(v, 13) X(v, 14) X(v, 15) X(v, 16) X(v, 17) X(v, 18) X(v, 19) X(v, 20) X(v, 21) X(v, 22) X(v, 23) X(v, 24)
#define INSTANCES(v, rows) UP_TO_##rows(INSTANCE, v)
#define NAMES(v, rows) { UP_TO_##rows(NAME, v) },

#define TILES_OF(isa, X) CONV_SMALL_TILES__##isa(X)
#define TILES(isa, X) TILES_OF(isa, X)
TILES(ISA, INSTANCES)

static const tile_fn instance[][MAX_ACCUMULATORS] = { TILES(ISA, NAMES) };

static void run_tile(void *ctx, const struct conv_small_args *t, size_t index)
{
    (void)ctx;
    instance[index][t->n - 1](t);
}

#endif
