/*
 * Programs as MLIR, lowered as the SConv RFC describes: affine loops over routines that pack by vector.shuffle, and a
 * micro-kernel of vector.outerproduct, or another one. mlir-opt, with the passes that conv_mlir_passes names, and
 * mlir-translate turn it into LLVM's language.
 */
#ifndef KERNELS_EMIT_MLIR_SOURCE_H
#define KERNELS_EMIT_MLIR_SOURCE_H

#include <stdio.h>

#include "kernels/emit/program.h"

/* What multiplies in a micro-kernel: an operation of the vector dialect, by its name, or a function elsewhere. */
enum conv_mlir_kernel {
    CONV_MLIR_OUTERPRODUCT,
    CONV_MLIR_CONTRACT, /* lowered as mlir-opt does without being told how */
    CONV_MLIR_MATRIX,   /* vector.matrix_multiply, which becomes llvm.matrix.multiply */
    CONV_MLIR_CALL,
};

/* The passes from this text to LLVM's dialect, as mlir-opt takes them. */
extern const char *const conv_mlir_passes[];

/* Says why a plan cannot be written so, beside conv_program_why_not; NULL: it can. */
const char *conv_mlir_why_not(const struct conv_plan *plan);

/* Prints how to lower what follows. */
void conv_mlir_print_head(const struct conv_plan *plan, FILE *out);

/*
 * Prints functions @NAME and @NAME_pack_filters with the arguments of conv_c_print's, as pointers. Micro-kernels that
 * are called are what conv_mlir_print_kernels prints as C, behind conv_c_print_head's. Both return 0 or -ENOMEM.
 */
int conv_mlir_print(const struct conv_plan *plan, const char *name, enum conv_mlir_kernel kernel, FILE *out);
int conv_mlir_print_kernels(const struct conv_plan *plan, const char *name, FILE *out);

/* ---- inside kernels/emit: the routines that the functions call ---- */

/* Returns the name of a tensor's value, and how many operands a routine has. */
const char *conv_mlir_tensor(enum conv_tensor t);
int conv_mlir_operands(const struct conv_routine *r);

/* Prints the type of a tensor: a memref of one dimension, as long as it is. */
void conv_mlir_print_type(const struct conv_plan *plan, enum conv_tensor t, FILE *out);

/* Prints function @<prefix>_<number>; of a micro-kernel that is called, only its declaration. */
void conv_mlir_print_routine(const struct conv_program *p, size_t number, const char *prefix,
                             enum conv_mlir_kernel kernel, FILE *out);

/* Prints function @<prefix>_windows, whose first argument says which of the routines that pack windows it calls. */
void conv_mlir_print_choice(const struct conv_program *program, const char *prefix, FILE *out);

#endif
