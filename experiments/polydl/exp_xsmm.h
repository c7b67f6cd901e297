/*
 * LIBXSMM's micro-kernels, which it compiles for the very sizes of a variant's calls (package libxsmm-dev, a static
 * library). Built without its header, this says so.
 */
#ifndef EXPERIMENTS_EXP_XSMM_H
#define EXPERIMENTS_EXP_XSMM_H

#include "kernels/ukr/small.h"

typedef void (*exp_xsmm_fn)(const float *a, const float *b, float *c);

/* Says why there is no LIBXSMM, or NULL; and its version, or why there is none. */
const char *exp_xsmm_why_not(void);
const char *exp_xsmm_version(void);

/*
 * Compiles for calls like this one. Returns NULL if LIBXSMM cannot or is not there. The code is LIBXSMM's to the end.
 */
exp_xsmm_fn exp_xsmm_compile(const struct conv_small_args *a);

#endif
