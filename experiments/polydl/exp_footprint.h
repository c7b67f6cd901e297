/*
 * Counts how many elements a nest touches between two of its iterations: exactly, without listing them. The iterations
 * between are a few boxes; what an access touches in a box is a product of sets of numbers; and products that overlap
 * are counted once by splitting each axis where its sets differ.
 */
#ifndef EXPERIMENTS_EXP_FOOTPRINT_H
#define EXPERIMENTS_EXP_FOOTPRINT_H

#include "experiments/polydl/exp_affine.h"

/*
 * Stores the number of distinct elements, of all arrays together, that iterations from first to last (both of them
 * included, in the order of the loops) read or write. Returns 0, -EINVAL if last comes before first, or -ENOMEM.
 * The subscripts of one access must use different loops.
 */
int exp_footprint_between(const struct exp_affine_nest *n, const struct exp_affine_point *first,
                          const struct exp_affine_point *last, uint64_t *elements);

/* Does the same for all iterations that agree with `at` in their outermost n_fixed loops. */
int exp_footprint_within(const struct exp_affine_nest *n, size_t n_fixed, const struct exp_affine_point *at,
                         uint64_t *elements);

#endif
