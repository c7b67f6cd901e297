/* Micro-kernels of few windows for AVX2 as C: a panel's filters in one vector. Internal to kernels/emit. */
#ifndef KERNELS_EMIT_C_UKR_FEW_H
#define KERNELS_EMIT_C_UKR_FEW_H

#include <stdio.h>

#include "kernels/emit/program.h"

/* Prints the body of a function with arguments in, filter and out; and what it prefetches, if it asks for any. */
void conv_c_print_few(const struct conv_routine_ukr *u, bool asks, FILE *out);

/* Prints how a panel's outputs are updated, from accumulators that are called c0, c1 ... with a suffix. */
void conv_c_print_few_outputs(const struct conv_routine_ukr *u, const char *suffix, FILE *out);

#endif
