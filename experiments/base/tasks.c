#define _GNU_SOURCE /* sched_getcpu */
#include "experiments/base/tasks.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"

/* ---- threads ---- */

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

static void *do_jobs(void *arg)
{
    struct worker *w = arg;
    struct exp_pool *pool = w->pool;

    while (!atomic_load(&pool->stop)) {
        size_t index;
        int err;

        /* Asked before a job is taken: a signal after the last job began spoils nothing. */
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

    assert(job || !n_jobs);
    if (failed)
        *failed = n_jobs;
    if (!n_threads)
        return -EINVAL;
    n_threads = n_threads < n_jobs ? n_threads : n_jobs ? n_jobs : 1;
    worker = exp_new(n_threads, sizeof *worker);
    pthread_mutex_init(&pool.lock, NULL);
    for (; n_started < n_threads; n_started++) {
        worker[n_started] = (struct worker){ .pool = &pool, .thread = n_started };
        if (pthread_create(&worker[n_started].id, NULL, do_jobs, &worker[n_started]))
            break;
    }
    worker[0] = (struct worker){ .pool = &pool, .thread = 0 };
    do_jobs(&worker[0]);
    for (size_t i = 1; i < n_started; i++)
        pthread_join(worker[i].id, NULL);
    pthread_mutex_destroy(&pool.lock);
    free(worker);
    if (failed)
        *failed = pool.failed;
    return pool.err;
}

static const double spacing = 150; /* after a commit or claim, the next one waits for this multiple of its time */
static const struct timespec wait_for_others = { .tv_nsec = 100000000 };
static const double said_after = 0.1; /* share of the time after which a silent process is taken for dead */

/* A list of jobs, used from its front. */
struct queue {
    size_t *job;
    size_t next, n;
};

struct runner {
    const struct exp_tasks *t;
    const struct exp_tasks_options *o;
    struct exp_tasks_counts *counts;
    int64_t *id;          /* [tasks] in the store */
    struct queue open;    /* to be claimed */
    struct queue claimed; /* to be run */
    size_t chunk;         /* jobs to claim next time */
    double claimed_at, claim_seconds;
    size_t n_done, n_running;    /* jobs */
    struct exp_outcome *outcome; /* not committed yet */
    size_t n_outcomes;
    double next_commit;
    double waits_since, say_next; /* start of the waiting, time of the next message; 0: does not wait */
    pthread_mutex_t lock;         /* of all members above */
    struct exp_why *why;
};

static double now_s(void)
{
    return (double)ctr_now_ns() * 1e-9;
}

size_t exp_tasks_first(const struct exp_tasks *t, size_t job)
{
    assert(job <= t->n_jobs);
    return t->first ? t->first[job] : job;
}

static size_t first_of(const struct runner *r, size_t job)
{
    return exp_tasks_first(r->t, job);
}

static size_t n_tasks_of(const struct runner *r, size_t job)
{
    return first_of(r, job + 1) - first_of(r, job);
}

/* ---- reports ---- */

static void report(struct runner *r, size_t job)
{
    char step[96];

    if (!r->o->progress || r->t->reports_itself)
        return;
    snprintf(step, sizeof step, "%s; %zu done, %zu running, %zu left", r->t->doing, r->n_done, r->n_running,
             r->claimed.n - r->claimed.next + r->open.n - r->open.next);
    exp_progress_begin(r->o->progress, r->t->work, r->t->task[first_of(r, job)].name, step);
}

static void report_end(struct runner *r, size_t job, bool was_run)
{
    r->n_done++;
    if (r->o->progress && !(was_run && r->t->reports_itself))
        (was_run ? exp_progress_step : exp_progress_drop)(r->o->progress, r->t->work, r->t->seconds(r->t->ctx, job));
}

/* ---- outcomes ---- */

static void forget_outcomes(struct runner *r)
{
    for (size_t i = 0; i < r->n_outcomes; i++) {
        exp_result_release(&r->outcome[i].result);
        free((char *)r->outcome[i].failure);
    }
    r->n_outcomes = 0;
}

static int commit(struct runner *r)
{
    double begun = now_s();
    int err = r->n_outcomes ? exp_store_finish(r->o->store, r->outcome, r->n_outcomes, r->why) : 0;

    forget_outcomes(r);
    r->next_commit = now_s() + spacing * (now_s() - begun);
    return err;
}

static int fail_kept(const struct exp_task *task, int err, struct exp_why *why)
{
    return exp_fail(why, err, "%s: its result cannot be kept: %s", task->name, strerror(-err));
}

static void note_failure(struct runner *r, size_t task, const char *reason)
{
    if (!r->counts->n_failed++)
        exp_say(r->counts->failure, sizeof r->counts->failure, "%s: %s", r->t->task[task].name, reason);
}

/* Takes over a new result, and keeps the result until the next commit. */
static int settle_one(struct runner *r, size_t task, struct exp_result *result, const char *failure, double seconds)
{
    struct exp_outcome *o;

    if (failure)
        note_failure(r, task, failure);
    else if (result->err)
        return fail_kept(&r->t->task[task], result->err, r->why);
    else
        r->t->take(r->t->ctx, task, result);
    r->counts->n_run += !failure;
    if (!r->o->store)
        return 0;
    o = exp_append(&r->outcome, &r->n_outcomes, sizeof *o);
    *o = (struct exp_outcome){ .id = r->id[task],
                               .task = &r->t->task[task],
                               .result = *result,
                               .failure = failure ? exp_copy_text(failure) : NULL,
                               .seconds = seconds,
                               .cpu = sched_getcpu() };
    *result = (struct exp_result){ 0 };
    return 0;
}

static int settle(struct runner *r, size_t job, struct exp_result *result, const char *failure, double seconds)
{
    size_t n = n_tasks_of(r, job);
    int err = 0;

    for (size_t i = 0; i < n && !err; i++)
        err = settle_one(r, first_of(r, job) + i, &result[i], failure, seconds / (double)n);
    report_end(r, job, true);
    if (!err && r->o->store && now_s() > r->next_commit)
        err = commit(r);
    return err;
}

/* ---- claims ---- */

/* Reports damaged results, the first time. */
static void note_damaged(struct runner *r, const char *what)
{
    if (!r->counts->n_damaged++ && r->o->progress)
        exp_progress_note(r->o->progress, "%s; it is made again, as are all others like it", what);
}

/*
 * Reads the stored results of a job's tasks. A damaged result is removed: by this process, or by another process since
 * the claim.
 */
static int read_stored(struct runner *r, size_t job, struct exp_result *result, bool *is_whole)
{
    const size_t first = first_of(r, job);
    int err = 0;

    *is_whole = true;
    for (size_t i = 0; i < n_tasks_of(r, job) && !err; i++) {
        err = exp_store_read(r->o->store, r->id[first + i], &r->t->task[first + i], &result[i], r->why);
        if (err != -EBADMSG && err != -ENOENT)
            continue;
        *is_whole = false;
        if (err == -EBADMSG)
            note_damaged(r, r->why->text);
        err = exp_store_discard(r->o->store, r->id[first + i], r->why);
    }
    return err;
}

static void take_all(struct runner *r, size_t job, const struct exp_result *result)
{
    for (size_t i = 0; i < n_tasks_of(r, job); i++)
        r->t->take(r->t->ctx, first_of(r, job) + i, &result[i]);
    r->counts->n_stored += n_tasks_of(r, job);
    report_end(r, job, false);
}

static void release_results(const struct runner *r, size_t job, struct exp_result *result)
{
    for (size_t i = 0; i < n_tasks_of(r, job); i++)
        exp_result_release(&result[i]);
    free(result);
}

static int take_stored(struct runner *r, size_t job)
{
    struct exp_result *result = exp_new(n_tasks_of(r, job), sizeof *result);
    bool is_whole = false;
    int err = read_stored(r, job, result, &is_whole);

    if (!err && is_whole)
        take_all(r, job, result);
    else if (!err)
        r->open.job[r->open.n++] = job; /* as a job never done */
    release_results(r, job, result);
    return err;
}

static void count_failed(struct runner *r, size_t job)
{
    for (size_t i = first_of(r, job); i < first_of(r, job + 1); i++)
        note_failure(r, i, "failed before, and is not tried again");
    report_end(r, job, false);
}

/* Puts a job into the queue that the claims ask for. */
static int sort_job(struct runner *r, size_t job, const enum exp_claim *claim)
{
    size_t n_of[EXP_CLAIM_ELSEWHERE + 1] = { 0 };

    for (size_t i = 0; i < n_tasks_of(r, job); i++)
        n_of[claim[i]]++;
    if (n_of[EXP_CLAIM_ELSEWHERE])
        r->open.job[r->open.n++] = job; /* there is room: the job has just left the front */
    else if (n_of[EXP_CLAIM_DONE] == n_tasks_of(r, job))
        return take_stored(r, job);
    else if (n_of[EXP_CLAIM_FAILED])
        count_failed(r, job);
    else
        r->claimed.job[r->claimed.n++] = job;
    return 0;
}

/* Doubles the number of jobs per claim, up to all jobs, without overflow after long waiting. */
static void grow_chunk(struct runner *r)
{
    if (r->chunk < r->t->n_jobs)
        r->chunk *= 2;
}

/* Claims more jobs, the faster the last jobs were done. */
static void set_chunk(struct runner *r)
{
    double passed = now_s() - r->claimed_at;

    if (passed < spacing * r->claim_seconds)
        grow_chunk(r);
    else if (passed > 4 * spacing * r->claim_seconds && r->chunk > r->o->n_threads)
        r->chunk /= 2;
}

/* Moves the open jobs to the front of the list. */
static void compact(struct queue *q)
{
    memmove(q->job, q->job + q->next, (q->n - q->next) * sizeof *q->job);
    q->n -= q->next;
    q->next = 0;
}

/*
 * Lists the tasks of open jobs from `from` to before `end`, by their numbers in the store. Returns the number of tasks.
 */
static size_t list_ids(const struct runner *r, size_t from, size_t end, int64_t *id)
{
    size_t n = 0;

    for (size_t j = from; j < end; j++) {
        const size_t n_tasks = n_tasks_of(r, r->open.job[j]);

        if (id && r->id)
            memcpy(id + n, r->id + first_of(r, r->open.job[j]), n_tasks * sizeof *id);
        n += n_tasks;
    }
    return n;
}

static int claim_jobs(struct runner *r, size_t n_jobs)
{
    size_t n = list_ids(r, 0, n_jobs, NULL), done = 0;
    enum exp_claim *claim;
    int64_t *id;
    int err = 0;

    claim = exp_new(n, sizeof *claim); /* all zero: taken, as without a store */
    id = exp_new(n, sizeof *id);
    list_ids(r, 0, n_jobs, id);
    if (r->o->store)
        err = exp_store_claim(r->o->store, id, n, &r->o->rules, claim, r->why);
    for (size_t j = 0; j < n_jobs && !err; j++) {
        size_t job = r->open.job[r->open.next++];

        err = sort_job(r, job, claim + done);
        done += n_tasks_of(r, job);
    }
    free(claim);
    free(id);
    return err;
}

/* Claims jobs until a job can run, or until all remaining jobs are elsewhere. */
static int refill(struct runner *r)
{
    size_t left = r->open.n - r->open.next; /* each job is looked at once */
    double begun;
    int err = r->o->store ? commit(r) : 0;

    set_chunk(r);
    begun = now_s();
    r->claimed.next = r->claimed.n = 0;
    while (!err && left && !r->claimed.n) {
        size_t n = left < r->chunk ? left : r->chunk;

        compact(&r->open);
        err = claim_jobs(r, n);
        left -= n;
        if (!r->claimed.n)
            grow_chunk(r);
        if (exp_interrupted())
            return -EINTR;
    }
    r->claimed_at = now_s();
    r->claim_seconds = r->claimed_at - begun;
    return err;
}

/* ---- waiting ---- */

static void say_whose(struct runner *r, const struct exp_waiting *w)
{
    char others[64] = "", where[96] = "this computer", until[160];

    if (w->n_tasks > w->n_of_whose)
        exp_say(others, sizeof others, " (and %zu of others)", w->n_tasks - w->n_of_whose);
    exp_say(until, sizeof until, "when it ends, they are done here");
    if (!w->is_here) {
        exp_say(where, sizeof where, "%s, %s%s", w->whose.host, *w->seen ? "last heard of " : "never heard of",
                w->seen);
        exp_say(until, sizeof until, "if it is silent for %.0f s more, they are done here", w->left_s);
    }
    exp_progress_note(r->o->progress, "waiting for %zu tasks%s of process %lld on %s: %s; STORE=no waits for nobody",
                      w->n_of_whose, others, (long long)w->whose.pid, where, until);
}

static int say_waiting(struct runner *r)
{
    const size_t n = list_ids(r, r->open.next, r->open.n, NULL);
    int64_t *id = exp_new(n, sizeof *id);
    struct exp_waiting w;
    int err;

    list_ids(r, r->open.next, r->open.n, id);
    err = exp_store_waiting(r->o->store, id, n, &r->o->rules, &w, r->why);
    if (!err && w.n_tasks)
        say_whose(r, &w);
    free(id);
    return err;
}

/* Says now and then which process this process waits for. */
static int note_waiting(struct runner *r)
{
    const double silence = r->o->rules.silence_s > 0 ? r->o->rules.silence_s : EXP_STORE_SILENCE_S, now = now_s();

    if (!r->waits_since) {
        r->waits_since = now;
        r->say_next = now + said_after * silence;
    }
    if (now < r->say_next || !r->o->progress)
        return 0;
    r->say_next = now + silence;
    return say_waiting(r);
}

/* The next thing to do. */
enum next { NEXT_JOB, NEXT_WAITS /* others work on all that is left */, NEXT_NOTHING };

static int next_job(struct runner *r, size_t *job, enum next *next)
{
    int err = r->claimed.next < r->claimed.n ? 0 : refill(r);

    if (err)
        return err;
    if (r->claimed.next == r->claimed.n) {
        *next = r->open.next < r->open.n ? NEXT_WAITS : NEXT_NOTHING;
        return *next == NEXT_WAITS ? note_waiting(r) : 0;
    }
    *next = NEXT_JOB;
    *job = r->claimed.job[r->claimed.next++];
    r->waits_since = 0;
    r->n_running++;
    report(r, *job);
    return 0;
}

/* ---- work ---- */

static bool is_end(int err)
{
    return err == -EINTR || err == -ECANCELED || err == -ENOMEM;
}

static int run_job(struct runner *r, size_t job, const struct exp_pool *pool)
{
    struct exp_result *result = exp_new(n_tasks_of(r, job), sizeof *result);
    struct exp_why why = { "" };
    double begun = now_s();
    int err = r->t->run(r->t->ctx, job, pool, result, &why);

    pthread_mutex_lock(&r->lock);
    r->n_running--;
    if (err && !*why.text)
        exp_fail(&why, err, "%s", exp_error_text(err));
    if (err == -ENOMEM)
        exp_fail(r->why, err, "%s", why.text);
    if (!is_end(err)) /* a stopped pool has said why */
        err = settle(r, job, result, err ? why.text : NULL, now_s() - begun);
    pthread_mutex_unlock(&r->lock);
    release_results(r, job, result);
    return err;
}

static int work(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct runner *r = ctx;
    enum next next = NEXT_JOB;
    int err = 0;

    (void)index;
    (void)thread;
    while (!err && next != NEXT_NOTHING && !exp_pool_stopped(pool)) {
        size_t job = 0;

        pthread_mutex_lock(&r->lock);
        err = next_job(r, &job, &next);
        pthread_mutex_unlock(&r->lock);
        if (!err && next == NEXT_JOB)
            err = run_job(r, job, pool);
        else if (!err && next == NEXT_WAITS)
            err = nanosleep(&wait_for_others, NULL) ? -EINTR : 0;
    }
    return err;
}

static int list_jobs(struct runner *r)
{
    for (size_t j = 0; j < r->t->n_jobs; j++) {
        if (r->o->n_shares && j % r->o->n_shares != r->o->share)
            continue;
        r->open.job[r->open.n++] = j;
        r->counts->n_tasks += n_tasks_of(r, j);
    }
    if (!r->o->store)
        return 0;
    r->id = exp_new(first_of(r, r->t->n_jobs), sizeof *r->id);
    return exp_store_add(r->o->store, r->t->task, first_of(r, r->t->n_jobs), r->id, r->why);
}

static void release(struct runner *r)
{
    forget_outcomes(r);
    free(r->outcome);
    free(r->open.job);
    free(r->claimed.job);
    free(r->id);
    pthread_mutex_destroy(&r->lock);
}

int exp_tasks_run(const struct exp_tasks *t, const struct exp_tasks_options *o, struct exp_tasks_counts *counts,
                  struct exp_why *why)
{
    struct runner r = { .t = t, .o = o, .counts = counts, .chunk = o->n_threads, .why = why };
    int err, committed;

    assert(counts && (!o->n_shares || o->share < o->n_shares));
    *counts = (struct exp_tasks_counts){ 0 };
    pthread_mutex_init(&r.lock, NULL);
    r.open.job = exp_new(2 * t->n_jobs, sizeof *r.open.job);
    r.claimed.job = exp_new(t->n_jobs, sizeof *r.claimed.job);
    r.claimed_at = now_s();
    err = list_jobs(&r);
    if (!err)
        err = exp_pool_run(o->n_threads, o->n_threads, work, &r, exp_interrupted, NULL);
    if (err == -EINTR)
        exp_fail(why, err, "interrupted while %s; what is done is kept", t->doing);
    committed = o->store && r.id ? commit(&r) : 0;
    release(&r);
    return err ? err : committed;
}

/* ---- one task, asked for by itself ---- */

int exp_tasks_find(struct exp_store *s, const struct exp_task *task, struct exp_result *r, struct exp_why *why)
{
    int64_t id;
    int err = s ? exp_store_find(s, task, &id, why) : -ENOENT;

    *r = (struct exp_result){ 0 };
    if (!err)
        err = exp_store_read(s, id, task, r, why);
    if (err != -EBADMSG)
        return err;
    fprintf(stderr, "%s; it is made again\n", why->text);
    err = exp_store_discard(s, id, why);
    return err ? err : -ENOENT;
}

int exp_tasks_keep(struct exp_store *s, const struct exp_task *task, const struct exp_result *r, double seconds,
                   struct exp_why *why)
{
    struct exp_outcome o = { .task = task, .result = *r, .seconds = seconds, .cpu = sched_getcpu() };
    int err = r->err;

    if (!s)
        return 0;
    if (err)
        return fail_kept(task, err, why);
    err = exp_store_add(s, task, 1, &o.id, why);
    return err ? err : exp_store_finish(s, &o, 1, why);
}
