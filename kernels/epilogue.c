#include "kernels/epilogue.h"

static struct conv_epilogue_args resolve(const struct conv_fused *f, const struct conv_step *s)
{
    const struct conv_problem *p = &f->plan->problem;
    size_t filter = s->group * f->plan->group_filters + s->f0;
    uint64_t offset = ((s->image * p->k + filter) * conv_windows(p) + s->win0) * sizeof(float);

    return (struct conv_epilogue_args){
        .out = f->out + offset,
        .bias = f->bias ? f->bias + filter * sizeof(float) : 0,
        .residual = f->residual ? f->residual + offset : 0,
        .ld_out = conv_windows(p),
        .n_f = s->n_f,
        .n_win = s->n_win,
        .activation = f->activation,
    };
}

static int step(struct conv_backend *self, const struct conv_step *s)
{
    struct conv_fused *f = (struct conv_fused *)self;
    int err = f->inner->step(f->inner, s);

    if (!err && conv_step_computes(s) && s->k0 + s->n_k == f->reduction) {
        const struct conv_epilogue_args a = resolve(f, s);

        if (f->sink)
            conv_epilogue_emit(&a, f->sink);
        else
            conv_epilogue(&a);
    }
    return err;
}

void conv_fused_init(struct conv_fused *f, struct conv_backend *inner, const struct conv_plan *plan, uint64_t out,
                     uint64_t bias, uint64_t residual, enum conv_activation activation, struct sim_sink *sink)
{
    *f = (struct conv_fused){
        .base.step = step,
        .inner = inner,
        .plan = plan,
        .reduction = conv_reduction(&plan->problem),
        .out = out,
        .bias = bias,
        .residual = residual,
        .activation = activation,
        .sink = sink,
    };
}
