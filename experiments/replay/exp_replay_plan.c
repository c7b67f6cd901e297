#include "experiments/replay/exp_replay_plan.h"

#include <errno.h>

#include "experiments/base/exp_signal.h"
#include "kernels/nest/share.h"
#include "kernels/sizes.h"

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
