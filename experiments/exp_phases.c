#include "experiments/exp_phases.h"

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
        .base.step = step, .inner = &exec.base, .now_ns = now_ns, .phases = phases, .kind = CONV_N_STEP_KINDS
    };

    conv_exec_init(&exec, plan, bind);
    return run(plan, &t);
}

int exp_phases_run_base(const struct conv_plan *plan, const struct conv_binding *bind,
                        const struct conv_blas_parts *parts, uint64_t (*now_ns)(void), struct exp_phases *phases)
{
    struct conv_blas_exec exec;
    struct timed t = { .base.step = step,
                       .inner = &exec.base,
                       .gathers = &exec,
                       .now_ns = now_ns,
                       .phases = phases,
                       .kind = CONV_N_STEP_KINDS };

    conv_blas_exec_init(&exec, plan, bind, parts);
    return run(plan, &t);
}
