/* The plans that a program of this room works on: of the layers that LAYER or MODEL name, or of PLAN's file. */
#ifndef EXPERIMENTS_EXP_EMIT_PLANS_H
#define EXPERIMENTS_EXP_EMIT_PLANS_H

#include "experiments/emit/exp_options_emit.h"
#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_algo.h"
#include "kernels/emit/noted_plans.h"

struct exp_emit_plans {
    struct exp_setup setup;
    struct conv_noted_plans noted;
};

/*
 * Plans, or reads, what the options ask for. Returns 0, or -errno with one line in why. An empty one, filled with
 * zeros, may be released; the setup must stay where it is.
 */
int exp_emit_plans_make(struct exp_emit_plans *p, const struct exp_emit_options *o, struct exp_why *why);
void exp_emit_plans_release(struct exp_emit_plans *p);

#endif
