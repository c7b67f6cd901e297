/*
 * A packing routine of a library as data: blocks of a panel, each with its loads and stores in their order.
 *
 * A panel has `width` columns (windows or filters); each step of the reduction is a row of the panel, width contiguous
 * elements. A block is some steps of a panel. The widest block that still fits a panel's remaining steps is the next to
 * be copied; a routine has blocks of one step for all widths, so that every panel ends.
 */
#ifndef KERNELS_BLOCK_COPY_H
#define KERNELS_BLOCK_COPY_H

#include "kernels/ukr/ukr.h"

/*
 * Accesses of one kind, n elements each: the first access begins at (step, column) of the block, each later access
 * by_steps steps and by_columns columns on. Stores go along the panel, where a step is followed by the next: by_columns
 * is their distance.
 */
struct conv_copy_run {
    enum sim_kind kind;
    uint8_t step, column, n, count;
    int8_t by_steps, by_columns;
};

struct conv_copy_block {
    uint8_t width, n_steps, n_runs;
    const struct conv_copy_run *run;
};

/* Blocks of a width stand together, blocks of more steps first. */
struct conv_copy {
    const struct conv_copy_block *block;
    size_t n_blocks;
    bool goes_across; /* a block of every panel, then the next of every panel; else panel by panel */
};

/* A call: n_columns columns in panels of `panel` columns, the rest in powers of two. Addresses in bytes. */
struct conv_copy_call {
    uint64_t from, to;
    int64_t step_bytes, column_bytes; /* in the source */
    size_t n_steps, n_columns, panel;
    enum conv_tensor from_tag, to_tag;
};

void conv_copy_emit(const struct conv_copy *copy, const struct conv_copy_call *call, struct sim_sink *sink);

#endif
