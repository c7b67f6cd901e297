/*
 * Direct kernels: convolutions with few channels and filters per group, depthwise ones above all, straight from the
 * input to the output. Nothing is packed: filters are taken as they are (OIHW), vectors lie along output columns, and
 * an input row in a register serves all output rows of the tile that need it.
 *
 *     out[f][y][x] = sum over c, fh, fw of in[c][y * stride_h + fh * dilation_h - pad_top][...] * filter[f][c][fh][fw]
 *
 * A call computes some whole output rows of some filters. It is cut into tiles of `tile_rows` rows by `lanes` columns:
 *
 *     filters, one by one (with the channels of their group)
 *       tiles of rows, equally high
 *         blocks of columns; the last one ends with the row, so it may compute outputs of the one before again
 *
 * As for micro-kernels (kernels/ukr/ukr.h), `emit` lists the loads and stores that fn executes, in fn's order.
 */
#ifndef KERNELS_DIRECT_H
#define KERNELS_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/cpu.h"
#include "kernels/shape/problem.h"
#include "sim/base/access.h"

/* One call. Addresses are real pointers when executed and synthetic ones when replayed. */
struct conv_direct_args {
    const struct conv_problem *p;
    size_t group_channels, group_filters; /* of p */
    uint64_t in;                          /* the first channel of the first filter's group */
    uint64_t filter;                      /* the first filter */
    uint64_t out;                         /* the first filter's first output row of the call */
    size_t n_f;                           /* filters from the first of a group on, group after group */
    size_t row0, n_rows;                  /* output rows */
};

struct conv_direct;
typedef void (*conv_direct_fn)(const struct conv_direct *d, const struct conv_direct_args *a);
typedef void (*conv_direct_emit_fn)(const struct conv_direct *d, const struct conv_direct_args *a,
                                    struct sim_sink *sink);

struct conv_direct {
    const char *name;  /* "f32_direct_<tile_rows>x<lanes>__<isa>" */
    enum cpu_isa isa;  /* what a CPU must have to run fn */
    size_t tile_rows;  /* at most */
    size_t lanes;      /* output columns of a vector */
    size_t max_stride; /* between columns */
    conv_direct_fn fn; /* NULL: replay only, this build or CPU family cannot run it */
    conv_direct_emit_fn emit;
};

/* List all direct kernels, the portable one first. */
size_t conv_direct_count(void);
const struct conv_direct *conv_direct_at(size_t i);

/*
 * Finds the kernel with the fewest slots, the narrower one of equals, of those that take the shape and run wherever
 * the instruction set does; the portable one only where there is no other. It may be runnable here or not.
 */
const struct conv_direct *conv_direct_for(const struct conv_problem *p, enum cpu_isa isa);

/* Tells whether this build and this CPU can execute a kernel. */
bool conv_direct_runs(const struct conv_direct *d);

/* Tells whether a kernel takes the shape. */
bool conv_direct_suits(const struct conv_direct *d, const struct conv_problem *p);

/*
 * Counts issue slots for one image and group: of the steps of each tile the multiply-adds or the loads, whichever are
 * more, whole vectors, taps on padding included; and what starting and ending a tile costs. They compare with
 * conv_ukr_slots.
 */
double conv_direct_slots(const struct conv_direct *d, const struct conv_problem *p);

/* Multiply-add instructions for n_rows output rows of one filter, taps on padding included. */
uint64_t conv_direct_fmas(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows);

#endif
