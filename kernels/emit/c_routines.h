/* The routines of a program as C. Internal to kernels/emit. */
#ifndef KERNELS_EMIT_C_ROUTINES_H
#define KERNELS_EMIT_C_ROUTINES_H

#include <stdio.h>

#include "kernels/emit/program.h"

/* Prints function <prefix>_<number>, with what it needs before it; those with lower numbers stand before it. */
void conv_c_print_routine(const struct conv_program *program, size_t number, const char *prefix, FILE *out);

/* ---- c_ukr.c ---- */

/*
 * Prints function <prefix>_<number>, with what it needs before it: the first of those that differ by their tables only
 * brings the code of all.
 */
void conv_c_print_ukr(const struct conv_program *program, size_t number, const char *prefix, FILE *out);

#endif
