/* Plans with decisions of the user's own: "n_c=32,k2=5,schedule=is". */
#ifndef EXPERIMENTS_BENCH_CASE_DECISIONS_H
#define EXPERIMENTS_BENCH_CASE_DECISIONS_H

#include "experiments/base/error.h"
#include "kernels/emit/layer_plans.h"

/*
 * Plans n again with the decisions of SET= ("n_c=32,k2=5") of its tiling and options (kernels/emit/plan_keys.def); all
 * else is derived. other is as in conv_plan_of_facts. Returns 0, or -errno with one line in why.
 */
int exp_plan_set(struct conv_layer_plan *n, const char *set, const struct conv_ukr *other, struct exp_why *why);

#endif
