/* Independent jobs on several threads. */
#ifndef EXPERIMENTS_EXP_POOL_H
#define EXPERIMENTS_EXP_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct exp_pool; /* of one call of exp_pool_run */

/* One job: index < n_jobs; thread < n_threads tells which scratch memory is free to use. Returns 0 or -errno. */
typedef int (*exp_pool_job_fn)(void *ctx, size_t index, size_t thread, const struct exp_pool *pool);

/*
 * Runs jobs 0 .. n_jobs-1, begun in that order, each once, on up to n_threads threads, one of them the caller's;
 * returns when all have ended. If the system refuses further threads, it goes on with those it has. The first job that
 * fails stops the pool: no further job begins, and running ones can see it through exp_pool_stopped. interrupted (may
 * be NULL) stops it as well. Returns 0, the error of the job that failed first, -EINTR if interrupted, -EINVAL for 0
 * threads, -ENOMEM. With *failed (may be NULL) as the index of that job, n_jobs if there is none.
 */
int exp_pool_run(size_t n_jobs, size_t n_threads, exp_pool_job_fn job, void *ctx, bool (*interrupted)(void),
                 size_t *failed);

/* Tells a long job whether to give up (and return -ECANCELED, say). Thread-safe. */
bool exp_pool_stopped(const struct exp_pool *pool);

#endif
