/* One layer's plans in this project's algorithms, as an experiment of one layer. */
#ifndef EXPERIMENTS_EXP_PLANNED_H
#define EXPERIMENTS_EXP_PLANNED_H

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_polydl.h"
#include "experiments/setup/exp_case.h"

struct exp_planned {
    struct exp_layer layer;
    struct exp_model model;
    struct exp_experiment plans;
};

/*
 * Plans a layer's shape, of as many images as are wanted, in a comma-separated list of algorithms. It must stay where
 * it is. Returns 0; -ENOMEM, -EOVERFLOW or -EINVAL with one line in why.
 */
int exp_planned_init(struct exp_planned *p, const struct exp_setup *setup, const struct exp_polydl_layer *l,
                     const struct conv_problem *shape, const char *algos, struct exp_why *why);
void exp_planned_release(struct exp_planned *p); /* one that is all zeros is fine */

/* Returns the case of an algorithm; NULL if it was not asked for. */
const struct exp_case *exp_planned_case(const struct exp_planned *p, const char *algo);

#endif
