/* The baseline's lowering done well: the same matrix as conv_im2col's, copied by rows instead of tested by elements. */
#ifndef KERNELS_IM2COL_ROWS_H
#define KERNELS_IM2COL_ROWS_H

#include "kernels/ukr/pack.h"

/* As conv_im2col, argument for argument and element for element; loads and stores are up to 16 bytes wide. */
void conv_im2col_rows(const struct conv_im2col_args *a);
void conv_im2col_rows_emit(const struct conv_im2col_args *a, struct sim_sink *sink);

#endif
