/*
 * A cluster that does this program's work: its tasks as a job array of Slurm, or the whole program as one job.
 */
#ifndef EXPERIMENTS_EXP_SLURM_H
#define EXPERIMENTS_EXP_SLURM_H

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_progress.h"
#include "experiments/store/exp_slurm_job.h"
#include "experiments/store/exp_tasks.h"

/* Tasks of which each job of an array takes its share. */
struct exp_slurm {
    struct exp_slurm_request request; /* with shares */
    struct exp_store *store;
    const struct exp_tasks *tasks;
    const char *doing;   /* "simulating" */
    const char *results; /* what tasks make: "simulations" */
    struct exp_progress *progress;
    double seconds; /* announced for all tasks */
};

/*
 * Submits the array, waits for its end, and merges the parts into the store, also while the jobs run. Nothing is
 * submitted if every task has its result. Returns 0 if all have one then; or with one line in why: -ENOENT without
 * Slurm; -EIO if sbatch refuses, with what it says (a store that was made for this run is removed then), or if tasks
 * have failed or are missing, naming one and its job's log; -EINTR, after the jobs were cancelled; or as exp_store.h.
 */
int exp_slurm_run(const struct exp_slurm *s, struct exp_why *why);

/*
 * Runs this whole program as one job, without shares, and passes on what it says, to standard output and error. Its
 * part is merged into the store at the end. Returns 0 if it got to its end; -EIO with one line in why if it failed or
 * was ended; or as exp_slurm_run.
 */
int exp_slurm_run_whole(const struct exp_slurm_request *r, struct exp_store *store, struct exp_why *why);

#endif
