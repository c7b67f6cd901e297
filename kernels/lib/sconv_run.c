/* Runs of a plan: its nest, executed by one thread or shared out in a team. */
#include "kernels/lib/sconv_inside.h"

#include <stdint.h>

#include "kernels/backend/backend.h"
#include "kernels/lib/team.h"
#include "kernels/shape/sizes.h"

/* The data that all threads of a run share, and the result of each thread. */
struct thread_run {
    const struct sconv_plan *plan;
    struct conv_binding bind;
    uint64_t residual;
    int err[SCONV_MAX_THREADS];
};

static void run_part(void *ctx, unsigned number)
{
    struct thread_run *r = ctx;
    const struct sconv_plan *plan = r->plan;
    bool is_fused = plan->bias || plan->adds_residual || plan->activation != CONV_ACTIVATION_NONE;
    struct conv_binding bind = r->bind;
    const struct conv_after after = {
        .out = bind.addr[CONV_OUTPUT],
        .bias = (uintptr_t)plan->bias,
        .residual = r->residual,
        .activation = plan->activation,
    };
    struct conv_exec exec;
    struct conv_fused fused;
    struct conv_share share;

    bind.addr[CONV_PACKED_INPUT] += number * plan->thread_bytes;
    bind.addr[CONV_IM2COL] = bind.addr[CONV_PACKED_INPUT] + plan->packed_bytes;
    conv_exec_init(&exec, &plan->plan, &bind);
    conv_fused_init(&fused, &exec.base, &plan->plan, &after, NULL);
    conv_fused_gather(&fused);
    conv_share_init(&share, is_fused ? &fused.base : &exec.base, &plan->plan, plan->axis, number, plan->n_threads);
    r->err[number] = conv_nest_run(&plan->plan, plan->n_threads > 1 ? &share.base
                                                : is_fused          ? &fused.base
                                                                    : &exec.base);
    conv_fused_end(&fused);
}

int sconv_team_run(struct sconv_team *team, const struct sconv_plan *plan, const float *src, float *dst,
                   const float *residual, void *workspace, size_t workspace_bytes)
{
    struct thread_run r = { .plan = plan, .residual = (uintptr_t)residual };
    int err = conv_check_run(plan, src, dst, residual, workspace, workspace_bytes, SIM_NO_WHY);

    if (err)
        return err;
    r.bind.addr[CONV_INPUT] = (uintptr_t)src;
    r.bind.addr[CONV_OUTPUT] = (uintptr_t)dst;
    r.bind.addr[conv_filter_tensor(plan)] = (uintptr_t)plan->packed;
    r.bind.addr[CONV_PACKED_INPUT] = round_up((uintptr_t)workspace, CONV_WORKSPACE_ALIGN);
    conv_team_run(team, plan->n_threads, &(struct conv_team_job){ run_part, &r });
    for (unsigned i = 0; i < plan->n_threads && !err; i++)
        err = r.err[i];
    return err;
}

int sconv_run(const struct sconv_plan *plan, const float *src, float *dst, const float *residual, void *workspace,
              size_t workspace_bytes)
{
    return sconv_team_run(NULL, plan, src, dst, residual, workspace, workspace_bytes);
}
