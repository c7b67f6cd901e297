/*
 * Two experiments side by side: layer by layer, algorithm by algorithm, metric by metric.
 *
 * Layers are paired by name (the second of a name with the second), and must have the same shape. Simulated numbers
 * are compared exactly. Times are tested on the recorded rounds of both runs: each layer by Mann and Whitney's test,
 * the model by a permutation test of what its speed-up is made of, each family of tests (a metric, an algorithm) by
 * Holm's method. A small p says that two runs differ, not why: on a computer that others use, the same program differs
 * from itself. That is what `gain` is for.
 */
#ifndef EXPERIMENTS_EXP_COMPARE_H
#define EXPERIMENTS_EXP_COMPARE_H

#include "experiments/base/exp_error.h"
#include "experiments/compare/exp_compare_runs.h"

/* Says what a difference means for B: 1 it is better, -1 worse, 0 equal or not certain. */
int exp_compare_side_of(const struct exp_compare_cell *c);

/*
 * Compares the results in two folders. Returns 0; -errno with one line in why: a folder without an experiment's
 * results, a table that cannot be read, no layer in common.
 */
int exp_two_runs_compare(struct exp_two_runs *c, const char *a, const char *b, struct exp_why *why);
void exp_two_runs_release(struct exp_two_runs *c);

#endif
