#include "tests/experiments/observed_layer.h"

#include <CUnit/CUnit.h>

#include "experiments/observe/guest.h"
#include "tests/kernels/shapes.h"
#include "tests/scratch.h"

const struct conv_problem observed_small[] = {
    { IMAGES(1, 16, 14, 14), FILTERS(32, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 },
    { IMAGES(2, 20, 9, 7), FILTERS(21, 1, 1), UNIT_STEPS, .groups = 1 },
    { IMAGES(1, 6, 23, 19), FILTERS(14, 5, 3), PADDING(2, 1, 1, 0), STRIDES(2, 2), DILATIONS(1, 1), .groups = 2 },
    { IMAGES(1, 8, 17, 18), FILTERS(8, 3, 3), PADDING(2, 2, 2, 2), STRIDES(1, 3), DILATIONS(2, 2), .groups = 8 },
};

const struct conv_problem observed_unfitted[] = {
    { IMAGES(1, 20, 30, 30), FILTERS(56, 3, 3), UNIT_STEPS, PADDING(1, 1, 1, 1), .groups = 1 },
    { IMAGES(1, 72, 20, 20), FILTERS(40, 1, 1), UNIT_STEPS, .groups = 1 },
};

void observed_plan(struct observed_layer *l, const struct observed_place *p, struct conv_problem problem,
                   const char *algo, bool packs_filters)
{
    static char name[] = "test";
    struct exp_why why = { "" };
    unsigned algos;

    *l = (struct observed_layer){ .layer = { .name = name, .problem = problem } };
    CU_ASSERT_FATAL(conv_problem_finish(&l->layer.problem, why.text, sizeof why.text) == 0);
    CU_ASSERT_FATAL(sim_machine_read(&l->setup.machine, p->machine, why.text, sizeof why.text) == 0);
    CU_ASSERT_FATAL(exp_algo_select(algo, &algos, &why) == 0);
    l->setup.packs_filters = packs_filters;
    CU_ASSERT_FATAL(exp_setup_init(&l->setup, p->ukr, p->core ? p->core : p->emulator->core, &why) == 0);
    l->model = (struct exp_model){ .name = name, .path = name, .n_layers = 1, .layer = &l->layer };
    CU_ASSERT_FATAL(exp_experiment_plan(&l->e, &l->setup, &l->model, algos, &why) == 0);
    l->plan = l->e.cases[0].plan;
}

void observed_take_part(struct observed_layer *l)
{
    const struct conv_problem *p = &l->layer.problem;

    l->is_part = true;
    l->part = (struct conv_part){ p->n, (p->p + 1) / 2, (conv_group_filters(p) + 1) / 2 };
    CU_ASSERT_FATAL(conv_plan_part(&l->plan, &l->e.cases[0].plan, &l->part) == 0);
}

void observed_release(struct observed_layer *l)
{
    exp_experiment_release(&l->e);
    exp_setup_release(&l->setup);
}

int observed_run(const struct observed_layer *l, const struct observed_place *p, bool is_traced, struct watch_result *r,
                 struct exp_why *why)
{
    const struct exp_guest_run run = {
        .emulator = p->emulator,
        .observer = p->observer,
        .guest = p->guest,
        .machine_path = p->machine,
        .out = scratch_path("r"),
        .trace = is_traced ? scratch_path("t") : NULL,
        .problem = &l->layer.problem,
        .part = l->is_part ? &l->part : NULL,
        .algo = l->e.cases[0].algo->name,
        .ukr = p->ukr,
        .core = l->setup.core->name,
        .packs_filters = l->setup.packs_filters,
        .verifies = true,
        .limit_s = 120,
    };

    return exp_guest_run(&run, r, why);
}

struct conv_binding observed_binding(const struct conv_plan *plan, const struct watch_result *r)
{
    struct conv_binding bind = conv_bind(&plan->layout, 0);

    for (size_t i = 0; i < r->n_buffers; i++)
        bind.addr[r->buffer[i].tag] = r->buffer[i].address;
    return bind;
}
