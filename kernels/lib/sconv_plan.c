/* Plans: decided for a shape and a machine, with packed filters; and questions about plans. */
#include "kernels/lib/sconv_inside.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/backend.h"
#include "kernels/plan/plan_winograd.h"
#include "kernels/shape/sizes.h"
#include "kernels/wisdom/wisdom.h"

enum { PACKED_ALIGN = 4096 };

int conv_choose_plan(struct conv_plan *plan, const struct conv_problem *p, const struct sconv_machine *machine)
{
    const struct csa_caches caches = csa_caches_of(&machine->m, csa_default_share);
    const struct conv_winograd_options winograd = { .most_error = machine->winograd_error };

    if (machine->allows_winograd && conv_winograd_pays(p, &caches, &winograd))
        return conv_plan_winograd_tuned(plan, p, &caches, &winograd);
    return conv_plan_measured(plan, p, &caches, &(struct conv_tune_options){ .ukr = NULL }, machine->wisdom,
                              machine->measures);
}

static int size_workspace(struct sconv_plan *plan, struct sim_why why)
{
    const struct conv_layout *l = &plan->plan.layout; /* far below SIZE_MAX */
    size_t bytes;

    plan->packed_bytes = round_up(l->bytes[CONV_PACKED_INPUT], CONV_WORKSPACE_ALIGN);
    plan->thread_bytes = plan->packed_bytes + round_up(l->bytes[CONV_IM2COL], CONV_WORKSPACE_ALIGN);
    if (__builtin_mul_overflow(plan->thread_bytes, plan->n_threads, &bytes) ||
        __builtin_add_overflow(bytes, CONV_WORKSPACE_ALIGN, &plan->workspace_bytes) ||
        plan->workspace_bytes > PTRDIFF_MAX)
        return sim_fail(why, -EOVERFLOW, "the workspace of threads %u, %zu bytes each, exceeds the address space",
                        plan->n_threads, plan->thread_bytes);
    return 0;
}

/* Makes all decisions that packing needs. */
static int decide(struct sconv_plan *plan, const struct conv_problem *p, const struct sconv_machine *machine,
                  struct sim_why why)
{
    int err = conv_choose_plan(&plan->plan, p, machine);

    if (err)
        return sim_fail(why, err, "%s", sconv_strerror(err));
    plan->is_assumed = machine->is_assumed;
    plan->axis = conv_share_choose(&plan->plan, plan->n_threads);
    return size_workspace(plan, why);
}

static int decide_for_host(struct sconv_plan *plan, const struct conv_problem *p, struct sim_why why)
{
    struct sconv_machine *host;
    int err = sconv_machine_create(&host, NULL, why.text, why.bytes);

    if (err == -ENOMEM)
        return sim_fail(why, err, "%s", sconv_strerror(err));
    if (err)
        return err;
    err = decide(plan, p, host, why);
    sconv_machine_free(host);
    return err;
}

static int prepare(struct sconv_plan *plan, const struct sconv_shape *shape, const struct sconv_machine *machine,
                   const float *weights, const struct sconv_options *options, struct sim_why why)
{
    static const struct sconv_options none = { .threads = 1 };
    struct conv_problem p;
    int err;

    if (!shape)
        return sim_fail(why, -EINVAL, "shape is NULL");
    err = conv_check_weights(weights, why);
    if (!err)
        err = conv_read_shape(&p, shape, why);
    if (!err)
        err = conv_read_options(plan, options ? options : &none, why);
    if (err)
        return err;
    return machine ? decide(plan, &p, machine, why) : decide_for_host(plan, &p, why);
}

static int copy_bias(struct sconv_plan *plan, const float *bias)
{
    size_t n = plan->plan.problem.k;

    if (!bias)
        return 0;
    plan->bias = calloc(n, sizeof *bias);
    if (!plan->bias)
        return -ENOMEM;
    memcpy(plan->bias, bias, n * sizeof *bias);
    return 0;
}

enum conv_tensor conv_filter_tensor(const struct sconv_plan *plan)
{
    return plan->plan.algorithm == CONV_DIRECT ? CONV_FILTER : CONV_PACKED_FILTER;
}

static int pack(struct sconv_plan *plan, const float *weights)
{
    size_t bytes = plan->plan.layout.bytes[conv_filter_tensor(plan)];
    struct conv_binding bind = { { 0 } };
    struct conv_exec exec;
    void *memory;
    int err = posix_memalign(&memory, PACKED_ALIGN, bytes);

    if (err)
        return -err;
    plan->packed = memory;
    if (conv_filter_tensor(plan) == CONV_FILTER) {
        memcpy(plan->packed, weights, bytes);
        return 0;
    }
    bind.addr[CONV_FILTER] = (uintptr_t)weights;
    bind.addr[CONV_PACKED_FILTER] = (uintptr_t)plan->packed;
    conv_exec_init(&exec, &plan->plan, &bind);
    return conv_nest_pack_filters(&plan->plan, &exec.base);
}

int sconv_plan_check(const struct sconv_shape *shape, const struct sconv_machine *machine, const float *weights,
                     const struct sconv_options *options, char *why, size_t why_bytes)
{
    struct sconv_plan plan = { 0 };

    if (why_bytes && !why)
        return -EINVAL;
    return prepare(&plan, shape, machine, weights, options, (struct sim_why){ why, why_bytes });
}

int sconv_plan_create(struct sconv_plan **plan, const struct sconv_shape *shape, const struct sconv_machine *machine,
                      const float *weights, const struct sconv_options *options)
{
    struct sconv_plan *p;
    int err;

    if (!plan)
        return -EINVAL;
    *plan = NULL;
    p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    err = prepare(p, shape, machine, weights, options, SIM_NO_WHY);
    if (!err)
        err = copy_bias(p, options ? options->bias : NULL);
    if (!err)
        err = pack(p, weights);
    if (err)
        sconv_plan_free(p);
    else
        *plan = p;
    return err;
}

void sconv_plan_free(struct sconv_plan *plan)
{
    if (!plan)
        return;
    free(plan->packed);
    free(plan->bias);
    free(plan);
}

size_t sconv_workspace_bytes(const struct sconv_plan *plan)
{
    return plan ? plan->workspace_bytes : 0;
}

int sconv_output_size(const struct sconv_plan *plan, size_t *out_h, size_t *out_w)
{
    if (!plan || !out_h || !out_w)
        return -EINVAL;
    *out_h = plan->plan.problem.p;
    *out_w = plan->plan.problem.q;
    return 0;
}
