#include "experiments/base/exp_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct exp_pool {
    size_t n_jobs;
    exp_pool_job_fn job;
    void *ctx;
    bool (*interrupted)(void);
    atomic_size_t next;
    atomic_bool stop;
    pthread_mutex_t lock; /* guards err and failed */
    int err;
    size_t failed;
};

struct worker {
    struct exp_pool *pool;
    size_t thread;
    pthread_t id;
};

bool exp_pool_stopped(const struct exp_pool *pool)
{
    return atomic_load(&pool->stop) || (pool->interrupted && pool->interrupted());
}

static void stop(struct exp_pool *pool, int err, size_t index)
{
    pthread_mutex_lock(&pool->lock);
    if (!pool->err) {
        pool->err = err;
        pool->failed = index;
    }
    pthread_mutex_unlock(&pool->lock);
    atomic_store(&pool->stop, true);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct exp_pool *pool = w->pool;

    while (!atomic_load(&pool->stop)) {
        size_t index;
        int err;

        /* Asked before a job is taken: a signal after the last one began spoils nothing. */
        if (atomic_load(&pool->next) >= pool->n_jobs)
            break;
        if (pool->interrupted && pool->interrupted()) {
            stop(pool, -EINTR, pool->n_jobs);
            break;
        }
        index = atomic_fetch_add(&pool->next, 1);
        if (index >= pool->n_jobs)
            break;
        err = pool->job(pool->ctx, index, w->thread, pool);
        if (err)
            stop(pool, err, index);
    }
    return NULL;
}

int exp_pool_run(size_t n_jobs, size_t n_threads, exp_pool_job_fn job, void *ctx, bool (*interrupted)(void),
                 size_t *failed)
{
    struct exp_pool pool = { .n_jobs = n_jobs, .job = job, .ctx = ctx, .interrupted = interrupted, .failed = n_jobs };
    struct worker *worker;
    size_t n_started = 1;

    if (failed)
        *failed = n_jobs;
    if (!n_threads)
        return -EINVAL;
    n_threads = n_threads < n_jobs ? n_threads : n_jobs ? n_jobs : 1;
    worker = calloc(n_threads, sizeof *worker);
    if (!worker)
        return -ENOMEM;
    pthread_mutex_init(&pool.lock, NULL);
    for (; n_started < n_threads; n_started++) {
        worker[n_started] = (struct worker){ .pool = &pool, .thread = n_started };
        if (pthread_create(&worker[n_started].id, NULL, work, &worker[n_started]))
            break;
    }
    worker[0] = (struct worker){ .pool = &pool, .thread = 0 };
    work(&worker[0]);
    for (size_t i = 1; i < n_started; i++)
        pthread_join(worker[i].id, NULL);
    pthread_mutex_destroy(&pool.lock);
    free(worker);
    if (failed)
        *failed = pool.failed;
    return pool.err;
}
