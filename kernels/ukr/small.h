/*
 * Micro-kernels on blocks: products of small matrices in place, as in libraries of small GEMMs (LIBXSMM). Nothing is
 * packed: a blocked layout has its channels and filters side by side.
 *
 *     c[i][j] += sum over t < k of b[i][t] * a[t][j]          i < n, j < m
 *
 *   a       [k][lda]   vectors lie along j
 *   b       [n][ldb]   an element at a time, to all lanes
 *   c       [n][ldc]   read first and written last
 *
 * A call is cut into tiles (small_tile.h). As for micro-kernels (ukr.h), `emit` lists the loads and stores that fn
 * executes, in fn's order.
 */
#ifndef KERNELS_UKR_SMALL_H
#define KERNELS_UKR_SMALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/access.h"
#include "sim/cpu.h"

/* A call. Addresses are real pointers when executed and synthetic addresses when replayed, aligned to 4. */
struct conv_small_args {
    uint64_t a, b, c;
    size_t m, n, k;       /* m is a multiple of the floats of the narrowest tile's vectors */
    size_t lda, ldb, ldc; /* elements between two rows */
};

struct conv_small;
typedef void (*conv_small_fn)(const struct conv_small *s, const struct conv_small_args *a);
typedef void (*conv_small_emit_fn)(const struct conv_small *s, const struct conv_small_args *a, struct sim_sink *sink);

/* A tile in registers: vectors of c's rows, and the most rows. */
struct conv_small_tile {
    size_t n_vectors, n_rows;
};

enum { CONV_SMALL_MAX_TILES = 3 };

struct conv_small {
    const char *name; /* "f32_small__<isa>" */
    enum cpu_isa isa; /* needed to run fn */
    size_t lanes;     /* floats of a vector */
    conv_small_fn fn; /* NULL: replay only, this build or CPU family cannot run the micro-kernel */
    conv_small_emit_fn emit;
    size_t n_tiles;
    struct conv_small_tile tile[CONV_SMALL_MAX_TILES]; /* from wide to narrow */
};

/* List the micro-kernels, the portable first, the widest last. */
size_t conv_small_count(void);
const struct conv_small *conv_small_at(size_t i);

/* Tells whether this build and this CPU can execute the micro-kernel. */
bool conv_small_runs(const struct conv_small *s);

/* Returns the widest micro-kernel that CPUs of an instruction set run; and the widest that this CPU runs. */
const struct conv_small *conv_small_of(enum cpu_isa isa);
const struct conv_small *conv_small_best(void);

#endif
