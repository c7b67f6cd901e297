#include "experiments/setup/exp_plan_text.h"

#include <stdio.h>

#include "kernels/ukr/dispatch.h"

static void write_sconv(const struct conv_plan *plan, char *text)
{
    const struct csa_tiling *t = &plan->sconv.tiling;
    const struct conv_pack_windows *usual = conv_pack_windows_for(&plan->view, plan->ukr);

    snprintf(text, EXP_PLAN_TEXT_BYTES, "%s %s nc=%zu k2=%zu k3=%zu %s%s%s%s", conv_plan_kernel_name(plan),
             t->schedule == CSA_IS ? "is" : "ws", t->n_c, t->k2, t->k3, conv_plan_windows_name(plan),
             plan->sconv.options.packs_filters ? ", filters too" : "",
             plan->sconv.options.prefetches ? ", prefetching" : "",
             plan->sconv.pack_windows == usual ? "" : ", one by one");
}

static void write_gemm(const struct conv_plan *plan, char *text)
{
    snprintf(text, EXP_PLAN_TEXT_BYTES, "%s gemm p=%zu q=%zu r=%zu %s", conv_plan_kernel_name(plan), plan->gemm.core->p,
             plan->gemm.core->q, plan->gemm.core->r, plan->gemm.needs_im2col ? "lowered" : "in place");
}

static void write_direct(const struct conv_plan *plan, char *text)
{
    snprintf(text, EXP_PLAN_TEXT_BYTES, "%s direct rows=%zu groups=%zu", conv_plan_kernel_name(plan), plan->direct.rows,
             plan->direct.groups);
}

void exp_plan_text(const struct conv_plan *plan, char text[EXP_PLAN_TEXT_BYTES])
{
    static void (*const writers[])(const struct conv_plan *, char *) = {
        [CONV_SCONV] = write_sconv,
        [CONV_GEMM] = write_gemm,
        [CONV_DIRECT] = write_direct,
    };

    writers[plan->algorithm](plan, text);
}
