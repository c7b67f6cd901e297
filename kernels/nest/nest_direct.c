/*
 * Direct convolution: images, groups, filters of a group, output rows, each a few at a time (plan->direct says how
 * many). A step has whole output rows and all channels: every output is computed once, whole.
 */
#include <assert.h>

#include "kernels/nest/nest.h"
#include "kernels/shape/sizes.h"

static int rows(const struct conv_plan *plan, struct conv_backend *backend, struct conv_step *step)
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

static int groups(const struct conv_plan *plan, struct conv_backend *backend, struct conv_step *step)
{
    size_t n_groups = min_size(plan->problem.groups - step->group, plan->direct.groups);
    size_t n_filters = n_groups * plan->group_filters, each = n_groups * plan->direct.filters;
    int err = 0;

    for (step->f0 = 0; step->f0 < n_filters && !err; step->f0 += each) {
        step->n_f = min_size(n_filters - step->f0, each);
        err = rows(plan, backend, step);
    }
    return err;
}

int conv_nest_direct(const struct conv_plan *plan, struct conv_backend *backend)
{
    const struct conv_problem *p = &plan->problem;
    struct conv_step step = { .kind = CONV_STEP_DIRECT, .n_k = conv_reduction(p) };
    int err = 0;

    assert(plan->algorithm == CONV_DIRECT);
    for (step.image = 0; step.image < p->n && !err; step.image += plan->direct.images) {
        step.n_images = min_size(p->n - step.image, plan->direct.images);
        for (step.group = 0; step.group < p->groups && !err; step.group += plan->direct.groups)
            err = groups(plan, backend, &step);
    }
    return err;
}
