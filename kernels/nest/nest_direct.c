/*
 * Direct convolution: images, then groups a few at a time, then output rows a few at a time (plan->direct says how
 * many). Steps are boxes of whole output rows of all filters of their groups, so every output is computed once, whole.
 */
#include <assert.h>

#include "kernels/nest/nest.h"
#include "kernels/shape/sizes.h"

static int groups(const struct conv_plan *plan, struct conv_backend *backend, struct conv_step *step)
{
    const struct conv_problem *p = &plan->problem;
    int err = 0;

    for (size_t row = 0; row < p->p && !err; row += plan->direct.rows) {
        step->win0 = row * p->q;
        step->n_win = min_size(p->p - row, plan->direct.rows) * p->q;
        err = backend->step(backend, step);
    }
    return err;
}

int conv_nest_direct(const struct conv_plan *plan, struct conv_backend *backend)
{
    const struct conv_problem *p = &plan->problem;
    struct conv_step step = { .kind = CONV_STEP_DIRECT, .n_k = conv_reduction(p) };
    int err = 0;

    assert(plan->algorithm == CONV_DIRECT);
    for (step.image = 0; step.image < p->n && !err; step.image++) {
        for (step.group = 0; step.group < p->groups && !err; step.group += plan->direct.groups) {
            step.n_f = min_size(p->groups - step.group, plan->direct.groups) * plan->group_filters;
            err = groups(plan, backend, &step);
        }
    }
    return err;
}
