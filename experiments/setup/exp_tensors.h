/*
 * The tensors of one case in memory: the arena of its plan's layout, filled with reproducible values.
 *
 * Values are small integers, so that every sum of products is exact in float and results can be compared for equality
 * (as long as the reduction is short enough: exp_tensors_exact).
 */
#ifndef EXPERIMENTS_EXP_TENSORS_H
#define EXPERIMENTS_EXP_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/plan/plan.h"

struct exp_tensors {
    void *arena;
    struct conv_binding bind;
};

/* Allocates, touches every page, fills input and filter, and packs the filters if the plan wants them packed ahead of
 * time. Returns 0 or -ENOMEM. */
int exp_tensors_init(struct exp_tensors *t, const struct conv_plan *plan);
void exp_tensors_release(struct exp_tensors *t);

/*
 * Fills a tensor with small integers from a linear congruence: the same for the same seed, on every machine; another
 * sequence for every seed.
 */
void exp_tensors_fill(float *x, size_t bytes, uint64_t seed);

/* Tells whether every partial sum of tensors that exp_tensors_fill has filled is an integer below 2^24. */
bool exp_tensors_exact(const struct conv_problem *p);

#endif
