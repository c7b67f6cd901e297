#include "experiments/replay/exp_replay_plan.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "experiments/base/exp_program.h"
#include "kernels/nest/share.h"
#include "kernels/shape/sizes.h"

/* A replay back-end that gives up between steps when the pool stops. */
struct stoppable {
    struct conv_backend base;
    struct conv_replay replay;
    const struct exp_replay_plan *r;
    uint64_t mac_instructions;
};

/* Multiply-add instructions of one call: outer products that are not full take as long as full ones. */
static uint64_t mac_instructions_of(const struct conv_plan *plan, const struct sim_issue *issue,
                                    const struct conv_step *s)
{
    if (s->kind == CONV_STEP_DIRECT)
        return conv_direct_fmas(plan->direct.kernel, &plan->problem, s->n_win / plan->problem.q) * s->n_f;
    if (s->kind != CONV_STEP_UKR || !issue->mac_rows || !issue->mac_columns)
        return 0;
    return (uint64_t)conv_step_live_k(s, plan->problem.r) * ceil_div(s->n_win, issue->mac_columns) *
           ceil_div(s->n_f, issue->mac_rows);
}

static int step_unless_stopped(struct conv_backend *self, const struct conv_step *s)
{
    struct stoppable *b = (struct stoppable *)self;

    if (b->r->pool && exp_pool_stopped(b->r->pool))
        return exp_interrupted() ? -EINTR : -ECANCELED;
    b->mac_instructions += mac_instructions_of(b->r->plan, b->r->issue, s);
    if (b->r->report && conv_step_computes(s))
        b->r->report(b->r->ctx, (double)s->n_k * (double)s->n_win * (double)s->n_f);
    return b->replay.base.step(&b->replay.base, s);
}

int exp_replay_plan(const struct exp_replay_plan *r, struct sim_sink *sink, uint64_t *mac_instructions)
{
    struct stoppable b = { .base.step = step_unless_stopped, .r = r };
    struct conv_share share;
    int err;

    conv_replay_init(&b.replay, r->plan, sink);
    if (r->bind)
        b.replay.bind = *r->bind;
    conv_replay_set_stack(&b.replay, r->stack);
    if (r->n_threads > 1)
        conv_share_init(&share, &b.base, r->plan, conv_share_choose(r->plan, r->n_threads), r->thread, r->n_threads);
    err = conv_nest_run(r->plan, r->n_threads > 1 ? &share.base : &b.base);
    *mac_instructions = b.mac_instructions;
    return err;
}

/* ---- on several cores ---- */

/* Whose turn it is. A thread runs only in its own. */
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
    uint64_t n_accesses, turn_ends; /* all of this core's */
    bool has_ended;
    uint64_t *mac_instructions;
    pthread_t thread;
    int err;
};

/* Returns the core that has done least among those that have work; the one that asks, if there is none. */
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
    if (conv_plan_packs_filters(plan))
        return "threads have no shares of filters that are packed at run time";
    if (plan->algorithm == CONV_SCONV && plan->sconv.options.pads_first)
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

/* Runs all; a thread that cannot be started has ended, with an error. */
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
                       .current = n_cores, /* nobody yet */
                       .n = n_cores,
                       .worker = calloc(n_cores, sizeof *t.worker) };
    int err;

    if (!t.worker)
        return -ENOMEM;
    for (unsigned i = 0; i < n_cores; i++) {
        prepare(&t.worker[i], &t, i, r, cores);
        t.worker[i].mac_instructions = &mac_instructions[i];
    }
    err = run(&t);
    free(t.worker);
    return err;
}
