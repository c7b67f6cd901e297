/* A nest in the words of isl, the Integer Set Library. Internal to this room. */
#ifndef EXPERIMENTS_EXP_AFFINE_ISL_H
#define EXPERIMENTS_EXP_AFFINE_ISL_H

#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/set.h>

#include "experiments/polydl/exp_affine.h"

/* Makes the set of iterations, S[i0, i1, ...]. */
isl_set *exp_affine_domain(isl_ctx *ctx, const struct exp_affine_nest *n);

/* Does the same for loops of e0, e1, ... iterations, which are parameters of at least 2. */
isl_set *exp_affine_symbolic_domain(isl_ctx *ctx, const struct exp_affine_nest *n);

/* Makes the map from any iteration to the elements of an access, A[d0, d1, ...]. */
isl_map *exp_affine_access(isl_ctx *ctx, const struct exp_affine_nest *n, const struct exp_affine_access *a);

/* Makes the pairs of iterations, S[i0, ...] -> S[j0, ...], that differ first in a loop, where the second is later. */
isl_map *exp_affine_carried_by(isl_ctx *ctx, const struct exp_affine_nest *n, size_t loop);

/* Makes the pairs of iterations in which no parallel iterator differs. */
isl_map *exp_affine_same_parallel(isl_ctx *ctx, const struct exp_affine_nest *n);

#endif
