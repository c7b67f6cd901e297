/* A job array of a Slurm cluster. Each job runs this program again, in a folder that all nodes share. */
#ifndef EXPERIMENTS_BASE_SLURM_H
#define EXPERIMENTS_BASE_SLURM_H

#include <stdbool.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"

struct exp_slurm {
    char *const *argv; /* the question and its options, NULL at the end */
    const char *name;  /* of the jobs */
    bool has_threads;  /* the program takes JOBS */
    const char *needs; /* resources of each job, such as "--exclusive"; "" */
    const char *words; /* further words for sbatch, split as a shell splits (text.h); "" */
    const char *known; /* the path of the store whose results each job copies first */
    const char *part;  /* with the job's number, the path of a job's files: <part>0.log, <part>0.sqlite (the STORE) */
    unsigned n_shares; /* jobs, each with its SHARE; 0: one job for everything */
    const char *doing; /* "simulating" */
    struct exp_progress *progress;
    enum exp_work work;
    double seconds; /* announced for all jobs */
};

/*
 * Submits the array and waits for the end. Returns 0 if every job succeeded; or with one line in why: -EINVAL for words
 * or a path that Slurm cannot take; -ENOENT without Slurm; -EIO if sbatch refuses; -ECHILD if a job failed or was
 * ended, with the end of the job's log; -ETIMEDOUT after ten minutes without an answer of squeue; -EINTR, after
 * cancelling the jobs.
 */
int exp_slurm_run(const struct exp_slurm *s, struct exp_why *why);

#endif
