/* A process's lease, renewed for as long as it lives. */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/store/exp_store_sql.h"

enum { BEAT_S = 5 };

/* A beat is only compared with the one before: this process's clock will do. */
int exp_store_renew(struct exp_store *s)
{
    sqlite3_bind_int64(s->statement[EXP_SQL_RENEW], 1, (int64_t)ctr_now_ns());
    exp_store_bind_own(s, EXP_SQL_RENEW);
    return exp_store_run(s, EXP_SQL_RENEW);
}

static int beat(struct exp_store *s, void *arg)
{
    (void)arg;
    return exp_store_renew(s);
}

/* Waits for the time of the next beat. Returns whether there is to be one. */
static bool pause_between_beats(struct exp_store_heart *h)
{
    struct timespec next;
    bool ends;
    int err = 0;

    clock_gettime(CLOCK_MONOTONIC, &next);
    next.tv_sec += BEAT_S;
    pthread_mutex_lock(&h->lock);
    while (!h->ends && !err)
        err = pthread_cond_timedwait(&h->end, &h->lock, &next);
    ends = h->ends;
    pthread_mutex_unlock(&h->lock);
    return !ends;
}

static void *beat_on(void *store)
{
    struct exp_store *s = store;
    struct exp_why why;

    while (pause_between_beats(&s->heart))
        exp_store_transact(s, beat, NULL, &why); /* if it fails: the next one may not */
    return NULL;
}

/* Starts a thread that takes no signals. */
static int start_thread(struct exp_store *s)
{
    pthread_condattr_t clock;
    sigset_t all, before;
    int err;

    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->heart.lock, NULL);
    pthread_cond_init(&s->heart.end, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&s->heart.thread, NULL, beat_on, s) ? -ENOMEM : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

int exp_store_heart_start(struct exp_store *s, struct exp_why *why)
{
    int err = 0;

    pthread_mutex_lock(&s->lock);
    if (!s->heart.beats)
        err = start_thread(s);
    s->heart.beats = !err;
    pthread_mutex_unlock(&s->lock);
    return err ? exp_fail(why, err, "no thread can be started: out of memory, or of threads (ulimit -u)") : 0;
}

void exp_store_heart_end(struct exp_store *s)
{
    struct exp_store_heart *h = &s->heart;

    if (!h->beats)
        return;
    pthread_mutex_lock(&h->lock);
    h->ends = true;
    pthread_cond_signal(&h->end);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    pthread_cond_destroy(&h->end);
    pthread_mutex_destroy(&h->lock);
    h->beats = false;
}
