/*
 * Replaying one plan as libsconv's threads run it, each on a core of its own: the shares of the threads take turns, so that
 * all have made about as many accesses at any time.
 */
#ifndef EXPERIMENTS_EXP_REPLAY_CORES_H
#define EXPERIMENTS_EXP_REPLAY_CORES_H

#include "experiments/replay/exp_replay_plan.h"
#include "sim/cores.h"

/* Accesses that a core makes before another one's turn: a call or two of a micro-kernel, a microsecond. */
enum { EXP_REPLAY_TURN = 10000 };

/* Says why a plan has no shares for threads; NULL if it has. */
const char *exp_replay_cores_why_not(const struct conv_plan *plan);

/*
 * Hands each share to a core of its own. What r says of threads and bind is not used: all have the same tensors, but for the
 * packed input, of which each has its own; the stack is not replayed. The order of turns does not depend on the computer.
 * mac_instructions[n_cores] as of exp_replay_plan, of each core. Returns as that does; -EAGAIN if there are no more threads.
 */
int exp_replay_cores(const struct exp_replay_plan *r, struct sim_cores *cores, unsigned n_cores,
                     uint64_t *mac_instructions);

#endif
