#include "experiments/exp_phases.h"

#include <errno.h>

struct timed {
    struct conv_backend base;
    struct conv_exec exec;
    uint64_t (*now_ns)(void);
    struct exp_phases *phases;
    enum conv_step_kind kind; /* CONV_N_STEP_KINDS: none yet */
    uint64_t since_ns;
};

static void change_kind(struct timed *t, enum conv_step_kind kind)
{
    uint64_t now = t->now_ns();

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
    return t->exec.base.step(&t->exec.base, s);
}

int exp_phases_run(const struct conv_plan *plan, const struct conv_binding *bind, uint64_t (*now_ns)(void),
                   struct exp_phases *phases)
{
    struct timed t = { .base.step = step, .now_ns = now_ns, .phases = phases, .kind = CONV_N_STEP_KINDS };
    uint64_t start;
    int err;

    *phases = (struct exp_phases){ 0 };
    conv_exec_init(&t.exec, plan, bind);
    start = now_ns();
    err = conv_nest_run(plan, &t.base);
    change_kind(&t, CONV_N_STEP_KINDS);
    phases->total_ns = t.since_ns - start;
    return err;
}

static void leave_it(const struct conv_im2col_args *a)
{
    (void)a;
}

int exp_phases_run_base(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_blas *blas,
                        uint64_t (*now_ns)(void), struct exp_phases *phases)
{
    const struct conv_im2col_args a = { &plan->problem, bind->addr[CONV_INPUT], bind->addr[CONV_IM2COL] };
    uint64_t start, lowered;
    int err;

    *phases = (struct exp_phases){ 0 };
    if (plan->problem.n * plan->problem.groups != 1)
        return -ENOTSUP;
    start = now_ns();
    if (plan->needs_im2col)
        conv_im2col(&a);
    lowered = now_ns();
    err = conv_base_run_with(plan, bind, blas, leave_it);
    phases->total_ns = now_ns() - start;
    phases->step_ns[CONV_STEP_IM2COL] = lowered - start;
    phases->gemm_ns = phases->total_ns - (lowered - start);
    return err;
}
