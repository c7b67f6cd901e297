#include "kernels/backend/fused.h"

#include "kernels/shape/sizes.h"

/*
 * So many tiles of a run are finished together: in L1 still, and enough of them that the run is worth its preparation.
 */
enum { FUSED_TILES = 16 };

/* Moves an address on, if there is one. */
static uint64_t at(uint64_t address, size_t elements)
{
    return address ? address + elements * sizeof(float) : 0;
}

/* Resolves the outputs of steps that follow each other, which are a box like those of one. */
static struct conv_epilogue_args resolve(const struct conv_fused *f, const struct conv_run *r)
{
    const struct conv_step *s = &r->step;
    const struct conv_problem *p = &f->plan->problem;
    const size_t filter = s->group * f->plan->group_filters + s->f0;
    const size_t offset = (s->image * p->k + filter) * conv_windows(p) + s->win0;

    return (struct conv_epilogue_args){
        .out = at(f->after.out, offset),
        .scale = at(f->after.scale, filter),
        .bias = at(f->after.bias, filter),
        .residual = at(f->after.residual, offset),
        .ld_out = conv_windows(p),
        .n_f = s->n_f * (r->along_filters ? r->n : 1),
        .n_win = s->n_win * (r->along_filters ? 1 : r->n),
        .activation = f->after.activation,
    };
}

static void finish(struct conv_fused *f, const struct conv_run *r)
{
    const struct conv_epilogue_args a = resolve(f, r);

    f->finish(f, &a);
}

static void execute(struct conv_fused *self, const struct conv_epilogue_args *a)
{
    self->kernel->fn(a);
}

static void replay(struct conv_fused *self, const struct conv_epilogue_args *a)
{
    conv_epilogue_emit(self->kernel, a, self->sink);
}

static bool is_last(const struct conv_fused *f, const struct conv_step *s)
{
    return conv_step_computes(s) && s->k0 + s->n_k == f->reduction;
}

static int step(struct conv_backend *self, const struct conv_step *s)
{
    struct conv_fused *f = (struct conv_fused *)self;
    int err = f->inner->step(f->inner, s);

    if (!err && is_last(f, s))
        finish(f, &(struct conv_run){ .step = *s, .n = 1 });
    return err;
}

static int run(struct conv_backend *self, const struct conv_run *r)
{
    struct conv_fused *f = (struct conv_fused *)self;
    int err = 0;

    if (!is_last(f, &r->step))
        return conv_backend_run(f->inner, r);
    for (struct conv_run left = *r, part; left.n && !err; conv_run_skip(&left, part.n)) {
        part = left;
        part.n = min_size(left.n, FUSED_TILES);
        err = conv_backend_run(f->inner, &part);
        if (!err)
            finish(f, &part);
    }
    return err;
}

void conv_fused_init(struct conv_fused *f, struct conv_backend *inner, const struct conv_plan *plan,
                     const struct conv_after *after, struct sim_sink *sink)
{
    *f = (struct conv_fused){
        .base = { step, run },
        .finish = sink ? replay : execute,
        .inner = inner,
        .plan = plan,
        .kernel = conv_epilogue_of(conv_plan_isa(plan)),
        .reduction = conv_reduction(&plan->problem),
        .after = *after,
        .sink = sink,
    };
}
