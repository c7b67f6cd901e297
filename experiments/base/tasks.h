/*
 * The task runner: does work once, whoever asked for it before, on several threads and in several processes.
 *
 * The work is jobs. Each job makes the results of one task or of several (one pass over a stream may answer many
 * questions). Jobs whose tasks all have results in the store are not run. The first outcome is committed at once. What
 * follows is claimed and committed at intervals of 150 times what that took, which is less than 1 %: a tenth of a
 * second on a local disk. So much a killed process loses. Jobs that another living process works on come last, and are
 * waited for; whom for is said after a few seconds. Damaged results are made again, and that is said.
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
 * Runs jobs 0 .. n_jobs-1, begun in that order, each once, on up to n_threads threads, one of them the caller's;
 * returns when all have ended. If the system refuses further threads, it goes on with those it has. The first job that
 * fails stops the pool: no further job begins, and running ones can see it through exp_pool_stopped. interrupted (may
 * be NULL) stops it as well. Returns 0, the error of the job that failed first, -EINTR if interrupted, -EINVAL for 0
 * threads. With *failed (may be NULL) as the index of that job, n_jobs if there is none.
 */
int exp_pool_run(size_t n_jobs, size_t n_threads, exp_pool_job_fn job, void *ctx, bool (*interrupted)(void),
                 size_t *failed);

/* Tells a long job whether to give up (and return -ECANCELED, say). Thread-safe. */
bool exp_pool_stopped(const struct exp_pool *pool);

struct exp_tasks {
    const struct exp_task *task; /* [first[n_jobs]] */
    const size_t *first; /* [n_jobs + 1]: job j makes the results of tasks first[j] .. first[j + 1] - 1; NULL: of j */
    size_t n_jobs;
    enum exp_work work;  /* what its time is announced as */
    const char *doing;   /* "replaying" */
    bool reports_itself; /* run tells the progress what is done; else jobs are told there */

    /*
     * Does a job: fills result[i] for its i-th task. Thread-safe. Returns 0; -EINTR or -ECANCELED if the pool stopped;
     * -ENOMEM, which ends the run; another -errno with one line in why: its tasks have then failed, others go on.
     */
    int (*run)(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why);
    /* Takes the result of a task, from the store or just made; one call at a time. */
    void (*take)(void *ctx, size_t task, const struct exp_result *r);
    double (*seconds)(void *ctx, size_t job); /* as announced to exp_progress */
    void *ctx;
};

struct exp_tasks_options {
    struct exp_store *store; /* NULL: everything is done, and nothing kept */
    unsigned n_threads;
    struct exp_claim_rules rules;
    size_t share, n_shares;        /* only jobs with index mod n_shares == share; n_shares 0: all */
    struct exp_progress *progress; /* gets what is said; may be NULL */
};

struct exp_tasks_counts {
    size_t n_tasks, n_stored, n_run, n_failed; /* of the share */
    size_t n_damaged;                          /* results that were in the store and had to be made again */
    char failure[256];                         /* of one that failed: its name, and why */
};

/*
 * For work that is known only when its turn comes: one task at a time, by a runner of the caller's own. Finds its
 * result: 0, -ENOENT if there is none, or as exp_store_find. Keeps one that was just made, at once.
 */
int exp_tasks_find(struct exp_store *s, const struct exp_task *task, struct exp_result *r, struct exp_why *why);
int exp_tasks_keep(struct exp_store *s, const struct exp_task *task, const struct exp_result *r, double seconds,
                   struct exp_why *why);

/* Returns the first task of a job; for the number of jobs, how many tasks there are. */
size_t exp_tasks_first(const struct exp_tasks *t, size_t job);

/*
 * Does the work. Returns 0, also if tasks have failed, which counts says; -EINTR if interrupted; -ENOMEM if a job says
 * so; or as the functions of store.h; with one line in why. What was finished by then is in the store.
 */
int exp_tasks_run(const struct exp_tasks *t, const struct exp_tasks_options *o, struct exp_tasks_counts *counts,
                  struct exp_why *why);

#endif
