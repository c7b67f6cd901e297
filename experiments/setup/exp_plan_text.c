#include "experiments/setup/exp_plan_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernels/csa/csa2.h"
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

static const struct conv_ukr *find_ukr(const struct conv_plan *other, const char *name)
{
    return !strcmp(conv_plan_kernel_name(other), name) ? other->ukr : conv_ukr_find(name);
}

int exp_plan_of_text(struct conv_plan *plan, const struct conv_plan *other, const char *text)
{
    char name[64], schedule[4], made[EXP_PLAN_TEXT_BYTES];
    size_t n_c, k2, k3;
    const struct conv_ukr *ukr;
    struct conv_sconv_options options;
    struct csa_tiling tiling;

    if (sscanf(text, "%63s %3s nc=%zu k2=%zu k3=%zu", name, schedule, &n_c, &k2, &k3) != 5)
        return -EINVAL;
    ukr = find_ukr(other, name);
    if (!ukr)
        return -EINVAL;
    tiling = csa2_tiling(&other->problem, ukr, strcmp(schedule, "is") ? CSA_WS : CSA_IS, n_c, k2, k3);
    options = (struct conv_sconv_options){
        .packs_filters = strstr(text, ", filters too") != NULL,
        .reads_in_place = strstr(text, " in place") != NULL,
        .prefetches = strstr(text, ", prefetching") != NULL,
        .skips_padding = strstr(text, " without rows of padding") != NULL,
    };
    if (conv_plan_sconv_with(plan, &other->problem, ukr, &tiling, &options))
        return -EINVAL;
    exp_plan_text(plan, made);
    return strcmp(made, text) ? -EINVAL : 0;
}
