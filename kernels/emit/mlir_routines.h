/* The routines of a program as MLIR. Internal to kernels/emit. */
#ifndef KERNELS_EMIT_MLIR_ROUTINES_H
#define KERNELS_EMIT_MLIR_ROUTINES_H

#include <stdio.h>

#include "kernels/emit/mlir_source.h"
#include "kernels/emit/program.h"

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
