/* Plans with decisions of the user's own: "n_c=32,k2=5,schedule=is". */
#ifndef EXPERIMENTS_EXP_EMIT_SET_H
#define EXPERIMENTS_EXP_EMIT_SET_H

#include "experiments/base/exp_error.h"
#include "kernels/emit/noted_plans.h"

/*
 * Plans n again with these decisions of its tiling and options (kernels/emit/plan_keys.def) and everything else derived
 * from them. other is as in conv_plan_of_facts. Returns 0; -EINVAL with one line in why, for an unknown key or a value
 * out of range; -EOVERFLOW; -ENOMEM.
 */
int exp_emit_set(struct conv_noted_plan *n, const char *set, const struct conv_ukr *other, struct exp_why *why);

#endif
