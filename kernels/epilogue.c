#include "kernels/epilogue.h"

#include "kernels/sizes.h"

/* So many tiles of a run are in L1 when they are finished. */
enum { FUSED_TILES = 4 };

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

static void finish(const struct conv_fused *f, const struct conv_step *s)
{
    const struct conv_epilogue_args a = resolve(f, s);

    if (f->sink)
        conv_epilogue_emit(&a, f->sink);
    else
        conv_epilogue(&a);
}

static bool is_last(const struct conv_fused *f, const struct conv_step *s)
{
    return conv_step_computes(s) && s->k0 + s->n_k == f->reduction;
}

static int step(struct conv_backend *self, const struct conv_step *s)
{
    const struct conv_fused *f = (const struct conv_fused *)self;
    int err = f->inner->step(f->inner, s);

    if (!err && is_last(f, s))
        finish(f, s);
    return err;
}

static int run(struct conv_backend *self, const struct conv_run *r)
{
    const struct conv_fused *f = (const struct conv_fused *)self;
    int err = 0;

    if (!is_last(f, &r->step))
        return conv_backend_run(f->inner, r);
    for (struct conv_run left = *r, part; left.n && !err; conv_run_skip(&left, part.n)) {
        part = left;
        part.n = min_size(left.n, FUSED_TILES);
        err = conv_backend_run(f->inner, &part);
        for (struct conv_run done = part; done.n && !err; conv_run_skip(&done, 1))
            finish(f, &done.step);
    }
    return err;
}

void conv_fused_init(struct conv_fused *f, struct conv_backend *inner, const struct conv_plan *plan, uint64_t out,
                     uint64_t bias, uint64_t residual, enum conv_activation activation, struct sim_sink *sink)
{
    *f = (struct conv_fused){
        .base = { step, run },
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
