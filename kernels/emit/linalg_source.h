/*
 * Plans as MLIR of the linalg level: linalg.conv_2d_nchw_fchw, and a script of the transform dialect that slices the
 * convolution as CSA decided. The printers of C print the nest's loops. These loops are mlir-opt's own: mlir-opt knows
 * the plan and no step of the nest. The script names the transforms of upstream MLIR (mlir-opt 19) for SConv, in this
 * order:
 *
 *   1. structured.split and tile_using_for: a loop for each of the outer layers of the paper's Figure 5 that has more
 *      than one iteration: channel sets (Nc), sets of K3 and of K2 tiles. Their order is the schedule. Edges are split
 *      off, so that all sizes are constants.
 *   2. func.cast_and_call and --inline: the part of the convolution in the innermost of these loops, a block, becomes a
 *      function in the text. The function copies windows by rows of vectors into a matrix (img2col, a row at a time;
 *      the second stride by vector.shuffle) and multiplies with linalg.matmul. Filters are rows of the product without
 *      a copy; outputs are written to their final places.
 *   3. split and tile_using_for on the products: tiles of Nf filters and Nwin windows, in the order of the schedule.
 *   4. vectorize, lower_contraction and hoist_loop_invariant_subsets: the innermost product becomes Nf
 *      vector.outerproduct of Nwin windows, with all sums in registers.
 *
 * Unlike SConv, a set of windows consists of whole rows of outputs, and has at most 256 windows: a set is a matrix.
 */
#ifndef KERNELS_EMIT_LINALG_SOURCE_H
#define KERNELS_EMIT_LINALG_SOURCE_H

#include <stdbool.h>
#include <stdio.h>

#include "kernels/emit/layer_plans.h"

/* The passes from this text to LLVM's dialect, as arguments of mlir-opt; ends with NULL. */
extern const char *const conv_linalg_passes[];
extern const char *const conv_linalg_sliced_passes[]; /* of the output of sconv-opt */

/* Says why an SConv plan cannot be written as linalg; NULL: it can. */
const char *conv_linalg_why_not(const struct conv_plan *plan);

/* Layouts of activations; filters are OIHW beside the first, HWIO beside the second. */
enum conv_linalg_layout { CONV_LINALG_NCHW, CONV_LINALG_NHWC };

/*
 * Packs filters: the rows that a micro-kernel walks along lie an odd number of lines apart, so that the rows of a tile
 * are in different sets of L1, even if the number of channels is a power of two. packed has the rows and floats per row
 * that conv_linalg_packed returns.
 */
struct conv_linalg_packed {
    size_t rows, width;
};
struct conv_linalg_packed conv_linalg_packed(const struct conv_plan *plan, enum conv_linalg_layout layout);
void conv_linalg_pack(const struct conv_plan *plan, enum conv_linalg_layout layout, const float *filter, float *packed);

/*
 * Print the text before all layers, a layer's function @NAME, its scripts and blocks, and the text behind all layers.
 * @NAME has the arguments of conv_c_print's function, as pointers; @NAME reads filters that @NAME_pack_filters packed,
 * and needs memory for an image with its padding in place of packed windows. filter, if not NULL, becomes a constant,
 * packed, and no function packs filters.
 */
size_t conv_linalg_padded_bytes(const struct conv_plan *plan); /* 0: nothing is padded */
void conv_linalg_print_head(const struct conv_plan *plan, FILE *out);
void conv_linalg_print(const struct conv_plan *plan, const char *name, const float *filter, FILE *out);
void conv_linalg_print_tail(const struct conv_layer_plan *plan, size_t n, FILE *out);

/* Print the head and the function without scripts and packing, as a compiler has a convolution before it is sliced. */
void conv_linalg_print_plain_head(const struct conv_plan *plan, FILE *out);
void conv_linalg_print_plain(const struct conv_plan *plan, const char *name, const float *filter, FILE *out);

/* The outputs that a convolution adds to, and the layout of its filters. */
struct conv_linalg_operands {
    bool are_buffers;
    bool sums_are_zeros;     /* or any values: the sums are not read */
    bool filters_are_packed; /* as a matrix */
};

/*
 * Prints a module with one function, sconv_, that convolves without padding: its arguments, input, filter and output,
 * have the types `type`; tensors (the sums are returned), or buffers. The scripts of the module are __transform_main;
 * behind the pass inline, vectorize; and with buffers, bufferize.
 */
void conv_linalg_print_bare(const struct conv_plan *plan, enum conv_linalg_layout layout, const char *const type[3],
                            struct conv_linalg_operands operands, FILE *out);

#endif
