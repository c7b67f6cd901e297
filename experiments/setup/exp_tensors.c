#include "experiments/setup/exp_tensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_stats.h"
#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"

enum { AMPLITUDE = 4, SUM_LIMIT = 1 << 24 };

bool exp_tensors_exact(const struct conv_problem *p)
{
    return conv_reduction(p) < SUM_LIMIT / (AMPLITUDE * AMPLITUDE);
}

void exp_tensors_fill(float *x, size_t bytes, uint64_t seed)
{
    uint64_t state = seed;

    for (size_t i = 0; i < bytes / sizeof(float); i++)
        x[i] = (float)((int)(exp_random_next(&state) >> 40) % (2 * AMPLITUDE + 1) - AMPLITUDE);
}

int exp_tensors_init(struct exp_tensors *t, const struct conv_plan *plan)
{
    struct conv_exec exec;
    int err;

    *t = (struct exp_tensors){ 0 };
    err = posix_memalign(&t->arena, CONV_ARENA_ALIGN, plan->layout.arena_bytes);
    if (err)
        return -err;
    memset(t->arena, 0, plan->layout.arena_bytes);
    t->bind = conv_bind(&plan->layout, (uintptr_t)t->arena);
    exp_tensors_fill(conv_out_ptr(t->bind.addr[CONV_INPUT]), plan->layout.bytes[CONV_INPUT], 1);
    exp_tensors_fill(conv_out_ptr(t->bind.addr[CONV_FILTER]), plan->layout.bytes[CONV_FILTER], 2);
    conv_exec_init(&exec, plan, &t->bind);
    err = conv_nest_pack_filters(plan, &exec.base);
    if (err)
        exp_tensors_release(t);
    return err;
}

void exp_tensors_release(struct exp_tensors *t)
{
    free(t->arena);
    *t = (struct exp_tensors){ 0 };
}
