#include "experiments/emit/exp_emit_check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_tensors.h"
#include "kernels/conv_naive.h"

static int compare_plane(const struct conv_noted_plan *n, const float *out, size_t plane, const double *want,
                         const double *magnitude, char *why, size_t why_bytes)
{
    const struct conv_problem *p = &n->plan.problem;

    for (size_t w = 0; w < conv_windows(p); w++) {
        double bound = exp_tensors_exact(p) ? 0 : conv_error_bound(conv_reduction(p), magnitude[w]);
        double is = (double)out[plane * conv_windows(p) + w];

        if (!(fabs(is - want[w]) <= bound))
            return exp_fail(why, why_bytes, -EILSEQ,
                            "layer '%s': its code computes a wrong result: output element %zu is %.9g, must be %.9g",
                            n->layer, plane * conv_windows(p) + w, is, want[w]);
    }
    return 0;
}

static int compare(const struct conv_noted_plan *n, const struct exp_tensors *t, char *why, size_t why_bytes)
{
    const struct conv_problem *p = &n->plan.problem;
    double *want = calloc(2 * conv_windows(p), sizeof *want), *magnitude = want ? want + conv_windows(p) : NULL;
    int err = want ? 0 : exp_fail(why, why_bytes, -ENOMEM, "out of memory");

    for (size_t i = 0; i < p->n * p->k && !err; i++) {
        conv_naive_plane(p, conv_in_ptr(t->bind.addr[CONV_INPUT]), conv_in_ptr(t->bind.addr[CONV_FILTER]), i / p->k,
                         i % p->k, want, magnitude);
        err = compare_plane(n, conv_in_ptr(t->bind.addr[CONV_OUTPUT]), i, want, magnitude, why, why_bytes);
    }
    free(want);
    return err;
}

/* Packs the filters by the code's own function, then convolves. */
static void run(const struct exp_emit_code *code, const struct conv_noted_plan *n, const struct exp_tensors *t)
{
    float *packed = conv_out_ptr(t->bind.addr[CONV_PACKED_FILTER]);
    const float *filter = conv_in_ptr(t->bind.addr[CONV_FILTER]);

    memset(packed, 0xff, n->plan.layout.bytes[CONV_PACKED_FILTER]); /* NaN: exp_tensors_init has packed them already */
    exp_emit_code_packer(code, n->layer, 0)(filter, packed);
    exp_emit_code_function(code, n->layer, 0)(conv_in_ptr(t->bind.addr[CONV_INPUT]), filter, packed,
                                              conv_out_ptr(t->bind.addr[CONV_PACKED_INPUT]),
                                              conv_out_ptr(t->bind.addr[CONV_OUTPUT]));
}

int exp_emit_check(enum exp_emit_what what, const struct conv_noted_plan *plan, double *seconds, char *why,
                   size_t why_bytes)
{
    struct exp_tensors t = { 0 };
    struct exp_emit_code code;
    uint64_t start = ctr_now_ns();
    int err = exp_emit_build(&code, what, plan, 1, false, why, why_bytes);

    *seconds = (double)(ctr_now_ns() - start) * 1e-9;
    if (err)
        return err;
    if (!conv_plan_runs(&plan->plan))
        err = exp_fail(why, why_bytes, -ENOTSUP, "layer '%s': this computer cannot execute %s", plan->layer,
                       plan->plan.ukr->name);
    if (!err && exp_tensors_init(&t, &plan->plan))
        err = exp_fail(why, why_bytes, -ENOMEM, "out of memory for the tensors of layer '%s'", plan->layer);
    if (!err) {
        run(&code, plan, &t);
        err = compare(plan, &t, why, why_bytes);
    }
    exp_tensors_release(&t);
    exp_emit_code_release(&code);
    return err;
}
