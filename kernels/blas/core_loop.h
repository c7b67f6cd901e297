/*
 * The loops of OpenBLAS's micro-kernels, as in their machine code: bodies of several steps, with prefetches between the
 * loads, and the updates of outputs behind them. A kernel's prefetches are data; the addresses are those of Debian's
 * 0.3.21, observed instruction by instruction (counters/watch/).
 */
#ifndef KERNELS_CORE_LOOP_H
#define KERNELS_CORE_LOOP_H

#include "kernels/ukr/ukr.h"

/* The base of a prefetch's address: a number of bytes beyond ... */
enum core_asks {
    ASKS_WINDOWS, /* the step's first window */
    ASKS_FILTERS, /* the step's first filter */
    ASKS_NEXT,    /* a place that moves on by next_step with each body */
    ASKS_OUTPUTS, /* a place that moves along the rows of outputs */
};

struct core_ask {
    uint8_t step;  /* of the body */
    uint8_t after; /* as many of the step's runs of loads come first */
    enum core_asks of;
    int16_t offset;
    uint8_t row; /* outputs: as many rows on */
};

struct core_body {
    size_t n_steps, n_asks;
    const struct core_ask *ask;
    size_t per_row; /* bodies until the place in the outputs moves on to the next row; 0: no outputs are asked for */
    int64_t stride_bytes; /* the distance that the place moves until then */
    size_t rows;          /* rows that the place then moves on */
    size_t again;         /* bodies after which the place is back at its start, once; 0: never */
};

/* A loop over the steps of a tile. The places are those of step 0. */
struct core_loop {
    const struct sim_run *load; /* of a step, step_bytes set */
    size_t n_loads;
    uint64_t windows, filters, next, out;
    int64_t next_step;
    uint64_t row_bytes; /* between two rows of outputs */
};

/* Emits n_bodies bodies from a step on. */
void conv_core_loop_emit(const struct core_loop *l, const struct core_body *b, size_t first_step, size_t n_bodies,
                         struct sim_sink *sink);

/*
 * Says how a tile's outputs are updated: groups of rows after each other; of a group the pieces of its rows, some
 * pieces of some rows at a time: all the pieces are loaded, then all are stored.
 */
struct core_update {
    size_t group_rows, rows, pieces;
    uint32_t piece_bytes;
};

void conv_core_update_emit(const struct conv_ukr_args *a, const struct core_update *u, struct sim_sink *sink);

#endif
