/* The back-ends of all nests: one executes the steps on real memory, the other hands their accesses to a sink. */
#ifndef KERNELS_BACKEND_H
#define KERNELS_BACKEND_H

#include "kernels/nest/nest.h"
#include "kernels/plan/plan.h"
#include "kernels/backend/stack.h"
#include "sim/base/access.h"

/* Executes. The plan's kernel must run here (conv_ukr_runs, conv_direct_runs). */
struct conv_exec {
    struct conv_backend base;
    const struct conv_plan *plan;
    struct conv_binding bind; /* real addresses; every tensor with bytes is backed by memory */
    bool holds;               /* a nest runs: calls keep the state of the CPU for later calls, */
    uint64_t held;            /* which state is held (conv_ukr_args) */
};

void conv_exec_init(struct conv_exec *e, const struct conv_plan *plan, const struct conv_binding *bind);

/* Replays. No tensor exists; addresses start at CONV_REPLAY_BASE unless another binding is given. */
struct conv_replay {
    struct conv_backend base;
    const struct conv_plan *plan;
    struct conv_binding bind;
    struct sim_sink *sink;
    struct conv_work_meter meter;    /* with a stack: the steps' accesses go through the meter, */
    struct conv_stack_emitter stack; /* and the stack's accesses follow each step */
    double work[CONV_N_WORKS];       /* likewise: the last step's */
};

void conv_replay_init(struct conv_replay *r, const struct conv_plan *plan, struct sim_sink *sink);

/* Has the stack of compiled code replayed, too; NULL: not. */
void conv_replay_set_stack(struct conv_replay *r, const struct conv_stack *stack);

#endif
