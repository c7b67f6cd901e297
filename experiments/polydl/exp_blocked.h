/*
 * Between a convolution's usual layouts (kernels/shape/problem.h) and the blocked ones of a variant (exp_variant.h).
 * The blocked tensors have as many images as the problem.
 */
#ifndef EXPERIMENTS_EXP_BLOCKED_H
#define EXPERIMENTS_EXP_BLOCKED_H

#include "kernels/shape/problem.h"

/* Copies an input, and puts zeros where its padding is. */
void exp_block_input(const struct conv_problem *p, size_t block, const float *in, float *blocked);

void exp_block_filter(const struct conv_problem *p, size_t block, const float *filter, float *blocked);
void exp_unblock_output(const struct conv_problem *p, size_t block, const float *blocked, float *out);

#endif
