#include "experiments/polydl/exp_planned.h"

#include <string.h>

int exp_planned_init(struct exp_planned *p, const struct exp_setup *setup, const struct exp_polydl_layer *l,
                     const struct conv_problem *shape, const char *algos, struct exp_why *why)
{
    unsigned selected;
    int err;

    *p = (struct exp_planned){
        .layer = { .name = (char *)l->name, .problem = *shape, .line = 1, .index = 1 },
        .model = { .name = (char *)l->model, .path = (char *)l->model, .n_layers = 1 },
    };
    p->model.layer = &p->layer;
    err = exp_algo_select(algos, &selected, why);
    return err ? err : exp_experiment_plan(&p->plans, setup, &p->model, selected, why);
}

void exp_planned_release(struct exp_planned *p)
{
    exp_experiment_release(&p->plans);
}

const struct exp_case *exp_planned_case(const struct exp_planned *p, const char *algo)
{
    for (size_t i = 0; i < p->plans.n_cases; i++) {
        if (!strcmp(p->plans.cases[i].algo->name, algo))
            return &p->plans.cases[i];
    }
    return NULL;
}
