/* The work of a step beside its accesses: part of replay.h. */
#include "experiments/bench/replay/replay.h"
#include "kernels/backend/resolve.h"
#include "kernels/shape/sizes.h"

/* The work does not depend on where the tensors are. A multiply-add of 512 bits is several of a narrower machine's. */
static struct sim_work work_of_product(const struct exp_replay_plan *r, const struct conv_step *s)
{
    const struct conv_binding nowhere = { .addr = { 0 } };
    const struct conv_product_args a = conv_resolve_product(r->plan, &nowhere, s);
    struct sim_work w = conv_product_work(&a);

    w.macs *= r->issue->mac_columns ? (double)ceil_div(16, r->issue->mac_columns) : 1;
    return w;
}

/* Tells whether the micro-kernel's vectors are as wide as the machine's multiply-adds. */
static bool fits_machine(const struct conv_ukr *u, const struct sim_issue *issue)
{
    return issue->mac_rows == 1 && ((u->isa == CPU_ISA_AVX512 && issue->mac_columns == 16) ||
                                    (u->isa == CPU_ISA_AVX2 && issue->mac_columns == 8));
}

/*
 * Returns the multiply-add instructions of a step of the reduction, as the micro-kernel counts them; of other machines'
 * code and of the libraries' kernels, partial outer products take as long as full products.
 */
static size_t step_macs(const struct conv_ukr *u, const struct sim_issue *issue, const struct conv_step *s)
{
    const size_t left = s->n_win % u->n_win;

    if (!u->step_fmas || !fits_machine(u, issue))
        return ceil_div(s->n_win, issue->mac_columns) * ceil_div(s->n_f, issue->mac_rows);
    return s->n_win / u->n_win * u->step_fmas(u->n_win, s->n_f) + (left ? u->step_fmas(left, s->n_f) : 0);
}

/* OpenBLAS's kernels multiply sums by a factor, and add outputs: a multiply-add for each vector. */
static size_t update_macs(const struct conv_ukr *u, const struct sim_issue *issue, const struct conv_step *s)
{
    return u->splits_edges && fits_machine(u, issue) ? ceil_div(s->n_win, issue->mac_columns) * s->n_f : 0;
}

/* Returns the steps of a call's reduction; of types with several channels in a lane, lanes. */
static size_t steps_of(const struct conv_plan *plan, const struct conv_step *s)
{
    return plan->ukr->type == CONV_F32 ? conv_step_live_k(s, plan->problem.r) : conv_plan_steps(plan, s->n_k);
}

/* Multiply-add instructions of one call. */
uint64_t exp_replay_mac_instructions(const struct exp_replay_plan *r, const struct conv_step *s)
{
    const struct conv_plan *plan = r->plan;
    const struct sim_issue *issue = r->issue;

    if (s->kind == CONV_STEP_DIRECT)
        return conv_direct_fmas(plan->direct.kernel, &plan->problem, s->n_win / plan->problem.q, s->n_f) *
               conv_step_images(s);
    if (s->kind == CONV_STEP_PRODUCT)
        return (uint64_t)work_of_product(r, s).macs;
    if (s->kind != CONV_STEP_UKR || !issue->mac_rows || !issue->mac_columns)
        return 0;
    return (uint64_t)steps_of(plan, s) * step_macs(plan->ukr, issue, s) + update_macs(plan->ukr, issue, s);
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
    struct sim_work w;

    if (s->kind == CONV_STEP_PRODUCT)
        return work_of_product(r, s);
    w = conv_stack_work(r->stack, conv_step_phase(s->kind), work);
    w.macs = (double)exp_replay_mac_instructions(r, s);
    w.loops = loops_of(r->plan, s);
    w.chained_macs = s->kind == CONV_STEP_UKR ? w.loops * (double)steps_of(r->plan, s) : 0;
    return w;
}
