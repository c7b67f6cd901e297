/*
 * Plans as MLIR of the linalg level: linalg.conv_2d_nchw_fchw, and beside it a script of the transform dialect that
 * tiles, packs and interchanges it as CSA decided. Unlike the other printers', these loops are mlir-opt's own: it is told
 * the plan and no step of the nest. Windows of a convolution are no operand of a matrix product, so img2col comes first,
 * and is fused into the loop that packs input tiles: no more than a set of tiles is lowered at a time.
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
 * them all. @NAME has the arguments of conv_c_print's, as pointers, and needs no buffers for what is packed: those two are
 * not read. filter, if not NULL, are its filters, which become a constant.
 */
void conv_linalg_print_head(const struct conv_plan *plan, FILE *out);
void conv_linalg_print(const struct conv_plan *plan, const char *name, const float *filter, FILE *out);
void conv_linalg_print_tail(const struct conv_noted_plan *plan, size_t n, FILE *out);

#endif
