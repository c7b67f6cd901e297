/*
 * A cluster that does this program's work: its tasks as a job array of Slurm, or the whole program as one job.
 */
#ifndef EXPERIMENTS_BASE_SLURM_H
#define EXPERIMENTS_BASE_SLURM_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/base/tasks.h"

/*
 * Jobs of a Slurm cluster that run this program again, with the same options, where a folder is shared.
 *
 * Each keeps what it makes in a part of its own, <store>.parts/<part>.sqlite, so that no two hosts write one file, and
 * takes over first what the store knows. A job's log begins with its host and CPU.
 */

/* Holds what is asked for. */
struct exp_slurm_request {
    char *const *argv; /* the question and its options, NULL at the end */
    const char *name;  /* of the jobs */
    bool has_threads;  /* the program takes JOBS, and works on as many threads as a job has CPUs */
    const char *needs; /* what each job asks for, "--exclusive"; "" */
    const char *words; /* more for sbatch, split as a shell does (text.h); "" */
    unsigned n_shares; /* an array of so many jobs, whose parts are their shares' numbers; 0: one job for everything */
};

struct exp_slurm_job {
    const struct exp_slurm_request *request;
    const char *store; /* path */
    char parts[1024];  /* folder */
    char id[64];
    size_t n_left;       /* jobs that waited or ran when squeue last answered */
    double silent_since; /* seconds; when squeue began not to answer; 0: it does */
    double patience_s;   /* for how long it is asked again */
};

/*
 * Makes the folder of parts. Returns 0 or -errno with one line in why: -EINVAL if the words have a quote that is not
 * closed, or the path of the parts is none for Slurm's logs.
 */
int exp_slurm_job_prepare(struct exp_slurm_job *j, const struct exp_slurm_request *r, const char *store,
                          struct exp_why *why);

/*
 * Asks squeue how many jobs wait or run. If it does not answer, the last answer counts, for ten minutes: a controller
 * may be restarted. note[] is a line to be said when that begins and ends, else "". Returns 0, or -EIO with one line in
 * why after those minutes.
 */
int exp_slurm_job_ask(struct exp_slurm_job *j, size_t *n_left, char *note, size_t note_bytes, struct exp_why *why);

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
 * have failed or are missing, naming one and its job's log; -EINTR, after the jobs were cancelled; or as store.h.
 */
int exp_slurm_run(const struct exp_slurm *s, struct exp_why *why);

/*
 * Runs this whole program as one job, without shares, and passes on what it says, to standard output and error. Its
 * part is merged into the store at the end. Returns 0 if it got to its end; -EIO with one line in why if it failed or
 * was ended; or as exp_slurm_run.
 */
int exp_slurm_run_whole(const struct exp_slurm_request *r, struct exp_store *store, struct exp_why *why);

#endif
