/* The work of a step beside its accesses: part of replay.h. */
#include "experiments/bench/replay/replay.h"
#include "kernels/shape/sizes.h"

/* Multiply-add instructions of one call: partial outer products take as long as full products. */
uint64_t exp_replay_mac_instructions(const struct exp_replay_plan *r, const struct conv_step *s)
{
    const struct conv_plan *plan = r->plan;
    const struct sim_issue *issue = r->issue;

    if (s->kind == CONV_STEP_DIRECT)
        return conv_direct_fmas(plan->direct.kernel, &plan->problem, s->n_win / plan->problem.q) * s->n_f;
    if (s->kind != CONV_STEP_UKR || !issue->mac_rows || !issue->mac_columns)
        return 0;
    return (uint64_t)conv_step_live_k(s, plan->problem.r) * ceil_div(s->n_win, issue->mac_columns) *
           ceil_div(s->n_f, issue->mac_rows);
}

/* Inner loops of a micro-kernel step: one per register tile. */
static double loops_of(const struct conv_plan *plan, const struct conv_step *s)
{
    if (s->kind != CONV_STEP_UKR)
        return 0;
    return (double)(ceil_div(s->n_win, plan->ukr->n_win) * ceil_div(s->n_f, plan->ukr->n_f));
}

struct sim_work exp_replay_work(const struct exp_replay_plan *r, const struct conv_step *s,
                                const double work[CONV_N_WORKS])
{
    struct sim_work w = conv_stack_work(r->stack, conv_step_phase(s->kind), work);

    w.macs = (double)exp_replay_mac_instructions(r, s);
    w.loops = loops_of(r->plan, s);
    return w;
}
