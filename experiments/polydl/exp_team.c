#include "experiments/polydl/exp_team.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct exp_team {
    size_t n_threads, n_started; /* without the caller */
    atomic_uint round;           /* the work that is to be done; the last one is to end */
    atomic_size_t n_busy;
    bool ends;
    void (*work)(void *ctx, size_t thread, size_t n_threads);
    void *ctx;
    struct member {
        struct exp_team *team;
        size_t number;
        pthread_t thread;
    } member[];
};

static void *serve(void *arg)
{
    struct member *m = arg;
    struct exp_team *t = m->team;

    for (unsigned done = 0;;) {
        while (atomic_load_explicit(&t->round, memory_order_acquire) == done)
            sched_yield();
        done++;
        if (t->ends)
            return NULL;
        t->work(t->ctx, m->number, t->n_threads);
        atomic_fetch_sub_explicit(&t->n_busy, 1, memory_order_release);
    }
}

int exp_team_new(struct exp_team **team, size_t n_threads)
{
    struct exp_team *t = calloc(1, sizeof *t + n_threads * sizeof t->member[0]);
    int err = t ? 0 : ENOMEM;

    *team = t;
    for (size_t i = 1; i < n_threads && !err; i++) {
        t->member[i] = (struct member){ .team = t, .number = i };
        err = pthread_create(&t->member[i].thread, NULL, serve, &t->member[i]);
        t->n_started += !err;
    }
    if (t)
        t->n_threads = n_threads;
    if (err) {
        exp_team_free(t);
        *team = NULL;
    }
    return -err;
}

static void begin(struct exp_team *t)
{
    atomic_store_explicit(&t->n_busy, t->n_started, memory_order_relaxed);
    atomic_fetch_add_explicit(&t->round, 1, memory_order_release);
}

void exp_team_run(struct exp_team *t, void (*work)(void *ctx, size_t thread, size_t n_threads), void *ctx)
{
    t->work = work;
    t->ctx = ctx;
    begin(t);
    work(ctx, 0, t->n_threads);
    while (atomic_load_explicit(&t->n_busy, memory_order_acquire))
        sched_yield();
}

void exp_team_free(struct exp_team *t)
{
    if (!t)
        return;
    t->ends = true;
    begin(t);
    for (size_t i = 1; i <= t->n_started; i++)
        pthread_join(t->member[i].thread, NULL);
    free(t);
}
