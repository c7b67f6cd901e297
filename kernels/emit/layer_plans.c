#include "kernels/emit/layer_plans.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void release(struct conv_layer_plan *p)
{
    free((char *)p->layer);
    free((char *)p->machine);
}

int conv_plans_add(struct conv_layer_plans *plans, const struct conv_layer_plan *plan)
{
    struct conv_layer_plan *more = realloc(plans->plan, (plans->n + 1) * sizeof *more), copy = *plan;

    assert(plan->layer && plan->machine);
    if (more)
        plans->plan = more;
    copy.layer = strdup(plan->layer);
    copy.machine = strdup(plan->machine);
    if (more && copy.layer && copy.machine) {
        more[plans->n++] = copy;
        return 0;
    }
    release(&copy);
    return -ENOMEM;
}

void conv_plans_release(struct conv_layer_plans *plans)
{
    for (size_t i = 0; i < plans->n; i++)
        release(&plans->plan[i]);
    free(plans->plan);
    *plans = (struct conv_layer_plans){ 0 };
}

const struct conv_layer_plan *conv_plans_find(const struct conv_layer_plans *plans, const struct conv_problem *p)
{
    for (size_t i = 0; i < plans->n; i++) {
        if (conv_problem_equal(&plans->plan[i].plan.problem, p))
            return &plans->plan[i];
    }
    return NULL;
}
