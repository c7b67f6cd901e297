/* The loops of PolyDL's Figures 8 and 16 as they stand there, without a micro-kernel: what a compiler makes of them. */
#ifndef EXPERIMENTS_EXP_LOOPS_H
#define EXPERIMENTS_EXP_LOOPS_H

#include "experiments/polydl/exp_variants.h"

/* Adds one image's convolution in blocked layouts, or the GEMM, to the operand C. */
void exp_loops_run(const struct exp_variant_source *s, const float *a, const float *b, float *c);

#endif
