/*
 * Jobs of a Slurm cluster that run this program again, with the same options, where a folder is shared.
 *
 * Each keeps what it makes in a part of its own, <store>.parts/<part>.sqlite, so that no two hosts write one file, and
 * takes over first what the store knows. A job's log begins with its host and CPU.
 */
#ifndef EXPERIMENTS_EXP_SLURM_JOB_H
#define EXPERIMENTS_EXP_SLURM_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"

/* Holds what is asked for. */
struct exp_slurm_request {
    char *const *argv; /* the question and its options, NULL at the end */
    const char *name;  /* of the jobs */
    bool has_threads;  /* the program takes JOBS, and works on as many threads as a job has CPUs */
    const char *needs; /* what each job asks for, "--exclusive"; "" */
    const char *words; /* more for sbatch, split as a shell does (exp_text.h); "" */
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
 * Submits. Returns 0, or with one line in why: -ENOENT without Slurm; -EIO if sbatch refuses, with what it says;
 * another -errno of writing the script; the folder of parts then goes if it is empty.
 */
int exp_slurm_job_submit(struct exp_slurm_job *j, struct exp_why *why);

/*
 * Asks squeue how many jobs wait or run. If it does not answer, the last answer counts, for ten minutes: a controller
 * may be restarted. note[] is a line to be said when that begins and ends, else "". Returns 0, or -EIO with one line in
 * why after those minutes.
 */
int exp_slurm_job_ask(struct exp_slurm_job *j, size_t *n_left, char *note, size_t note_bytes, struct exp_why *why);

void exp_slurm_job_pause(void); /* between two such questions */

/* Cancels, and says so: returns -EINTR with one line in why. */
int exp_slurm_job_interrupt(const struct exp_slurm_job *j, struct exp_why *why);

#endif
