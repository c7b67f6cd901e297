/* Finds which rows of two runs belong together, and notes what does not. Internal to exp_compare.h. */
#ifndef EXPERIMENTS_EXP_COMPARE_PAIRS_H
#define EXPERIMENTS_EXP_COMPARE_PAIRS_H

#include "experiments/compare/exp_compare_runs.h"
#include "experiments/report/exp_layers.h"

/* Rows of both layers.csv. */
struct exp_compare_pair {
    size_t a, b;
};

/* Returns a row of a run's layers.csv. */
const struct exp_layers_row *exp_compare_row(const struct exp_compare_side *s, size_t row);

/* Finds the pairs of equal shape, c->n_pairs of them, from malloc, and notes the rest. Returns 0 or -ENOMEM. */
int exp_compare_find_pairs(struct exp_two_runs *c, struct exp_compare_pair **pairs);

/* Note how the runs were made differently; which metrics other versions do not have. Return 0 or -ENOMEM. */
int exp_compare_note_heads(struct exp_two_runs *c);
int exp_compare_note_columns(struct exp_two_runs *c);

#endif
