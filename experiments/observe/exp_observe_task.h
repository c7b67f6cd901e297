/*
 * Observations as tasks of the results store: what decides one (programs, machine, shape, part, algorithm), finding and
 * keeping it, and the run that makes it. A guest writes its result and reads the machine in a folder of its own,
 * RESULTS/.observing.PID, which lives as long as the observing process; what killed ones left is removed by the next.
 */
#ifndef EXPERIMENTS_EXP_OBSERVE_TASK_H
#define EXPERIMENTS_EXP_OBSERVE_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "counters/observe/obs_result.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/observe/exp_guest.h"
#include "experiments/store/exp_store.h"
#include "experiments/store/exp_tasks.h"
#include "kernels/plan/plan.h"
#include "sim/machine/machine.h"

struct exp_observe_tasks {
    struct exp_store *store; /* NULL: nothing is kept */
    const struct sim_machine *m;
    char *setting; /* its text */
    char *folder;
    char *machine_path; /* in the folder */
    struct exp_guard guard;
};

/* Makes folder and machine file. Returns 0, -ENOMEM or -errno of writing, with one line in why; closed in any case. */
int exp_observe_tasks_open(struct exp_observe_tasks *k, struct exp_store *store, const char *results,
                           const struct sim_machine *m, struct exp_why *why);
void exp_observe_tasks_close(struct exp_observe_tasks *k); /* all zeros is fine */

/* Makes the task of a run; programs: the hash of those that run. Returns 0 or -ENOMEM; released in any case. */
int exp_observe_task_make(struct exp_task *t, const struct exp_observe_tasks *k, uint64_t programs,
                          const struct exp_guest_run *run);
void exp_observe_task_release(struct exp_task *t); /* leaves all zeros, which is fine, too */

/*
 * Reads what the store keeps of a task. Returns 0; -ENOENT if there is nothing; -EINVAL or -EILSEQ if it is not of that
 * plan; or as exp_store_find.
 */
int exp_observe_task_find(const struct exp_observe_tasks *k, const struct exp_task *t, const struct conv_plan *plan,
                          struct obs_result *seen, struct exp_why *why);

/*
 * Runs the guest, and keeps what it saw. Returns 0 with seen filled; else one line in why, and what exp_guest_run
 * returns; -EILSEQ if the guest planned otherwise, or code ran unseen; or as exp_tasks_keep.
 */
int exp_observe_task_run(const struct exp_observe_tasks *k, const struct exp_task *t, const struct exp_guest_run *run,
                         const struct conv_plan *plan, struct obs_result *seen, struct exp_why *why);

/* ---- what an observer found (counters/observe/obs_result.h), as the result of a task in the results store ---- */

/*
 * Puts all of it: "input/ukr/L1.reads" of a cell, "ukr/instructions/fma", "buffer/0/address" of tag 0's,
 * "outside/2/memcpy/stack/loads" of phase 2, "ukr/footprint". Errors are the result's own.
 */
void exp_observed_result_put(struct exp_result *to, const struct sim_machine *m, const struct obs_result *seen);

/* Reads it back. Returns 0, or -EINVAL if it holds anything else. */
int exp_observed_result_get(const struct exp_result *from, const struct sim_machine *m, struct obs_result *seen);

#endif
