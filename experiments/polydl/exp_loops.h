/* The loops of PolyDL's Figures 8 and 16 as they stand there, without a micro-kernel: what a compiler makes of them. */
#ifndef EXPERIMENTS_EXP_LOOPS_H
#define EXPERIMENTS_EXP_LOOPS_H

#include "experiments/polydl/exp_variants.h"

/* Returns how many iterations the outermost loop has: blocks of filters, or rows of a GEMM. */
size_t exp_loops_iterations(const struct exp_variant_source *s);

/*
 * Adds the first iterations of the outermost loop, of one image's convolution in blocked layouts or of the GEMM, to C.
 */
void exp_loops_run(const struct exp_variant_source *s, size_t n_iterations, const float *a, const float *b, float *c);

#endif
