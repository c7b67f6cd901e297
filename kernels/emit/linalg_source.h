/*
 * Plans as MLIR of the linalg level: linalg.conv_2d_nchw_fchw, and beside it a script of the transform dialect that
 * tiles, packs and interchanges it as CSA decided. Unlike the other printers', these loops are mlir-opt's own: it is
 * told the plan and no step of the nest. Windows of a convolution are no operand of a matrix product, so img2col comes
 * first, and is fused into the loop that packs input tiles: no more than a set of tiles is lowered at a time.
 *
 * The script names what upstream MLIR (mlir-opt 19) can do of SConv, in this order:
 *
 *   1. convert_conv2d_to_img2col; padding is a tensor.pad before it.
 *   2. structured.pack and pack_transpose: Nwin x Nf tiles, in the layouts of SConv's panels. Edge tiles are padded
 *      with zeros, where SConv computes less.
 *   3. tile_using_for, a loop for each layer of the paper's Figure 5 that has more than one iteration: channel sets
 *      (Nc), sets of K3 and of K2 tiles, tiles. Their order is the schedule. fuse_into_containing_op moves img2col and
 *      packing into the loop that packs in SConv. loop.peel cuts the edges off.
 *   4. vectorize, lower_contraction and hoist_loop_invariant_subsets: the innermost product becomes Nf
 *      vector.outerproduct of Nwin windows, with all sums in registers.
 *   5. linalg-fuse-elementwise-ops writes img2col straight into panels where no edge is padded, and folds packed
 *      constants. It does not fold tensor.pad of a constant.
 *
 * It cannot pack by shifts (img2col loads each element with an index of its own), skip the copy of the output out of
 * its tiles, or pack filters in a function of its own.
 */
#ifndef KERNELS_EMIT_LINALG_SOURCE_H
#define KERNELS_EMIT_LINALG_SOURCE_H

#include <stdio.h>

#include "kernels/emit/noted_plans.h"

/* The passes from this text to LLVM's dialect, as mlir-opt takes them; ends with NULL. */
extern const char *const conv_linalg_passes[];

/* Says why a plan that is SConv's cannot be written so; NULL: it can. */
const char *conv_linalg_why_not(const struct conv_plan *plan);

/*
 * Print what stands before all layers, a layer's function @NAME and its script @NAME_schedule, and what stands behind
 * them all. @NAME has the arguments of conv_c_print's, as pointers, and needs no buffers for what is packed: those two
 * are not read. filter, if not NULL, are its filters, which become a constant.
 */
void conv_linalg_print_head(const struct conv_plan *plan, FILE *out);
void conv_linalg_print(const struct conv_plan *plan, const char *name, const float *filter, FILE *out);
void conv_linalg_print_tail(const struct conv_noted_plan *plan, size_t n, FILE *out);

#endif
