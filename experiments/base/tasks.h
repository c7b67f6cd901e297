/*
 * The task runner does every task once, on several threads and in several processes.
 *
 * The work consists of jobs. A job makes the results of one task or of several (one pass over a stream may answer many
 * questions). A job whose tasks all have results in the store is not run. The first outcome is committed at once. Later
 * outcomes are committed at intervals of 150 times the time of a commit: less than 1 % of the time, and a tenth of a
 * second on a local disk. A killed process loses at most one interval. Jobs that a living process works on come last;
 * this process waits, and names the living process after a few seconds. Damaged results are made again, with a message.
 */
#ifndef EXPERIMENTS_BASE_TASKS_H
#define EXPERIMENTS_BASE_TASKS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/base/store.h"

/* Independent jobs on several threads. */

struct exp_pool; /* of one call of exp_pool_run */

/* One job: index < n_jobs; thread < n_threads tells which scratch memory is free to use. Returns 0 or -errno. */
typedef int (*exp_pool_job_fn)(void *ctx, size_t index, size_t thread, const struct exp_pool *pool);

/*
 * Runs jobs 0 .. n_jobs-1 in order of index, each once, on up to n_threads threads, including the caller's thread;
 * returns when all jobs have ended. If the system refuses further threads, the pool works with fewer. The first job
 * that fails stops the pool: no further job begins, and running jobs see the stop through exp_pool_stopped. interrupted
 * (may be NULL) stops the pool as well. Returns 0, the error of the job that failed first, -EINTR if interrupted,
 * -EINVAL for 0 threads. *failed (may be NULL) is the index of the failed job, n_jobs without a failed job.
 */
int exp_pool_run(size_t n_jobs, size_t n_threads, exp_pool_job_fn job, void *ctx, bool (*interrupted)(void),
                 size_t *failed);

/* Tells a long job whether to give up (and return -ECANCELED, say). Thread-safe. */
bool exp_pool_stopped(const struct exp_pool *pool);

struct exp_tasks {
    const struct exp_task *task; /* [first[n_jobs]] */
    const size_t *first; /* [n_jobs + 1]: job j makes the results of tasks first[j] .. first[j + 1] - 1; NULL: of j */
    size_t n_jobs;
    enum exp_work work;  /* the kind of work that announces the time */
    const char *doing;   /* "replaying" */
    bool reports_itself; /* run reports the progress; else the runner reports each job */

    /*
     * Does a job: fills result[i] for the job's i-th task. Thread-safe. Returns 0; -EINTR or -ECANCELED if the pool
     * stopped; -ENOMEM, which ends the run; another -errno with one line in why: the job's tasks have failed, and the
     * run continues.
     */
    int (*run)(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why);
    /* Takes a task's result, new or from the store; one call at a time. */
    void (*take)(void *ctx, size_t task, const struct exp_result *r);
    double (*seconds)(void *ctx, size_t job); /* as announced to exp_progress */
    void *ctx;
};

struct exp_tasks_options {
    struct exp_store *store; /* NULL: every task is done, and no result is kept */
    unsigned n_threads;
    struct exp_claim_rules rules;
    size_t share, n_shares;        /* only jobs with index mod n_shares == share; n_shares 0: all */
    struct exp_progress *progress; /* shows the messages; may be NULL */
};

struct exp_tasks_counts {
    size_t n_tasks, n_stored, n_run, n_failed; /* of the share */
    size_t n_damaged;                          /* results of the store that were damaged and made again */
    char failure[256];                         /* name of a failed task, and the reason */
};

/*
 * For tasks that are known only when their turn comes, one task at a time, by a runner of the caller. The first
 * function finds a result: 0, -ENOENT without a result, or as exp_store_find. The second function stores a new result
 * at once.
 */
int exp_tasks_find(struct exp_store *s, const struct exp_task *task, struct exp_result *r, struct exp_why *why);
int exp_tasks_keep(struct exp_store *s, const struct exp_task *task, const struct exp_result *r, double seconds,
                   struct exp_why *why);

/* Returns the first task of a job; for the number of jobs, the number of tasks. */
size_t exp_tasks_first(const struct exp_tasks *t, size_t job);

/*
 * Does the work. Returns 0, also after failed tasks (see counts); -EINTR if interrupted; -ENOMEM if a job returns
 * -ENOMEM; or as the functions of store.h; with one line in why. Results finished before the end are in the store.
 */
int exp_tasks_run(const struct exp_tasks *t, const struct exp_tasks_options *o, struct exp_tasks_counts *counts,
                  struct exp_why *why);

#endif
