/* Tasks of a sweep that one pass over the accesses of a plan can serve are one job. */
#ifndef EXPERIMENTS_EXP_SWEEP_JOBS_H
#define EXPERIMENTS_EXP_SWEEP_JOBS_H

#include "experiments/sweep/exp_sweep.h"

/* Puts the listed tasks in order, job by job. Returns 0 or -ENOMEM. */
int exp_sweep_group_tasks(struct exp_sweep *s);

#endif
