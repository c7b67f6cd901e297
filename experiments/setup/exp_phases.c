#include "experiments/setup/exp_phases.h"

#include <errno.h>
#include <string.h>

#include "experiments/base/exp_error.h"

uint64_t exp_phases_packing_ns(const struct exp_phases *x)
{
    return x->step_ns[CONV_STEP_PACK_WINDOWS] + x->step_ns[CONV_STEP_PACK_FILTERS] + x->step_ns[CONV_STEP_PACK_MATRIX];
}

uint64_t exp_phases_kernel_ns(const struct exp_phases *x)
{
    return x->step_ns[CONV_STEP_UKR] + x->step_ns[CONV_STEP_DIRECT];
}

uint64_t exp_phases_other_ns(const struct exp_phases *x)
{
    return x->total_ns - exp_phases_packing_ns(x) - x->step_ns[CONV_STEP_IM2COL] - exp_phases_kernel_ns(x);
}

void exp_phases_add(struct exp_phases *sum, const struct exp_phases *x)
{
    for (int k = 0; k < CONV_N_STEP_KINDS; k++)
        sum->step_ns[k] += x->step_ns[k];
    sum->total_ns += x->total_ns;
}

int exp_phases_find_parts(struct conv_blas_parts *parts, const struct exp_setup *s, struct exp_why *why)
{
    if (!s->core || !conv_gemm_core_find(s->blas.core))
        return exp_fail(why, -ENOENT, "the blocking of OpenBLAS core %s is not on record", s->blas.core);
    if (strcmp(s->core->name, s->blas.core))
        return exp_fail(why, -ENOENT, "OpenBLAS runs core %s and the plan is of core %s; CORE=%s plans for it",
                        s->blas.core, s->core->name, s->blas.core);
    return conv_blas_parts_find(parts, &s->blas, s->blas.core, why->text, sizeof why->text);
}

struct timed {
    struct conv_backend base;
    struct conv_backend *inner;
    struct conv_blas_exec *gathers; /* NULL, or inner, whose gathered micro-kernels run before the kind changes */
    uint64_t (*now_ns)(void);
    struct exp_phases *phases;
    enum conv_step_kind kind; /* CONV_N_STEP_KINDS: none yet */
    uint64_t since_ns;
};

static void change_kind(struct timed *t, enum conv_step_kind kind)
{
    uint64_t now;

    if (t->gathers)
        conv_blas_exec_flush(t->gathers);
    now = t->now_ns();
    if (t->kind < CONV_N_STEP_KINDS)
        t->phases->step_ns[t->kind] += now - t->since_ns;
    t->kind = kind;
    t->since_ns = now;
}

static int step(struct conv_backend *self, const struct conv_step *s)
{
    struct timed *t = (struct timed *)self;

    if (s->kind != t->kind)
        change_kind(t, s->kind);
    return t->inner->step(t->inner, s);
}

static int step_run(struct conv_backend *self, const struct conv_run *r)
{
    struct timed *t = (struct timed *)self;

    if (r->step.kind != t->kind)
        change_kind(t, r->step.kind);
    return conv_backend_run(t->inner, r);
}

static int run(const struct conv_plan *plan, struct timed *t)
{
    uint64_t start = t->now_ns();
    int err;

    *t->phases = (struct exp_phases){ 0 };
    err = conv_nest_run(plan, &t->base);
    change_kind(t, CONV_N_STEP_KINDS);
    t->phases->total_ns = t->since_ns - start;
    return err;
}

int exp_phases_run(const struct conv_plan *plan, const struct conv_binding *bind, uint64_t (*now_ns)(void),
                   struct exp_phases *phases)
{
    struct conv_exec exec;
    struct timed t = {
        .base = { step, step_run }, .inner = &exec.base, .now_ns = now_ns, .phases = phases, .kind = CONV_N_STEP_KINDS
    };

    conv_exec_init(&exec, plan, bind);
    return run(plan, &t);
}

int exp_phases_run_base(const struct conv_plan *plan, const struct conv_binding *bind,
                        const struct conv_blas_parts *parts, uint64_t (*now_ns)(void), struct exp_phases *phases)
{
    struct conv_blas_exec exec;
    struct timed t = { .base = { step, step_run },
                       .inner = &exec.base,
                       .gathers = &exec,
                       .now_ns = now_ns,
                       .phases = phases,
                       .kind = CONV_N_STEP_KINDS };

    conv_blas_exec_init(&exec, plan, bind, parts);
    return run(plan, &t);
}
