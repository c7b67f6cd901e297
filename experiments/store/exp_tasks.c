#define _GNU_SOURCE /* sched_getcpu */
#include "experiments/store/exp_tasks.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_signal.h"

static const double spacing = 150; /* a commit or claim is followed by so many times its own time without another */
static const struct timespec wait_for_others = { .tv_nsec = 100000000 };

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
    size_t n_outcomes, room;
    double next_commit;
    pthread_mutex_t lock; /* of all of these */
    char *why;
    size_t why_bytes;
};

static double now_s(void)
{
    return (double)ctr_now_ns() * 1e-9;
}

static size_t n_tasks_of(const struct runner *r, size_t job)
{
    return r->t->first[job + 1] - r->t->first[job];
}

static int out_of_memory(struct runner *r)
{
    return exp_fail(r->why, r->why_bytes, -ENOMEM, "out of memory");
}

/* ---- reports ---- */

static void report(struct runner *r, size_t job)
{
    char step[96];

    if (!r->o->progress || r->t->reports_itself)
        return;
    snprintf(step, sizeof step, "%s; %zu done, %zu running, %zu left", r->t->doing, r->n_done, r->n_running,
             r->claimed.n - r->claimed.next + r->open.n - r->open.next);
    exp_progress_begin(r->o->progress, r->t->work, r->t->task[r->t->first[job]].name, step);
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
    int err = r->n_outcomes ? exp_store_finish(r->o->store, r->outcome, r->n_outcomes, r->why, r->why_bytes) : 0;

    forget_outcomes(r);
    r->next_commit = now_s() + spacing * (now_s() - begun);
    return err;
}

/* Keeps an outcome until the next commit. Takes over what it owns. */
static int keep(struct runner *r, const struct exp_outcome *o)
{
    if (r->n_outcomes == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        struct exp_outcome *grown = realloc(r->outcome, room * sizeof *grown);

        if (!grown)
            return out_of_memory(r);
        r->outcome = grown;
        r->room = room;
    }
    r->outcome[r->n_outcomes++] = *o;
    return 0;
}

static void note_failure(struct runner *r, size_t task, const char *reason)
{
    if (!r->counts->n_failed++)
        exp_say(r->counts->failure, sizeof r->counts->failure, "%s: %s", r->t->task[task].name, reason);
}

/* Takes a result that was just made, and keeps it. Takes it over. */
static int settle_one(struct runner *r, size_t task, struct exp_result *result, const char *failure, double seconds)
{
    struct exp_outcome o = { .result = *result, .seconds = seconds, .cpu = sched_getcpu() };
    int err = result->err;

    *result = (struct exp_result){ 0 };
    if (failure)
        note_failure(r, task, failure);
    else if (!err)
        err = r->t->take(r->t->ctx, task, &o.result);
    r->counts->n_run += !failure;
    if (err || !r->o->store) {
        exp_result_release(&o.result);
        return err ? out_of_memory(r) : 0;
    }
    o.id = r->id[task];
    o.failure = failure ? strdup(failure) : NULL;
    err = failure && !o.failure ? out_of_memory(r) : keep(r, &o);
    if (err) {
        exp_result_release(&o.result);
        free((char *)o.failure);
    }
    return err;
}

static int settle(struct runner *r, size_t job, struct exp_result *result, const char *failure, double seconds)
{
    size_t n = n_tasks_of(r, job);
    int err = 0;

    for (size_t i = 0; i < n && !err; i++)
        err = settle_one(r, r->t->first[job] + i, &result[i], failure, seconds / (double)n);
    report_end(r, job, true);
    if (!err && r->o->store && now_s() > r->next_commit)
        err = commit(r);
    return err;
}

/* ---- claims ---- */

static int take_stored(struct runner *r, size_t job)
{
    int err = 0;

    for (size_t i = r->t->first[job]; i < r->t->first[job + 1] && !err; i++) {
        struct exp_result result;

        err = exp_store_read(r->o->store, r->id[i], &result, r->why, r->why_bytes);
        if (err)
            return err;
        err = r->t->take(r->t->ctx, i, &result) ? out_of_memory(r) : 0;
        exp_result_release(&result);
        r->counts->n_stored++;
    }
    report_end(r, job, false);
    return err;
}

static void count_failed(struct runner *r, size_t job)
{
    for (size_t i = r->t->first[job]; i < r->t->first[job + 1]; i++)
        note_failure(r, i, "failed before, and is not tried again");
    report_end(r, job, false);
}

/* Puts a job where its claims say. */
static int sort_job(struct runner *r, size_t job, const enum exp_claim *claim)
{
    size_t n_of[EXP_CLAIM_ELSEWHERE + 1] = { 0 };

    for (size_t i = 0; i < n_tasks_of(r, job); i++)
        n_of[claim[i]]++;
    if (n_of[EXP_CLAIM_ELSEWHERE])
        r->open.job[r->open.n++] = job; /* there is room: it has just left the front */
    else if (n_of[EXP_CLAIM_DONE] == n_tasks_of(r, job))
        return take_stored(r, job);
    else if (n_of[EXP_CLAIM_FAILED])
        count_failed(r, job);
    else
        r->claimed.job[r->claimed.n++] = job;
    return 0;
}

