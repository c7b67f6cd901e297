/*
 * Tests of whether two runs differ, on their recorded rounds. Pure functions; random draws always start alike, so that
 * equal samples have equal answers.
 */
#ifndef EXPERIMENTS_EXP_RANK_TEST_H
#define EXPERIMENTS_EXP_RANK_TEST_H

#include <stddef.h>
#include <stdint.h>

/*
 * The two-sided p value of Mann and Whitney's U: how probable ranks at least so unequal are if both samples are of one
 * distribution. Exact if there are at most 16 samples, all different; else by the normal approximation, corrected for
 * ties and for continuity. NaN if either sample is empty, or out of memory; 1 if all values are equal.
 */
double exp_rank_test(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b);

/* The rounds of one layer in both runs. */
struct exp_rank_pair {
    const uint64_t *a, *b;
    size_t n_a, n_b;
};

enum { EXP_RANK_DRAWS = 2000 };

/*
 * The two-sided p value of a permutation test over layers together: rounds change sides at random within their layer,
 * EXP_RANK_DRAWS times, and the sums over the layers of the means of each side's fastest quarter are compared by their
 * quotient. At least 1 / (EXP_RANK_DRAWS + 1). NaN if a layer has no rounds on one side, or out of memory.
 */
double exp_rank_test_sum(const struct exp_rank_pair *layer, size_t n_layers);

/* Adjusts n p values for being n by Holm's method, in place. Those that are NaN do not count. */
void exp_rank_adjust(double *p, size_t n);

#endif
