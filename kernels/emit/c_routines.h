/* The routines of a program as C. Internal to kernels/emit. */
#ifndef KERNELS_EMIT_C_ROUTINES_H
#define KERNELS_EMIT_C_ROUTINES_H

#include <stdio.h>

#include "kernels/emit/program.h"

/* Prints function <prefix>_<number>, with what it needs before it. */
void conv_c_print_routine(const struct conv_routine *r, const char *prefix, size_t number, FILE *out);

#endif
