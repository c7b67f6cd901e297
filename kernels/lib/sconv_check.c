/* Checks of users' arguments: shapes, options, pointers. Nothing is planned or written here. */
#include "kernels/lib/sconv_inside.h"

#include <errno.h>
#include <stdint.h>

#include "kernels/lib/sconv_shape.h"
#include "sim/cpu.h"

static bool is_float_aligned(const void *p)
{
    return (uintptr_t)p % _Alignof(float) == 0;
}

/* CONV_CPU limits the choice of kernels: a value without a meaning would silently choose the slowest kernels. */
int conv_read_shape(struct conv_problem *p, const struct sconv_shape *s, struct sim_why why)
{
    int err = sim_cpu_check_limit(why);

    if (err)
        return err;
    *p = sconv_shape_problem(s);
    return conv_problem_finish(p, why);
}

int conv_check_weights(const float *weights, struct sim_why why)
{
    if (!weights)
        return sim_fail(why, -EINVAL, "weights is NULL");
    return is_float_aligned(weights) ? 0 : sim_fail(why, -EINVAL, "weights is not aligned to a float");
}

int conv_read_options(struct sconv_plan *plan, const struct sconv_options *o, struct sim_why why)
{
    static const enum conv_activation activations[] = {
        [SCONV_NO_ACTIVATION] = CONV_ACTIVATION_NONE,
        [SCONV_RELU] = CONV_ACTIVATION_RELU,
        [SCONV_RELU6] = CONV_ACTIVATION_RELU6,
    };

    if ((size_t)o->activation >= sizeof activations / sizeof activations[0])
        return sim_fail(why, -EINVAL, "activation %d is unknown", (int)o->activation);
    if (o->threads > SCONV_MAX_THREADS)
        return sim_fail(why, -EINVAL, "threads is %u, must be at most %d", o->threads, SCONV_MAX_THREADS);
    if (!is_float_aligned(o->bias))
        return sim_fail(why, -EINVAL, "bias is not aligned to a float");
    plan->activation = activations[o->activation];
    plan->adds_residual = o->adds_residual != 0;
    plan->n_threads = o->threads ? o->threads : 1;
    return 0;
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

    return a && b && x < y + b_bytes && y < x + a_bytes;
}

static int check_pointers(const struct sconv_plan *plan, const float *src, const float *dst, const float *residual,
                          const void *workspace, struct sim_why why)
{
    const struct {
        bool is_wrong;
        const char *text;
    } rules[] = {
        { !plan, "plan is NULL" },
        { !src, "src is NULL" },
        { !dst, "dst is NULL" },
        { !workspace, "workspace is NULL" },
        { !is_float_aligned(src), "src is not aligned to a float" },
        { !is_float_aligned(dst), "dst is not aligned to a float" },
        { !is_float_aligned(residual), "residual is not aligned to a float" },
        { plan && plan->adds_residual && !residual, "residual is NULL, but the plan adds one" },
        { plan && !plan->adds_residual && residual, "residual is not NULL, but the plan adds none" },
    };

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].is_wrong)
            return sim_fail(why, -EINVAL, "%s", rules[i].text);
    }
    return 0;
}

int conv_check_run(const struct sconv_plan *plan, const float *src, const float *dst, const float *residual,
                   const void *workspace, size_t workspace_bytes, struct sim_why why)
{
    int err = check_pointers(plan, src, dst, residual, workspace, why);
    size_t in, out, own;

    if (err)
        return err;
    in = plan->plan.layout.bytes[CONV_INPUT];
    out = plan->plan.layout.bytes[CONV_OUTPUT];
    own = plan->workspace_bytes;
    if (workspace_bytes < own)
        return sim_fail(why, -ENOBUFS, "workspace_bytes is %zu, must be at least %zu", workspace_bytes, own);
    if (overlap(dst, out, src, in))
        return sim_fail(why, -EINVAL, "dst overlaps src");
    if (overlap(dst, out, residual, out))
        return sim_fail(why, -EINVAL, "dst overlaps residual");
    if (overlap(dst, out, workspace, own))
        return sim_fail(why, -EINVAL, "dst overlaps workspace");
    if (overlap(src, in, workspace, own))
        return sim_fail(why, -EINVAL, "src overlaps workspace");
    if (overlap(residual, out, workspace, own))
        return sim_fail(why, -EINVAL, "residual overlaps workspace");
    return 0;
}

int sconv_run_check(const struct sconv_plan *plan, const float *src, const float *dst, const float *residual,
                    const void *workspace, size_t workspace_bytes, char *why, size_t why_bytes)
{
    if (why_bytes && !why)
        return -EINVAL;
    return conv_check_run(plan, src, dst, residual, workspace, workspace_bytes, (struct sim_why){ why, why_bytes });
}
