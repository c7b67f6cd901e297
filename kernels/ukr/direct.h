/*
 * Direct kernels: convolutions straight from the input to the output. Nothing is packed: filters are read in their own
 * layout (OIHW). The forms of direct kernels differ by the axis of the vectors:
 *
 *   direct      along output columns, for few channels and filters per group, depthwise convolutions above all
 *   pointwise   along the windows of a plane, for few filters per group (pointwise_tile.h)
 *   dot         along the reduction, for filters as large as the image: a matrix by a vector (dot_tile.h)
 *
 * In the form "direct", an input row in a register serves all output rows of the tile that need the row.
 *
 *     out[f][y][x] = sum over c, fh, fw of in[c][y * stride_h + fh * dilation_h - pad_top][...] * filter[f][c][fh][fw]
 *
 * A call computes some whole output rows of some filters. The call is cut into tiles of `tile_rows` rows by `lanes`
 * columns:
 *
 *     filters, one by one (with the channels of their group)
 *       tiles of rows, equally high
 *         blocks of columns; the last block ends with the row, so it may compute outputs of the block before again
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

/* A call. Addresses are real pointers when executed and synthetic addresses when replayed. */
struct conv_direct_args {
    const struct conv_problem *p;
    size_t group_channels, group_filters; /* of p */
    size_t n_images;                      /* 1; dot: images of the batch, from the image of `in` and `out` on */
    uint64_t in;                          /* the first channel of the first filter's group */
    uint64_t filter;                      /* the first filter */
    uint64_t out;                         /* the first filter's first output row of the call */
    size_t n_f;                           /* filters from the first of a group on, group after group; dot: or a part */
    size_t row0, n_rows;                  /* output rows */
};

struct conv_direct;
struct conv_direct_form;
typedef void (*conv_direct_fn)(const struct conv_direct *d, const struct conv_direct_args *a);
typedef void (*conv_direct_emit_fn)(const struct conv_direct *d, const struct conv_direct_args *a,
                                    struct sim_sink *sink);

enum { CONV_DIRECT_N_TILES = 8 };

struct conv_direct {
    const char *name; /* "f32_direct_<tile_rows>x<lanes>__<isa>", or the form and most sums of a tile by lanes */
    enum cpu_isa isa; /* needed to run fn */
    const struct conv_direct_form *form;
    size_t lanes;                     /* floats of a vector */
    size_t max_stride;                /* form "direct": between columns */
    size_t tile[CONV_DIRECT_N_TILES]; /* other forms: most filters of a tile of 1, 2, ... vectors or images */
    conv_direct_fn fn;                /* NULL: replay only, this build or CPU family cannot run the kernel */
    conv_direct_emit_fn emit;
};

/* List all direct kernels, the portable kernel first. */
size_t conv_direct_count(void);
const struct conv_direct *conv_direct_at(size_t i);

/*
 * Finds the kernel with the fewest slots, of equals the narrower, of the kernels that take the shape and run wherever
 * the instruction set does; portable kernels only where none else takes the shape. The kernel may be runnable here or not.
 */
const struct conv_direct *conv_direct_for(const struct conv_problem *p, enum cpu_isa isa);

/* Tells whether this build and this CPU can execute a kernel. */
bool conv_direct_runs(const struct conv_direct *d);

/* Tells whether a kernel takes the shape. */
bool conv_direct_suits(const struct conv_direct *d, const struct conv_problem *p);

/*
 * Counts issue slots for an image and a group: of the steps of each tile the multiply-adds or the loads, whichever are
 * more, whole vectors, taps on padding included; and the cost of starting and ending a tile. Comparable with
 * conv_ukr_slots.
 */
double conv_direct_slots(const struct conv_direct *d, const struct conv_problem *p);

/* Multiply-add instructions for n_rows output rows of n_f filters of an image, taps on padding included. */
uint64_t conv_direct_fmas(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows, size_t n_f);

/* Returns the bytes read again by tiles: of windows, for each filter, or of filters. Reading pays from L1 only. */
double conv_direct_reread_bytes(const struct conv_direct *d, const struct conv_problem *p);

#endif
