/*
 * Plans as MLIR of the linalg level: linalg.conv_2d_nchw_fchw, and beside it a script of the transform dialect that
 * slices it as CSA decided. Unlike the other printers', these loops are mlir-opt's own: it is told the plan and no step
 * of the nest. The script names what upstream MLIR (mlir-opt 19) does of SConv, in this order:
 *
 *   1. structured.split and tile_using_for: a loop for each of the outer layers of the paper's Figure 5 that has more
 *      than one iteration: channel sets (Nc), sets of K3 and of K2 tiles. Their order is the schedule. Edges are split
 *      off, so that all sizes are constants.
 *   2. func.cast_and_call and --inline: what is left of the convolution in the innermost of these loops, a block,
 *      becomes a function that stands in the text. It copies windows by rows of vectors into a matrix (img2col, a row
 *      at a time; the second stride by vector.shuffle) and multiplies with linalg.matmul. Filters are rows of that
 *      product as they lie; outputs are written where they belong.
 *   3. split and tile_using_for on the products: tiles of Nf filters and Nwin windows, in the order of the schedule.
 *   4. vectorize, lower_contraction and hoist_loop_invariant_subsets: the innermost product becomes Nf
 *      vector.outerproduct of Nwin windows, with all sums in registers.
 *
 * Beside SConv a set of windows consists of whole rows of outputs, and has at most 256 of them: they are one matrix.
 */
#ifndef KERNELS_EMIT_LINALG_SOURCE_H
#define KERNELS_EMIT_LINALG_SOURCE_H

#include <stdbool.h>
#include <stdio.h>

#include "kernels/emit/layer_plans.h"

/* The passes from this text to LLVM's dialect, as mlir-opt takes them; ends with NULL. */
extern const char *const conv_linalg_passes[];
extern const char *const conv_linalg_sliced_passes[]; /* of what sconv-opt makes of a plain one */

/* Says why a plan that is SConv's cannot be written so; NULL: it can. */
const char *conv_linalg_why_not(const struct conv_plan *plan);

/* Layouts of activations; filters are OIHW beside the first, HWIO beside the second. */
enum conv_linalg_layout { CONV_LINALG_NCHW, CONV_LINALG_NHWC };

/*
 * Packs filters: each row that a micro-kernel walks along lies apart from the next by an odd number of lines, so that
 * those of a tile are in different sets of L1, whatever power of two the channels are. packed has as many rows and
 * floats from one to the next as conv_linalg_packed says.
 */
struct conv_linalg_packed {
    size_t rows, width;
};
struct conv_linalg_packed conv_linalg_packed(const struct conv_plan *plan, enum conv_linalg_layout layout);
void conv_linalg_pack(const struct conv_plan *plan, enum conv_linalg_layout layout, const float *filter, float *packed);

/*
 * Print what stands before all layers, a layer's function @NAME, its scripts and blocks, and what stands behind
 * them all. @NAME has the arguments of conv_c_print's, as pointers; it reads what @NAME_pack_filters packs, and needs
 * memory for an image with its padding in place of packed windows. filter, if not NULL, are its filters: packed, they
 * become a constant, and nothing packs them.
 */
size_t conv_linalg_padded_bytes(const struct conv_plan *plan); /* 0: nothing is padded */
void conv_linalg_print_head(const struct conv_plan *plan, FILE *out);
void conv_linalg_print(const struct conv_plan *plan, const char *name, const float *filter, FILE *out);
void conv_linalg_print_tail(const struct conv_layer_plan *plan, size_t n, FILE *out);

/* Print the head and the function without scripts and packing: as a compiler has a convolution before it is sliced. */
void conv_linalg_print_plain_head(const struct conv_plan *plan, FILE *out);
void conv_linalg_print_plain(const struct conv_plan *plan, const char *name, const float *filter, FILE *out);

/* What a convolution adds to, and how its filters lie. */
struct conv_linalg_operands {
    bool are_buffers;
    bool sums_are_zeros;     /* or whatever they are: they are not read */
    bool filters_are_packed; /* as a matrix */
};

/*
 * Prints a module with one function, sconv_, that convolves without padding: its arguments, input, filter and output,
 * have these types; tensors (the sums are returned), or buffers. Its scripts are __transform_main; behind the pass
 * inline, vectorize; and with buffers, bufferize.
 */
void conv_linalg_print_bare(const struct conv_plan *plan, enum conv_linalg_layout layout, const char *const type[3],
                            struct conv_linalg_operands operands, FILE *out);

#endif
