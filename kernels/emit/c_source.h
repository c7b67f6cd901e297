/* Programs as C: a layer's function for a local compiler, in one file without other headers than its own. */
#ifndef KERNELS_EMIT_C_SOURCE_H
#define KERNELS_EMIT_C_SOURCE_H

#include <stdio.h>

#include "kernels/emit/program.h"

enum { CONV_C_NAME_BYTES = 64 };

/* Makes an identifier of a name: letters, digits and '_', behind "sconv_". number tells equal identifiers apart. */
void conv_c_name(char name[CONV_C_NAME_BYTES], const char *layer, size_t number);

/* Returns the compiler's flags for the code, such as "-mavx512f -mfma", by the program's micro-kernel. */
const char *conv_c_flags(const struct conv_plan *plan);

/* Prints the text that all functions of a file share. The plans' micro-kernels have one instruction set. */
void conv_c_print_head(const struct conv_plan *plan, FILE *out);

struct conv_c_options {
    const float *packed; /* filters, as constants; NULL: the function NAME_pack_filters packs filters */
    struct conv_fusion after;
};

/*
 * Prints NAME(input, filter, packed_filter, packed_input, output), which convolves; NAME_pack_filters(filter,
 * packed_filter); and the sizes of the two buffers, in floats, as NAME_packed_filter_floats and
 * NAME_packed_input_floats. NULL may be passed for unused arguments: filter, where filters were packed before;
 * packed_filter, where filters are constants. Where a bias is fused, the bias is NAME's last argument. Returns 0 or
 * -ENOMEM.
 */
int conv_c_print(const struct conv_plan *plan, const char *name, const struct conv_c_options *options, FILE *out);

/* ---- inside kernels/emit: the routines that the functions call ---- */

/*
 * Print function <prefix>_<number>, of any routine or of a micro-kernel, behind the tables and code that the function
 * needs. Routines with lower numbers stand before it; of routines that differ by their tables only, the first brings
 * the code of all.
 */
void conv_c_print_routine(const struct conv_program *program, size_t number, const char *prefix, FILE *out);
void conv_c_print_ukr(const struct conv_program *program, size_t number, const char *prefix, FILE *out);

#endif
