#include "kernels/blas/gemm_core.h"

/* Describes accesses from a step and a column on: n elements, `count` times, at a distance of steps and columns. */
#define LOADS(step, column, n, count, by_steps, by_columns)                                                            \
    {                                                                                                                  \
        SIM_LOAD, step, column, n, count, by_steps, by_columns                                                         \
    }
#define STORES(step, column, n, count, by_columns)                                                                     \
    {                                                                                                                  \
        SIM_STORE, step, column, n, count, 0, by_columns                                                               \
    }
#define LOAD(step, column, n) LOADS(step, column, n, 1, 0, 0)
#define STORE(step, column, n) STORES(step, column, n, 1, 0)

/* A panel's width, the block's steps, the block's accesses. */
#define BLOCK(width, n_steps, ...)                                                                                     \
    {                                                                                                                  \
        width, n_steps, sizeof((struct conv_copy_run[]){ __VA_ARGS__ }) / sizeof(struct conv_copy_run),                \
            (const struct conv_copy_run[])                                                                             \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

#define COPY(blocks, across)                                                                                           \
    {                                                                                                                  \
        blocks, sizeof(blocks) / sizeof((blocks)[0]), across                                                           \
    }

static const struct conv_copy_block skylakex_windows[] = {
    BLOCK(16, 2, LOADS(0, 0, 8, 2, 0, 8), LOADS(1, 0, 8, 2, 0, 8), STORES(0, 0, 8, 4, 8)),
    BLOCK(16, 1, LOADS(0, 8, 8, 2, 0, -8), STORES(0, 8, 8, 2, -8)),
    BLOCK(8, 2, LOADS(0, 0, 8, 2, 1, 0), STORES(0, 0, 8, 2, 8)),
    BLOCK(8, 1, LOAD(0, 0, 8), STORE(0, 0, 8)),
    BLOCK(4, 2, LOADS(0, 0, 4, 2, 1, 0), STORES(0, 0, 4, 2, 4)),
    BLOCK(4, 1, LOAD(0, 0, 4), STORE(0, 0, 4)),
    BLOCK(2, 2, LOADS(1, 0, 2, 2, -1, 0), STORES(0, 0, 2, 2, 2)),
    BLOCK(2, 1, LOAD(0, 0, 2), STORE(0, 0, 2)),
    BLOCK(1, 2, LOADS(0, 0, 1, 2, 1, 0), STORE(0, 0, 2)),
    BLOCK(1, 1, LOAD(0, 0, 1), STORE(0, 0, 1)),
};

static const struct conv_copy_block skylakex_filters[] = {
    BLOCK(4, 4, LOADS(0, 1, 4, 2, 0, 2), LOADS(0, 0, 4, 2, 0, 2), STORES(0, 0, 4, 4, 4)),
    BLOCK(4, 1, LOADS(0, 2, 1, 2, 0, -2), LOADS(0, 3, 1, 2, 0, -2), STORE(0, 0, 4)),
    BLOCK(2, 4, LOADS(3, 0, 1, 2, -1, 0), LOADS(3, 1, 1, 2, -1, 0), LOADS(1, 0, 1, 2, -1, 0), LOADS(1, 1, 1, 2, -1, 0),
          STORE(0, 0, 8)),
    BLOCK(2, 1, LOADS(0, 0, 1, 2, 0, 1), STORE(0, 0, 2)),
    BLOCK(1, 4, LOAD(0, 0, 4), STORE(0, 0, 4)),
    BLOCK(1, 3, LOAD(0, 0, 2), STORE(0, 0, 2), LOAD(1, 0, 2), STORE(1, 0, 2)),
    BLOCK(1, 2, LOAD(0, 0, 2), STORE(0, 0, 2), LOAD(0, 0, 2), STORE(0, 0, 2)),
    BLOCK(1, 1, LOAD(0, 0, 1), STORE(0, 0, 1), LOAD(0, 0, 1), STORE(0, 0, 1)),
};

static const struct conv_copy_block haswell_windows[] = {
    BLOCK(8, 8, LOADS(1, 0, 8, 7, 1, 0), LOAD(0, 0, 8), STORES(1, 0, 8, 2, 8), STORES(0, 0, 8, 2, 24),
          STORES(4, 0, 8, 4, 8)),
    BLOCK(8, 4, LOADS(1, 0, 8, 3, 1, 0), LOAD(0, 0, 8), STORES(1, 0, 8, 2, -8), STORES(2, 0, 8, 2, 8)),
    BLOCK(8, 2, LOADS(1, 0, 8, 2, -1, 0), STORES(0, 0, 8, 2, 8)),
    BLOCK(8, 1, LOAD(0, 0, 8), STORE(0, 0, 8)),
    BLOCK(4, 8, LOADS(0, 1, 1, 2, 0, 2), LOADS(0, 0, 1, 2, 0, 2), LOADS(1, 2, 1, 2, 1, 1), LOADS(1, 3, 1, 2, 0, -3),
          LOADS(1, 1, 1, 2, 1, 0), LOADS(2, 2, 1, 2, 2, 1), LOADS(2, 0, 1, 2, 4, 3), LOADS(3, 2, 1, 2, 0, 1),
          LOADS(3, 0, 1, 2, 0, 1), LOADS(4, 1, 1, 2, 0, -1), LOADS(4, 2, 1, 2, 1, 0), LOADS(5, 3, 1, 2, 0, -3),
          LOADS(5, 1, 1, 2, 1, 0), LOADS(7, 2, 1, 2, -1, 0), LOADS(7, 3, 1, 2, -1, -3), LOADS(7, 0, 1, 2, 0, 1),
          STORES(0, 0, 8, 4, 8)),
    BLOCK(4, 4, LOADS(0, 1, 1, 2, 0, 2), LOADS(0, 0, 1, 2, 0, 2), LOADS(1, 2, 1, 2, 0, 1), LOADS(1, 0, 1, 2, 0, 1),
          LOADS(2, 1, 1, 2, 0, 2), LOADS(2, 2, 1, 2, 1, 0), LOADS(2, 0, 1, 2, 1, 3), LOADS(3, 0, 1, 2, 0, 1),
          STORES(0, 0, 8, 2, 8)),
    BLOCK(4, 2, LOADS(0, 0, 1, 4, 0, 1), LOADS(1, 2, 1, 2, 0, 1), LOADS(1, 0, 1, 2, 0, 1), STORE(0, 0, 8)),
    BLOCK(4, 1, LOAD(0, 0, 4), STORE(0, 0, 4)),
    BLOCK(2, 8, LOADS(0, 0, 1, 2, 0, 1), LOADS(2, 0, 1, 2, 1, 0), LOADS(1, 1, 1, 2, 1, 0), LOADS(1, 0, 1, 2, 2, 1),
          LOADS(6, 1, 1, 2, -2, 0), LOADS(4, 0, 1, 4, 1, 0), LOADS(5, 1, 1, 2, 2, 0), STORES(0, 0, 8, 2, 8)),
    BLOCK(2, 4, LOADS(0, 0, 1, 2, 0, 1), LOADS(2, 0, 1, 2, 0, 1), LOADS(1, 0, 1, 2, 0, 1), LOADS(3, 0, 1, 2, 0, 1),
          STORE(0, 0, 8)),
    BLOCK(2, 2, LOADS(0, 0, 1, 2, 0, 1), LOADS(1, 0, 1, 2, 0, 1), STORE(0, 0, 4)),
    BLOCK(2, 1, LOAD(0, 0, 2), STORE(0, 0, 2)),
    BLOCK(1, 8, LOADS(6, 0, 1, 2, -2, 0), LOADS(7, 0, 1, 2, -2, 0), LOADS(0, 0, 1, 4, 1, 0), STORE(0, 0, 8)),
    BLOCK(1, 4, LOADS(0, 0, 1, 2, 2, 0), LOADS(3, 0, 1, 2, -2, 0), STORE(0, 0, 4)),
    BLOCK(1, 2, LOADS(0, 0, 1, 2, 1, 0), STORE(0, 0, 2)),
    BLOCK(1, 1, LOAD(0, 0, 1), STORE(0, 0, 1)),
};

static const struct conv_copy_block haswell_filters[] = {
    BLOCK(4, 4, LOADS(0, 0, 4, 2, 0, 2), LOADS(0, 1, 4, 2, 0, 2), LOADS(0, 1, 4, 2, 0, 2), STORES(0, 0, 4, 4, 4)),
    BLOCK(4, 1, LOADS(0, 2, 1, 2, 0, 1), LOADS(0, 0, 1, 2, 0, 1), STORE(0, 0, 4)),
    BLOCK(2, 4, LOADS(3, 0, 1, 2, 0, 1), LOADS(2, 0, 1, 2, 0, 1), LOADS(1, 0, 1, 2, 0, 1), LOADS(0, 0, 1, 2, 0, 1),
          STORE(0, 0, 8)),
    BLOCK(2, 1, LOADS(0, 0, 1, 2, 0, 1), STORE(0, 0, 2)),
    BLOCK(1, 4, LOAD(0, 0, 4), STORE(0, 0, 4)),
    BLOCK(1, 3, LOAD(0, 0, 2), STORE(0, 0, 2), LOAD(1, 0, 2), STORE(1, 0, 2)),
    BLOCK(1, 2, LOAD(0, 0, 2), STORE(0, 0, 2), LOAD(0, 0, 2), STORE(0, 0, 2)),
    BLOCK(1, 1, LOAD(0, 0, 1), STORE(0, 0, 1), LOAD(0, 0, 1), STORE(0, 0, 1)),
};

static const struct conv_copy_block zen_filters[] = {
    BLOCK(4, 4, LOADS(3, 2, 1, 2, 0, -2), LOADS(3, 3, 1, 2, 0, -2), LOADS(2, 2, 1, 2, 0, 1), LOADS(2, 0, 1, 2, 0, 1),
          LOADS(1, 0, 1, 4, 0, 1), LOADS(0, 2, 1, 2, 0, 1), LOADS(0, 0, 1, 2, 0, 1), STORES(2, 0, 8, 2, -8)),
    BLOCK(4, 1, LOADS(0, 2, 1, 2, 0, 1), LOADS(0, 0, 1, 2, 0, 1), STORE(0, 0, 4)),
    BLOCK(2, 4, LOADS(3, 0, 1, 2, 0, 1), LOADS(2, 0, 1, 2, 0, 1), LOADS(1, 0, 1, 2, 0, 1), LOADS(0, 0, 1, 2, 0, 1),
          STORE(0, 0, 8)),
    BLOCK(2, 1, LOADS(0, 0, 1, 2, 0, 1), STORE(0, 0, 2)),
    BLOCK(1, 4, LOAD(0, 0, 4), STORE(0, 0, 4)),
    BLOCK(1, 1, LOAD(0, 0, 1), STORE(0, 0, 1)),
};

static const struct conv_copy_block power10_windows[] = {
    BLOCK(16, 4, LOADS(0, 0, 4, 4, 0, 4), LOADS(1, 0, 4, 4, 0, 4), LOADS(2, 0, 4, 4, 0, 4), LOADS(3, 0, 4, 4, 0, 4),
          STORES(0, 0, 4, 16, 4)),
    BLOCK(16, 2, LOADS(0, 0, 4, 4, 0, 4), LOADS(1, 0, 4, 4, 0, 4), STORES(0, 0, 4, 8, 4)),
    BLOCK(16, 1, LOADS(0, 0, 4, 4, 0, 4), STORES(0, 0, 4, 4, 4)),
    BLOCK(8, 4, LOADS(0, 0, 4, 2, 0, 4), LOADS(1, 0, 4, 2, 0, 4), LOADS(2, 0, 4, 2, 0, 4), LOADS(3, 0, 4, 2, 0, 4),
          STORES(0, 0, 4, 8, 4)),
    BLOCK(8, 2, LOADS(0, 0, 4, 2, 0, 4), LOADS(1, 0, 4, 2, 0, 4), STORES(0, 0, 4, 4, 4)),
    BLOCK(8, 1, LOADS(0, 0, 4, 2, 0, 4), STORES(0, 0, 4, 2, 4)),
    BLOCK(4, 4, LOADS(0, 0, 4, 4, 1, 0), STORES(0, 0, 4, 4, 4)),
    BLOCK(4, 2, LOADS(0, 0, 4, 2, 1, 0), STORES(0, 0, 4, 2, 4)),
    BLOCK(4, 1, LOAD(0, 0, 4), STORE(0, 0, 4)),
    BLOCK(2, 4, LOADS(0, 0, 1, 2, 0, 1), LOADS(1, 0, 1, 2, 0, 1), LOADS(2, 0, 1, 2, 0, 1), LOADS(3, 0, 1, 2, 0, 1),
          STORES(0, 0, 1, 8, 1)),
    BLOCK(2, 2, LOADS(0, 0, 1, 2, 0, 1), LOADS(1, 0, 1, 2, 0, 1), STORES(0, 0, 1, 4, 1)),
    BLOCK(2, 1, LOADS(0, 0, 1, 2, 0, 1), STORES(0, 0, 1, 2, 1)),
    BLOCK(1, 4, LOADS(0, 0, 1, 4, 1, 0), STORES(0, 0, 1, 4, 1)),
    BLOCK(1, 2, LOADS(0, 0, 1, 2, 1, 0), STORES(0, 0, 1, 2, 1)),
    BLOCK(1, 1, LOAD(0, 0, 1), STORE(0, 0, 1)),
};

static const struct conv_copy_block power10_filters[] = {
    BLOCK(8, 8, LOADS(0, 0, 1, 8, 1, 0), LOADS(0, 1, 1, 8, 1, 0), LOADS(0, 2, 1, 8, 1, 0), LOADS(0, 3, 1, 8, 1, 0),
          LOADS(0, 4, 1, 3, 1, 0), LOADS(4, 4, 1, 4, 1, 0), LOADS(0, 5, 1, 3, 1, 0), LOADS(4, 5, 1, 4, 1, 0),
          LOADS(0, 6, 1, 3, 1, 0), LOADS(4, 6, 1, 4, 1, 0), LOADS(0, 7, 1, 3, 1, 0), LOADS(4, 7, 1, 4, 1, 0),
          LOADS(3, 4, 1, 4, 0, 1), STORES(0, 0, 1, 64, 1)),
    BLOCK(8, 4, LOADS(0, 0, 4, 2, 0, 2), LOADS(0, 1, 4, 2, 0, 2), LOADS(0, 4, 4, 2, 0, 2), LOADS(0, 5, 4, 2, 0, 2),
          STORES(0, 0, 4, 8, 4)),
    BLOCK(8, 1, LOADS(0, 0, 1, 8, 0, 1), STORES(0, 0, 1, 8, 1)),
    BLOCK(4, 16, LOADS(0, 0, 4, 2, 8, 0), LOADS(0, 2, 4, 2, 4, -2), LOADS(12, 0, 4, 2, -8, 2),
          LOADS(8, 2, 4, 2, -8, -1), LOADS(8, 1, 4, 2, -8, 2), LOADS(8, 3, 4, 2, 4, -1), LOADS(4, 1, 4, 2, 8, 0),
          LOADS(12, 3, 4, 2, -8, 0), STORES(0, 0, 4, 16, 4)),
    BLOCK(4, 4, LOADS(0, 0, 1, 4, 1, 0), LOADS(0, 1, 1, 4, 1, 0), LOADS(0, 2, 1, 4, 1, 0), LOADS(0, 3, 1, 4, 1, 0),
          STORES(0, 0, 1, 4, 4), STORES(0, 1, 1, 4, 4), STORES(0, 2, 1, 4, 4), STORES(0, 3, 1, 4, 4)),
    BLOCK(4, 1, LOADS(0, 0, 1, 4, 0, 1), STORES(0, 0, 1, 4, 1)),
    BLOCK(2, 8, LOADS(0, 0, 4, 2, 4, 0), LOADS(0, 1, 4, 2, 4, 0), STORES(0, 0, 4, 4, 4)),
    BLOCK(2, 2, LOADS(0, 0, 1, 2, 0, 1), LOADS(1, 0, 1, 2, 0, 1), STORES(0, 0, 1, 4, 1)),
    BLOCK(2, 1, LOADS(0, 0, 1, 2, 0, 1), STORES(0, 0, 1, 2, 1)),
    BLOCK(1, 4, LOAD(0, 0, 4), STORE(0, 0, 4)),
    BLOCK(1, 1, LOAD(0, 0, 1), STORE(0, 0, 1)),
};

const struct conv_core_copies conv_copies_skylakex = { COPY(skylakex_windows, false), COPY(skylakex_filters, false) };
const struct conv_core_copies conv_copies_haswell = { COPY(haswell_windows, true), COPY(haswell_filters, false) };
const struct conv_core_copies conv_copies_zen = { COPY(haswell_windows, true), COPY(zen_filters, false) };
const struct conv_core_copies conv_copies_power10 = { COPY(power10_windows, true), COPY(power10_filters, false) };
