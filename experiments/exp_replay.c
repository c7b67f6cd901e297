#include "experiments/exp_replay.h"

#include <errno.h>

#include "experiments/exp_error.h"
#include "experiments/exp_pool.h"
#include "experiments/exp_signal.h"
#include "kernels/backend.h"
#include "sim/hierarchy.h"

/* A replay back-end that gives up between steps when the pool stops. */
struct stoppable {
    struct conv_backend base;
    struct conv_replay replay;
    const struct exp_pool *pool;
};

static int step_unless_stopped(struct conv_backend *self, const struct conv_step *s)
{
    struct stoppable *r = (struct stoppable *)self;

    if (exp_pool_stopped(r->pool))
        return exp_interrupted() ? -EINTR : -ECANCELED;
    return r->replay.base.step(&r->replay.base, s);
}

static int replay_case(struct exp_case *c, const struct sim_machine *m, bool is_warm, const struct exp_pool *pool)
{
    struct stoppable r = { .base.step = step_unless_stopped, .pool = pool };
    struct sim_hierarchy *h;
    int err = sim_hierarchy_new(&h, m);

    if (err)
        return err;
    conv_replay_init(&r.replay, &c->plan, sim_hierarchy_sink(h));
    if (is_warm) {
        err = conv_nest_run(&c->plan, &r.base);
        sim_hierarchy_clear_stats(h);
    }
    if (!err)
        err = conv_nest_run(&c->plan, &r.base);
    if (!err) {
        c->simulated.stats = *sim_hierarchy_stats(h);
        c->simulated.why_not = NULL;
    }
    sim_hierarchy_free(h);
    return err;
}

struct replay_all {
    struct exp_experiment *e;
    bool is_warm;
    struct exp_progress *progress;
};

double exp_replay_weight(const struct exp_case *c)
{
    return 0.65 * conv_macs(&c->layer->problem);
}

static int job(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct replay_all *all = ctx;
    struct exp_case *c = &all->e->cases[index];
    int err = 0;

    (void)thread;
    c->simulated.why_not = c->algo->why_not_replay(all->e->setup);
    if (c->simulated.why_not || c->same_as != index)
        return 0;
    exp_progress_begin(all->progress, (size_t)(c->layer - all->e->model->layer) + 1, c->layer->name, "replaying");
    err = replay_case(c, &all->e->setup->machine, all->is_warm, pool);
    exp_progress_step(all->progress, exp_replay_weight(c));
    return err;
}

int exp_replay_all(struct exp_experiment *e, bool is_warm, unsigned n_threads, struct exp_progress *progress, char *why,
                   size_t why_bytes)
{
    struct replay_all all = { e, is_warm, progress };
    int err = exp_pool_run(e->n_cases, n_threads, job, &all, exp_interrupted, NULL);

    if (err)
        return exp_fail(why, why_bytes, err, err == -EINTR ? "interrupted while replaying" : "out of memory while replaying");
    for (size_t i = 0; i < e->n_cases; i++) {
        if (e->cases[i].same_as != i) {
            e->cases[i].simulated = e->cases[e->cases[i].same_as].simulated;
            e->cases[i].simulated.is_copy = true;
        }
    }
    return 0;
}
