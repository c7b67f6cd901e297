/* Replaying one plan through one simulation. */
#ifndef EXPERIMENTS_EXP_REPLAY_PLAN_H
#define EXPERIMENTS_EXP_REPLAY_PLAN_H

#include "experiments/base/exp_pool.h"
#include "kernels/backend/backend.h"
#include "sim/cores.h"
#include "sim/hierarchy.h"

struct exp_replay_plan {
    const struct conv_plan *plan;
    const struct sim_issue *issue;          /* of the machine: the shape of its multiply-adds */
    const struct conv_stack *stack;         /* what compiled code does on its stack; NULL: not replayed */
    const struct conv_binding *bind;        /* where tensors are; NULL: at CONV_REPLAY_BASE */
    unsigned thread, n_threads;             /* whose share is replayed (kernels/nest/share.h), if there are several */
    const struct exp_pool *pool;            /* the replay ends when this one stops; may be NULL */
    void (*report)(void *ctx, double macs); /* is told what was replayed, step by step; may be NULL */
    void *ctx;
};

/*
 * Hands the plan's accesses to a sink. Returns 0 with *mac_instructions, the multiply-adds of the machine's shape that
 * the micro-kernels issue (0: not stated); -EINTR if the program is interrupted, -ECANCELED if the pool stopped for
 * another reason; or what the nest returns.
 */
int exp_replay_plan(const struct exp_replay_plan *r, struct sim_sink *sink, uint64_t *mac_instructions);

/*
 * Replaying one plan as libsconv's threads run it, each on a core of its own: the shares of the threads take turns, so
 * that all have made about as many accesses at any time.
 */

/* Accesses that a core makes before another one's turn: a call or two of a micro-kernel, a microsecond. */
enum { EXP_REPLAY_TURN = 10000 };

/* Says why a plan has no shares for threads; NULL if it has. */
const char *exp_replay_cores_why_not(const struct conv_plan *plan);

/*
 * Hands each share to a core of its own. What r says of threads and bind is not used: all have the same tensors, but
 * for the packed input, of which each has its own; the stack is not replayed. The order of turns does not depend on the
 * computer. mac_instructions[n_cores] as of exp_replay_plan, of each core. Returns as that does; -EAGAIN if there are
 * no more threads.
 */
int exp_replay_cores(const struct exp_replay_plan *r, struct sim_cores *cores, unsigned n_cores,
                     uint64_t *mac_instructions);

#endif
