/* Keeps what an observer found (counters/observe/obs_result.h) as the result of a task, in the results store. */
#ifndef EXPERIMENTS_EXP_OBSERVED_RESULT_H
#define EXPERIMENTS_EXP_OBSERVED_RESULT_H

#include "counters/observe/obs_result.h"
#include "experiments/store/exp_store.h"
#include "sim/machine/machine.h"

/*
 * Puts all of it: "input/ukr/L1.reads" of a cell, "ukr/instructions/fma", "buffer/0/address" of tag 0's,
 * "outside/2/memcpy/stack/loads" of phase 2, "ukr/footprint". Errors are the result's own.
 */
void exp_observed_result_put(struct exp_result *to, const struct sim_machine *m, const struct obs_result *seen);

/* Reads it back. Returns 0, or -EINVAL if it holds anything else. */
int exp_observed_result_get(const struct exp_result *from, const struct sim_machine *m, struct obs_result *seen);

#endif
