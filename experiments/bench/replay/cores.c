/* Replays a plan on several cores, a thread's share on each: part of replay.h. */
#include "experiments/bench/replay/replay.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* The turns of threads. A thread runs only in its own turn. */
struct turns {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned current, n;
    struct worker *worker;
};

struct worker {
    struct sim_sink sink; /* first: accept() finds the object around it */
    struct turns *turns;
    unsigned number;
    struct sim_sink *core;
    struct exp_replay_plan r;
    struct conv_binding bind;
    uint64_t n_accesses, turn_ends; /* of this core */
    bool has_ended;
    uint64_t *mac_instructions;
    pthread_t thread;
    int err;
};

/* Returns the core with the fewest accesses among the cores with work; the asking core without any. */
static unsigned next_of(const struct turns *t, unsigned asking)
{
    unsigned next = asking;

    for (unsigned i = 0; i < t->n; i++) {
        const struct worker *w = &t->worker[i];

        if (!w->has_ended && (t->worker[next].has_ended || w->n_accesses < t->worker[next].n_accesses))
            next = i;
    }
    return next;
}

static void wait_for_turn(struct worker *w)
{
    pthread_mutex_lock(&w->turns->lock);
    while (w->turns->current != w->number)
        pthread_cond_wait(&w->turns->changed, &w->turns->lock);
    pthread_mutex_unlock(&w->turns->lock);
    w->turn_ends = w->n_accesses + EXP_REPLAY_TURN;
}

static void end_turn(struct worker *w)
{
    struct turns *t = w->turns;

    pthread_mutex_lock(&t->lock);
    t->current = next_of(t, w->number);
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct worker *w = (struct worker *)self;

    sim_emit(w->core, run, n_runs, n_times);
    for (size_t i = 0; i < n_runs; i++)
        w->n_accesses += run[i].count * n_times;
    if (w->n_accesses < w->turn_ends)
        return;
    end_turn(w);
    wait_for_turn(w);
}

static void *work(void *arg)
{
    struct worker *w = arg;

    wait_for_turn(w);
    w->err = exp_replay_plan(&w->r, &w->sink, w->mac_instructions);
    w->has_ended = true;
    end_turn(w);
    return NULL;
}

const char *exp_replay_cores_why_not(const struct conv_plan *plan)
{
    if (plan->algorithm == CONV_GEMM)
        return "the threads of OpenBLAS are not modelled";
    if (plan->algorithm == CONV_PLUGIN)
        return "the threads of a plug-in are not modelled";
    if (plan->algorithm == CONV_WINOGRAD)
        return "threads have no shares of Winograd's products";
    if (conv_plan_packs_filters(plan))
        return "threads have no shares of filters that are packed at run time";
    if (plan->algorithm == CONV_SCONV && conv_plan_prepares_image(plan))
        return "threads have no shares of an image that is padded first";
    return NULL;
}

static void prepare(struct worker *w, struct turns *t, unsigned number, const struct exp_replay_plan *r,
                    struct sim_cores *cores)
{
    const struct conv_layout *l = &r->plan->layout;

    *w = (struct worker){ .sink.accept = accept, .turns = t, .number = number, .r = *r };
    w->core = sim_cores_sink(cores, number);
    w->bind = conv_bind(l, CONV_REPLAY_BASE);
    if (number)
        w->bind.addr[CONV_PACKED_INPUT] = CONV_REPLAY_BASE + round_up(l->arena_bytes, CONV_ARENA_ALIGN) +
                                          (number - 1) * round_up(l->bytes[CONV_PACKED_INPUT], CONV_PAGE_BYTES);
    w->r.bind = &w->bind;
    w->r.stack = NULL;
    w->r.thread = number;
    w->r.n_threads = t->n;
}

/* Runs all threads; a thread that cannot start has ended, with an error. */
static int run(struct turns *t)
{
    unsigned n_started = 0;
    int err = 0;

    while (n_started < t->n && !pthread_create(&t->worker[n_started].thread, NULL, work, &t->worker[n_started]))
        n_started++;
    pthread_mutex_lock(&t->lock);
    for (unsigned i = n_started; i < t->n; i++)
        t->worker[i].has_ended = true;
    t->current = 0;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    for (unsigned i = 0; i < n_started; i++) {
        pthread_join(t->worker[i].thread, NULL);
        err = err ? err : t->worker[i].err;
    }
    return n_started < t->n ? -EAGAIN : err;
}

int exp_replay_cores(const struct exp_replay_plan *r, struct sim_cores *cores, unsigned n_cores,
                     uint64_t *mac_instructions)
{
    struct turns t = { .lock = PTHREAD_MUTEX_INITIALIZER,
                       .changed = PTHREAD_COND_INITIALIZER,
                       .current = n_cores, /* no core yet */
                       .n = n_cores,
                       .worker = exp_new(n_cores, sizeof *t.worker) };
    int err;

    for (unsigned i = 0; i < n_cores; i++) {
        prepare(&t.worker[i], &t, i, r, cores);
        t.worker[i].mac_instructions = &mac_instructions[i];
    }
    err = run(&t);
    free(t.worker);
    return err;
}
