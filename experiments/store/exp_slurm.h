/*
 * Tasks as a job array of a Slurm cluster.
 *
 * Each job of the array runs the same program with the same options on one share of the work (SHARE=), and keeps what
 * it makes in a part of its own, <store>.parts/<share>.sqlite, so that no two hosts write one file. While the jobs run,
 * and at their end, their parts are merged into the store.
 */
#ifndef EXPERIMENTS_EXP_SLURM_H
#define EXPERIMENTS_EXP_SLURM_H

#include <stdbool.h>

#include "experiments/base/exp_progress.h"
#include "experiments/store/exp_tasks.h"

struct exp_slurm {
    struct exp_store *store;
    const struct exp_tasks *tasks;
    char *const *argv;   /* of this program, NULL at the end */
    const char *name;    /* of the jobs */
    const char *doing;   /* "simulating" */
    const char *results; /* what tasks make: "simulations" */
    bool has_threads;    /* the program takes JOBS, and works on as many threads as a job has CPUs */
    const char *needs;   /* what each job asks for, "--exclusive"; "" */
    const char *words;   /* more for sbatch; "" */
    unsigned n_shares;
    struct exp_progress *progress;
    double seconds; /* announced for all tasks */
};

/*
 * Submits the array, waits for its end, merges. Nothing is submitted if every task has its result. Returns 0 if all
 * have one then; or with one line in why: -ENOENT without Slurm; -EIO if sbatch refuses, with what it says, or if tasks
 * have failed or are missing, naming one and its job's log; -EINTR, after the jobs were cancelled; or as exp_store.h.
 */
int exp_slurm_run(const struct exp_slurm *s, char *why, size_t why_bytes);

#endif