/* Claims more jobs the faster the last ones were worked off. */
static void set_chunk(struct runner *r)
{
    double passed = now_s() - r->claimed_at;

    if (passed < spacing * r->claim_seconds)
        r->chunk *= 2;
    else if (passed > 4 * spacing * r->claim_seconds && r->chunk > r->o->n_threads)
        r->chunk /= 2;
}

/* Moves what is open to the front of its list. */
static void compact(struct queue *q)
{
    memmove(q->job, q->job + q->next, (q->n - q->next) * sizeof *q->job);
    q->n -= q->next;
    q->next = 0;
}

static int claim_jobs(struct runner *r, size_t n_jobs)
{
    size_t n = 0, done = 0;
    enum exp_claim *claim;
    int64_t *id;
    int err = 0;

    for (size_t j = 0; j < n_jobs; j++)
        n += n_tasks_of(r, r->open.job[j]);
    claim = calloc(n, sizeof *claim); /* all zero: taken, as they are without a store */
    id = calloc(n, sizeof *id);
    for (size_t j = 0; j < n_jobs && id && r->id; j++) {
        memcpy(id + done, r->id + r->t->first[r->open.job[j]], n_tasks_of(r, r->open.job[j]) * sizeof *id);
        done += n_tasks_of(r, r->open.job[j]);
    }
    if (!claim || !id)
        err = out_of_memory(r);
    else if (r->o->store)
        err = exp_store_claim(r->o->store, id, n, &r->o->rules, claim, r->why, r->why_bytes);
    done = 0;
    for (size_t j = 0; j < n_jobs && !err; j++) {
        size_t job = r->open.job[r->open.next++];

        err = sort_job(r, job, claim + done);
        done += n_tasks_of(r, job);
    }
    free(claim);
    free(id);
    return err;
}

/* Claims jobs until there is one to run, or none that is not elsewhere. */
static int refill(struct runner *r)
{
    size_t left = r->open.n - r->open.next; /* each is looked at once */
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
            r->chunk *= 2;
        if (exp_interrupted())
            return -EINTR;
    }
    r->claimed_at = now_s();
    r->claim_seconds = r->claimed_at - begun;
    return err;
}

/* Finds a job to run. Returns 0 with *job; -EAGAIN if others work on all that is left; -ENOENT if nothing is left. */
static int next_job(struct runner *r, size_t *job)
{
    int err = r->claimed.next < r->claimed.n ? 0 : refill(r);

    if (err)
        return err;
    if (r->claimed.next == r->claimed.n)
        return r->open.next < r->open.n ? -EAGAIN : -ENOENT;
    *job = r->claimed.job[r->claimed.next++];
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
    struct exp_result *result = calloc(n_tasks_of(r, job), sizeof *result);
    char why[256] = "";
    double begun = now_s();
    int err = result ? r->t->run(r->t->ctx, job, pool, result, why, sizeof why) : -ENOMEM;

    pthread_mutex_lock(&r->lock);
    r->n_running--;
    if (is_end(err))
        exp_fail(r->why, r->why_bytes, err, err == -ENOMEM ? "out of memory" : "interrupted while %s", r->t->doing);
    else
        err = settle(r, job, result, err ? why : NULL, now_s() - begun);
    pthread_mutex_unlock(&r->lock);
    for (size_t i = 0; i < n_tasks_of(r, job) && result; i++)
        exp_result_release(&result[i]);
    free(result);
    return err;
}

static int work(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct runner *r = ctx;
    int err = 0;

    (void)index;
    (void)thread;
    while (!err && !exp_pool_stopped(pool)) {
        size_t job = 0;

        pthread_mutex_lock(&r->lock);
        err = next_job(r, &job);
        pthread_mutex_unlock(&r->lock);
        if (!err)
            err = run_job(r, job, pool);
        else if (err == -EAGAIN)
            err = nanosleep(&wait_for_others, NULL) ? -EINTR : 0;
    }
    return err == -ENOENT ? 0 : err;
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
    r->id = calloc(r->t->first[r->t->n_jobs] + 1, sizeof *r->id);
    return r->id ? exp_store_add(r->o->store, r->t->task, r->t->first[r->t->n_jobs], r->id, r->why, r->why_bytes)
                 : out_of_memory(r);
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
                  char *why, size_t why_bytes)
{
    struct runner r = { .t = t, .o = o, .counts = counts, .chunk = o->n_threads, .why = why, .why_bytes = why_bytes };
    int err, committed;

    *counts = (struct exp_tasks_counts){ 0 };
    pthread_mutex_init(&r.lock, NULL);
    r.open.job = calloc(2 * t->n_jobs + 1, sizeof *r.open.job);
    r.claimed.job = calloc(t->n_jobs + 1, sizeof *r.claimed.job);
    r.claimed_at = now_s();
    err = r.open.job && r.claimed.job ? list_jobs(&r) : out_of_memory(&r);
    if (!err)
        err = exp_pool_run(o->n_threads, o->n_threads, work, &r, exp_interrupted, NULL);
    if (err == -EINTR)
        exp_fail(why, why_bytes, err, "interrupted while %s; what is done is kept", t->doing);
    committed = o->store && r.id ? commit(&r) : 0;
    release(&r);
    return err ? err : committed;
}
