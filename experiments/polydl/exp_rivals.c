#include "experiments/polydl/exp_rivals.h"

#include <errno.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"

static const struct exp_case *case_of(const struct exp_rivals *r, enum exp_polydl_baseline b)
{
    return exp_planned_case(&r->planned, exp_polydl_baseline_name(b));
}

static bool is_there(const struct exp_rivals *r, enum exp_polydl_baseline b)
{
    return r->tensors[b].arena != NULL;
}

static int make_tensors(struct exp_rivals *r, enum exp_polydl_baseline b)
{
    const struct exp_case *c = case_of(r, b);

    return !c || c->algo->why_not_run(r->setup) ? 0 : exp_tensors_init(&r->tensors[b], &c->plan);
}

const float *exp_rivals_tensor(const struct exp_rivals *r, enum conv_tensor t)
{
    return is_there(r, EXP_POLYDL_SCONV) ? conv_in_ptr(r->tensors[EXP_POLYDL_SCONV].bind.addr[t]) : NULL;
}

int exp_rivals_init(struct exp_rivals *r, const struct exp_polydl_layer *l, const struct exp_polydl_timing *t,
                    struct exp_why *why)
{
    const struct conv_binding *b = &r->tensors[EXP_POLYDL_SCONV].bind;
    struct exp_dnnl_layer layer;
    int err;

    *r = (struct exp_rivals){ .setup = t->setup };
    err = exp_planned_init(&r->planned, r->setup, l, l->shape, "base,sconv_tuned", why);
    if (!err)
        err = make_tensors(r, EXP_POLYDL_SCONV);
    if (!err && l->source.problem)
        err = make_tensors(r, EXP_POLYDL_BASE);
    if (err || !t->dnnl || !is_there(r, EXP_POLYDL_SCONV))
        return err;
    layer = (struct exp_dnnl_layer){ .layout = EXP_DNNL_BLOCKED,
                                     .problem = l->shape,
                                     .activation = CONV_ACTIVATION_NONE,
                                     .in = conv_out_ptr(b->addr[CONV_INPUT]),
                                     .filter = conv_out_ptr(b->addr[CONV_FILTER]),
                                     .out = conv_out_ptr(b->addr[CONV_OUTPUT]) };
    err = exp_dnnl_conv_new(&r->dnnl, t->dnnl, &layer, why);
    return err == -ENOTSUP ? 0 : err;
}

void exp_rivals_release(struct exp_rivals *r)
{
    exp_dnnl_conv_free(r->dnnl);
    for (size_t i = 0; i < EXP_N_POLYDL_BASELINES; i++)
        exp_tensors_release(&r->tensors[i]);
    exp_planned_release(&r->planned);
    *r = (struct exp_rivals){ .setup = NULL };
}

int exp_rivals_run(struct exp_rivals *r, enum exp_polydl_baseline b)
{
    const struct exp_case *c = case_of(r, b);

    if (b == EXP_POLYDL_ONEDNN)
        return r->dnnl ? exp_dnnl_run(r->dnnl) : -ENOENT;
    return is_there(r, b) ? c->algo->run(r->setup, &c->plan, &r->tensors[b].bind) : -ENOENT;
}
