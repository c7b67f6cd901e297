/* A cluster that does this program's work: the tasks as a job array of Slurm, or the whole program as one job. */
#ifndef EXPERIMENTS_BASE_SLURM_H
#define EXPERIMENTS_BASE_SLURM_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/base/tasks.h"

/*
 * Jobs of a Slurm cluster run this program again, with equal options, in a shared folder.
 *
 * Each job writes its results into a store of its own, <store>.parts/<part>.sqlite, so that no two hosts write one
 * file. The job first copies the results of the store. A job's log begins with the host and the CPU.
 */

/* The request of the user. */
struct exp_slurm_request {
    char *const *argv; /* the question and its options, NULL at the end */
    const char *name;  /* of the jobs */
    bool has_threads;  /* the program takes JOBS and runs as many threads as a job has CPUs */
    const char *needs; /* resources of each job, such as "--exclusive"; "" */
    const char *words; /* further words for sbatch, split as a shell splits (text.h); "" */
    unsigned n_shares; /* an array of n_shares jobs, each with its own part; 0: one job for everything */
};

struct exp_slurm_job {
    const struct exp_slurm_request *request;
    const char *store; /* path */
    char parts[1024];  /* folder */
    char id[64];
    size_t n_left;       /* waiting or running jobs at the last answer of squeue */
    double silent_since; /* seconds; when squeue stopped to answer; 0: squeue answers */
    double patience_s;   /* how long to ask again */
};

/*
 * Makes the folder of parts. Returns 0 or -errno with one line in why: -EINVAL if the words have an open quote, or if
 * the path of the parts cannot be a path of Slurm's logs.
 */
int exp_slurm_job_prepare(struct exp_slurm_job *j, const struct exp_slurm_request *r, const char *store,
                          struct exp_why *why);

/*
 * Asks squeue for the number of waiting and running jobs. Without an answer, the last answer counts for ten minutes,
 * because a controller may restart. note[] is a line to print when the silence begins and ends, else "". Returns 0, or
 * -EIO with one line in why after ten minutes.
 */
int exp_slurm_job_ask(struct exp_slurm_job *j, size_t *n_left, char *note, size_t note_bytes, struct exp_why *why);

/* Tasks, divided into shares for the jobs of an array. */
struct exp_slurm {
    struct exp_slurm_request request; /* with shares */
    struct exp_store *store;
    const struct exp_tasks *tasks;
    const char *doing;   /* "simulating" */
    const char *results; /* the results of the tasks: "simulations" */
    struct exp_progress *progress;
    double seconds; /* announced for all tasks */
};

/*
 * Submits the array, waits for the end, and merges the parts into the store, also while the jobs run. Submits nothing
 * if every task has a result. Returns 0 if then all tasks have results; or with one line in why: -ENOENT without Slurm;
 * -EIO if sbatch refuses, with sbatch's message (a store made for this run is removed), or if tasks have failed or are
 * missing, with the name of one and the job's log; -EINTR, after cancelling the jobs; or as store.h.
 */
int exp_slurm_run(const struct exp_slurm *s, struct exp_why *why);

/*
 * Runs this whole program as one job, without shares, and copies the job's messages to standard output and error. The
 * part is merged into the store at the end. Returns 0 after a complete run; -EIO with one line in why if the job failed
 * or was ended; or as exp_slurm_run.
 */
int exp_slurm_run_whole(const struct exp_slurm_request *r, struct exp_store *store, struct exp_why *why);

#endif
