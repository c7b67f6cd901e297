#include "experiments/emit/exp_emit_check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_tensors.h"
#include "kernels/conv_naive.h"

/* Returns the bias that a filter's outputs get. */
static float bias_of(size_t filter)
{
    return (float)(filter % 7) - 3;
}

/* By definition. */
static double finished(double x, const struct conv_fusion *after, size_t filter)
{
    if (after->adds_bias)
        x += (double)bias_of(filter);
    if (after->activation != CONV_ACTIVATION_NONE && x < 0)
        x = 0;
    return after->activation == CONV_ACTIVATION_RELU6 && x > 6 ? 6 : x;
}

static int compare_plane(const struct conv_noted_plan *n, const struct conv_fusion *after, const float *out,
                         size_t plane, const double *want, const double *magnitude, struct exp_why *why)
{
    const struct conv_problem *p = &n->plan.problem;

    for (size_t w = 0; w < conv_windows(p); w++) {
        double bound = exp_tensors_exact(p) ? 0 : conv_error_bound(conv_reduction(p), magnitude[w]);
        double is = (double)out[plane * conv_windows(p) + w], must = finished(want[w], after, plane % p->k);

        if (!(fabs(is - must) <= bound))
            return exp_fail(why, -EILSEQ,
                            "layer '%s': its code computes a wrong result: output element %zu is %.9g, must be %.9g",
                            n->layer, plane * conv_windows(p) + w, is, must);
    }
    return 0;
}

static int compare(const struct conv_noted_plan *n, const struct conv_fusion *after, const struct exp_tensors *t,
                   struct exp_why *why)
{
    const struct conv_problem *p = &n->plan.problem;
    double *want = calloc(2 * conv_windows(p), sizeof *want), *magnitude = want ? want + conv_windows(p) : NULL;
    int err = want ? 0 : exp_fail(why, -ENOMEM, "out of memory");

    for (size_t i = 0; i < p->n * p->k && !err; i++) {
        conv_naive_plane(p, conv_in_ptr(t->bind.addr[CONV_INPUT]), conv_in_ptr(t->bind.addr[CONV_FILTER]), i / p->k,
                         i % p->k, want, magnitude);
        err = compare_plane(n, after, conv_in_ptr(t->bind.addr[CONV_OUTPUT]), i, want, magnitude, why);
    }
    free(want);
    return err;
}

/* Packs the filters by the code's own function, if it has one, then convolves. bias may be NULL. */
static void run(const struct exp_emit_code *code, const struct conv_noted_plan *n, const struct exp_tensors *t,
                const float *bias)
{
    float *packed = conv_out_ptr(t->bind.addr[CONV_PACKED_FILTER]);
    const float *filter = conv_in_ptr(t->bind.addr[CONV_FILTER]), *in = conv_in_ptr(t->bind.addr[CONV_INPUT]);
    float *panels = conv_out_ptr(t->bind.addr[CONV_PACKED_INPUT]), *out = conv_out_ptr(t->bind.addr[CONV_OUTPUT]);

    exp_emit_pack_fn pack = exp_emit_code_packer(code, n->layer, 0);

    memset(packed, 0xff, n->plan.layout.bytes[CONV_PACKED_FILTER]); /* NaN: exp_tensors_init has packed them already */
    if (pack)
        pack(filter, packed);
    if (bias)
        exp_emit_code_fused(code, n->layer, 0)(in, filter, packed, panels, out, bias);
    else
        exp_emit_code_function(code, n->layer, 0)(in, filter, packed, panels, out);
}

/* Returns a bias for each filter; NULL when out of memory. */
static float *make_bias(const struct conv_problem *p)
{
    float *bias = calloc(p->k, sizeof *bias);

    for (size_t i = 0; bias && i < p->k; i++)
        bias[i] = bias_of(i);
    return bias;
}

static int run_and_compare(const struct exp_emit_code *code, const struct conv_noted_plan *plan,
                           const struct conv_fusion *after, struct exp_why *why)
{
    float *bias = after->adds_bias ? make_bias(&plan->plan.problem) : NULL;
    struct exp_tensors t = { 0 };
    int err = 0;

    if (exp_tensors_init(&t, &plan->plan) || (after->adds_bias && !bias))
        err = exp_fail(why, -ENOMEM, "out of memory for the tensors of layer '%s'", plan->layer);
    if (!err) {
        run(code, plan, &t, bias);
        err = compare(plan, after, &t, why);
    }
    exp_tensors_release(&t);
    free(bias);
    return err;
}

int exp_emit_check(enum exp_emit_what what, const struct conv_noted_plan *plan, const struct conv_fusion *after,
                   double *seconds, struct exp_why *why)
{
    struct exp_emit_code code;
    uint64_t start = ctr_now_ns();
    int err = exp_emit_build_fused(&code, what, plan, 1, after, false, why);

    *seconds = (double)(ctr_now_ns() - start) * 1e-9;
    if (err)
        return err;
    if (!conv_plan_runs(&plan->plan))
        err = exp_fail(why, -ENOTSUP, "layer '%s': this computer cannot execute %s", plan->layer, plan->plan.ukr->name);
    if (!err)
        err = run_and_compare(&code, plan, after, why);
    exp_emit_code_release(&code);
    return err;
}
