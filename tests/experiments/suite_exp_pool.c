/* The thread pool. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "experiments/base/tasks.h"
#include "tests/suites.h"

enum { MAX_JOBS = 500, MAX_THREADS = 8 };

struct jobs {
    atomic_uint n_runs[MAX_JOBS];
    atomic_bool is_busy[MAX_THREADS];
    atomic_uint n_clashes, n_begun, n_saw_stop;
    size_t fails_at;
};

static int count_job(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct jobs *j = ctx;

    (void)pool;
    if (thread >= MAX_THREADS || atomic_exchange(&j->is_busy[thread], true))
        atomic_fetch_add(&j->n_clashes, 1); /* two jobs with one thread's scratch memory */
    atomic_fetch_add(&j->n_runs[index], 1);
    atomic_fetch_add(&j->n_begun, 1);
    if (thread < MAX_THREADS)
        atomic_store(&j->is_busy[thread], false);
    return index == j->fails_at ? -EIO : 0;
}

static void check_once_each(size_t n_jobs, size_t n_threads)
{
    static struct jobs j;
    size_t failed = 0;

    memset(&j, 0, sizeof j);
    j.fails_at = MAX_JOBS;
    CU_ASSERT_EQUAL(exp_pool_run(n_jobs, n_threads, count_job, &j, NULL, &failed), 0);
    CU_ASSERT_EQUAL(failed, n_jobs);
    test_check(atomic_load(&j.n_clashes) == 0, "%zu threads clash", n_threads);
    for (size_t i = 0; i < MAX_JOBS; i++)
        test_check(atomic_load(&j.n_runs[i]) == (i < n_jobs), "job %zu of %zu on %zu threads", i, n_jobs, n_threads);
}

static void test_pool_runs_all(void)
{
    static const size_t n_jobs[] = { 0, 1, 2, 7, MAX_JOBS };

    for (size_t i = 0; i < COUNT(n_jobs); i++) {
        for (size_t n_threads = 1; n_threads <= MAX_THREADS; n_threads++)
            check_once_each(n_jobs[i], n_threads);
    }
}

static void test_pool_failure(void)
{
    static struct jobs j;
    size_t failed = 0;

    memset(&j, 0, sizeof j);
    j.fails_at = 3;
    CU_ASSERT_EQUAL(exp_pool_run(MAX_JOBS, 1, count_job, &j, NULL, &failed), -EIO);
    CU_ASSERT_EQUAL(failed, 3);
    CU_ASSERT_EQUAL(atomic_load(&j.n_begun), 4); /* no job after the failed job */
    CU_ASSERT_EQUAL(exp_pool_run(MAX_JOBS, 4, count_job, &j, NULL, &failed), -EIO);
    CU_ASSERT_EQUAL(failed, 3);
    CU_ASSERT_EQUAL(exp_pool_run(1, 0, count_job, &j, NULL, NULL), -EINVAL);
}

/* Lets job 0 wait for the stop that job 1 causes: two threads are really at work, and the flag reaches both. */
static int waiting_job(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct jobs *j = ctx;

    (void)thread;
    if (index == 1)
        return -EPROTO;
    for (time_t start = time(NULL); !exp_pool_stopped(pool);) {
        if (time(NULL) - start > 10)
            return -ETIMEDOUT;
    }
    atomic_fetch_add(&j->n_saw_stop, 1);
    return -ECANCELED; /* does not hide the first error */
}

static void test_pool_stop_reaches_others(void)
{
    static struct jobs j;
    size_t failed = 0;

    memset(&j, 0, sizeof j);
    CU_ASSERT_EQUAL(exp_pool_run(2, 2, waiting_job, &j, NULL, &failed), -EPROTO);
    CU_ASSERT_EQUAL(failed, 1);
    CU_ASSERT_EQUAL(atomic_load(&j.n_saw_stop), 1);
}

static bool always(void)
{
    return true;
}

static void test_pool_interrupted(void)
{
    static struct jobs j;
    size_t failed = 0;

    memset(&j, 0, sizeof j);
    CU_ASSERT_EQUAL(exp_pool_run(MAX_JOBS, 2, count_job, &j, always, &failed), -EINTR);
    CU_ASSERT_EQUAL(failed, MAX_JOBS);
    CU_ASSERT_EQUAL(atomic_load(&j.n_begun), 0);
}

static const struct test_case cases[] = {
    { "each job runs once, each thread has its own number", test_pool_runs_all },
    { "a failing job stops the pool", test_pool_failure },
    { "running jobs see that the pool has stopped", test_pool_stop_reaches_others },
    { "an interruption stops the pool", test_pool_interrupted },
    { NULL, NULL },
};

const struct test_suite suite_exp_pool = { "exp_pool", cases };
