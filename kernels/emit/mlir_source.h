/*
 * Programs as MLIR, lowered as the SConv RFC describes: affine loops over routines that pack by vector.shuffle, and a
 * micro-kernel of vector.outerproduct, or an external one. mlir-opt, with the passes that conv_mlir_passes names, and
 * mlir-translate turn it into LLVM's language.
 */
#ifndef KERNELS_EMIT_MLIR_SOURCE_H
#define KERNELS_EMIT_MLIR_SOURCE_H

#include <stdio.h>

#include "kernels/emit/program.h"

/* The passes from this text to LLVM's dialect, as mlir-opt takes them. */
extern const char *const conv_mlir_passes[];

/* Says why a plan cannot be written so, beside conv_program_why_not; NULL: it can. */
const char *conv_mlir_why_not(const struct conv_plan *plan);

/* Prints how to lower what follows. */
void conv_mlir_print_head(const struct conv_plan *plan, FILE *out);

/*
 * Prints functions @NAME and @NAME_pack_filters with the arguments of conv_c_print's, as pointers. With external
 * micro-kernels, conv_mlir_print_kernels prints those as C, behind conv_c_print_head's. Both return 0 or -ENOMEM.
 */
int conv_mlir_print(const struct conv_plan *plan, const char *name, bool has_external_kernels, FILE *out);
int conv_mlir_print_kernels(const struct conv_plan *plan, const char *name, FILE *out);

#endif
