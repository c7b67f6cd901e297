#include "kernels/backend/fused.h"

#include <assert.h>

#include "kernels/backend/resolve.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/winograd_tile.h"

/* Tiles of a run that are finished together: few enough to be in L1, enough to pay for preparing a run. */
enum { FUSED_TILES = 16 };

enum { GATHERED_BYTES = 32 << 10 };

static uint64_t at(uint64_t address, size_t elements)
{
    return address ? address + elements * sizeof(float) : 0;
}

/* Resolves the outputs of a run's steps, a box like a single step's outputs. */
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

/* ---- gathering ---- */

static void remove_pending(struct conv_fused *f, size_t i)
{
    f->n_pending--;
    for (; i < f->n_pending; i++)
        f->pending[i] = f->pending[i + 1];
}

static void finish_pending(struct conv_fused *f, size_t i)
{
    f->finish(f, &f->pending[i].box);
    remove_pending(f, i);
}

static bool continues(const struct conv_fused_pending *p, const struct conv_fused_pending *next)
{
    return p->row == next->row && p->box.n_f == next->box.n_f && p->win_end + next->box.n_win == next->win_end;
}

/* Appends a box to a waiting box, or lets it wait alone. A large box is finished. */
static void gather(struct conv_fused *f, const struct conv_fused_pending *next)
{
    size_t i = 0;

    while (i < f->n_pending && !continues(&f->pending[i], next))
        i++;
    if (i < f->n_pending) {
        f->pending[i].box.n_win += next->box.n_win;
        f->pending[i].win_end = next->win_end;
    } else {
        if (f->n_pending == CONV_FUSED_MOST)
            finish_pending(f, 0);
        i = f->n_pending++;
        f->pending[i] = *next;
    }
    if (f->pending[i].box.n_f * f->pending[i].box.n_win * sizeof(float) >= GATHERED_BYTES)
        finish_pending(f, i);
}

void conv_fused_gather(struct conv_fused *f)
{
    f->gathers = true;
}

void conv_fused_end(struct conv_fused *f)
{
    while (f->n_pending)
        finish_pending(f, 0);
}

static void finish(struct conv_fused *f, const struct conv_run *r)
{
    const struct conv_step *s = &r->step;
    const struct conv_fused_pending p = {
        .box = resolve(f, r),
        .row = s->image * f->plan->problem.k + s->group * f->plan->group_filters + s->f0,
        .win_end = s->win0 + s->n_win * (r->along_filters ? 1 : r->n),
    };

    if (f->gathers)
        gather(f, &p);
    else
        f->finish(f, &p.box);
}

static void execute(struct conv_fused *self, const struct conv_epilogue_args *a)
{
    self->kernel->fn(a);
}

static void replay(struct conv_fused *self, const struct conv_epilogue_args *a)
{
    conv_epilogue_emit(self->kernel, a, self->sink);
}

/* Winograd's micro-kernel steps compute products, not outputs. */
static bool is_last(const struct conv_fused *f, const struct conv_step *s)
{
    return f->plan->algorithm != CONV_WINOGRAD && conv_step_computes(s) && s->k0 + s->n_k == f->reduction;
}

/* Finishes the outputs of Winograd's tiles, row by row of each run of neighbours. */
static void finish_tiles(struct conv_fused *f, const struct conv_step *s)
{
    const struct conv_winograd_args a = conv_resolve_winograd_out(f->plan, &(struct conv_binding){ { 0 } }, s);
    struct conv_winograd_segment segment[CONV_MAX_WIN];
    const size_t n = conv_winograd_cut(&a, f->plan->winograd.kernel->m, segment);

    for (size_t i = 0; i < n; i++) {
        for (size_t row = 0; row < segment[i].n_rows; row++) {
            struct conv_run r = { .step = *s, .n = 1 };

            r.step.win0 = (segment[i].row + row) * f->plan->problem.q + segment[i].column;
            r.step.n_win = segment[i].n_columns;
            finish(f, &r);
        }
    }
}

/* Finishes the outputs of a step, image by image: a direct step may have several images. */
static void finish_images(struct conv_fused *f, const struct conv_step *s)
{
    struct conv_run r = { .step = *s, .n = 1 };

    for (; r.step.image < s->image + conv_step_images(s); r.step.image++)
        finish(f, &r);
}

static int step(struct conv_backend *self, const struct conv_step *s)
{
    struct conv_fused *f = (struct conv_fused *)self;
    int err = f->inner->step(f->inner, s);

    if (!err && s->kind == CONV_STEP_WINOGRAD_OUT)
        finish_tiles(f, s);
    if (!err && is_last(f, s))
        finish_images(f, s);
    return err;
}

static int run(struct conv_backend *self, const struct conv_run *r)
{
    struct conv_fused *f = (struct conv_fused *)self;
    int err = 0;

    if (!is_last(f, &r->step))
        return conv_backend_run(f->inner, r);
    if (r->n <= FUSED_TILES) { /* as below, without copies */
        err = conv_backend_run(f->inner, r);
        if (!err)
            finish(f, r);
        return err;
    }
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
    assert(!conv_types[plan->problem.type].most_product); /* outputs are f32 */
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
