/*
 * Working sets as formulas in the extents of the loops, as far as isl goes without barvinok, which counts any set: here
 * what is touched must come apart into boxes whose sides isl knows. It does in the paper's worked example.
 */
#ifndef EXPERIMENTS_EXP_SYMBOLIC_H
#define EXPERIMENTS_EXP_SYMBOLIC_H

#include <isl/polynomial.h>

#include "experiments/polydl/exp_affine.h"

/*
 * Returns how many elements iterations touch, from the first source of a dependence to its first, or last, target: of the
 * pairs that an access makes with itself through a loop, in sequence. The extents are the parameters e0, e1, ... of the
 * loops, each at least 2; what n says about them does not count. Returns NULL with *err -ENOTSUP where isl's sets are no
 * boxes, -EINVAL where the loop carries no such dependence, or -ENOMEM. The caller frees it.
 */
isl_pw_qpolynomial *exp_symbolic_working_set(isl_ctx *ctx, const struct exp_affine_nest *n, size_t access, size_t loop,
                                             bool last, int *err);

#endif
