#include "kernels/backend/backend.h"

#include <assert.h>

#include "kernels/backend/resolve.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/winograd.h"

static void exec_im2col(struct conv_exec *e, const struct conv_step *s)
{
    const struct conv_im2col_args a = conv_resolve_im2col(e->plan, &e->bind, s);

    (a.p->type == CONV_F32 ? conv_im2col : conv_im2col_narrow)(&a);
}

static void exec_zero(struct conv_exec *e, const struct conv_step *s)
{
    const struct conv_zero_args a = conv_resolve_zero(e->plan, &e->bind, s);

    conv_zero(&a);
}

static void exec_pack_windows(struct conv_exec *e, const struct conv_step *s)
{
    const struct conv_pack_windows_args a = conv_resolve_pack_windows(e->plan, &e->bind, s);
    const struct conv_pack_windows *pack = conv_resolve_packer(e->plan, &a);

    pack->fn(pack, &a);
}

static void exec_pack_matrix(struct conv_exec *e, const struct conv_step *s)
{
    const struct conv_pack_matrix_args a = conv_resolve_pack_matrix(e->plan, &e->bind, s);

    conv_pack_matrix(&a);
}

static void exec_pack_filters(struct conv_exec *e, const struct conv_step *s)
{
    const struct conv_pack_filters_args a = conv_resolve_pack_filters(e->plan, &e->bind, s);

    conv_kernels_of(e->plan->problem.type)->pack_filters(&a);
}

/* A call, and the targets of its pointers. */
struct call {
    struct conv_ukr_args a;
    struct conv_taps taps;
    struct conv_ahead_lists ahead;
};

static void resolve_call(struct conv_exec *e, const struct conv_step *s, struct call *c)
{
    c->a = conv_resolve_ukr(e->plan, &e->bind, s);
    c->a.taps = conv_resolve_taps(e->plan, &e->bind, s, &c->a, &c->taps);
    c->a.ahead = conv_resolve_ahead(e->plan, &e->bind, s, &c->a, &c->ahead);
    c->a.held = e->holds ? &e->held : NULL;
    assert(conv_ukr_takes(e->plan->ukr, &c->a));
}

static void exec_ukr(struct conv_exec *e, const struct conv_step *s)
{
    struct call c;

    resolve_call(e, s, &c);
    e->plan->ukr->fn(e->plan->ukr, &c.a);
}

/* Resolves the first step only: the later steps follow from it. */
static int exec_run(struct conv_backend *self, const struct conv_run *r)
{
    struct conv_exec *e = (struct conv_exec *)self;
    const struct conv_ukr *ukr = e->plan->ukr;
    struct call c;

    resolve_call(e, &r->step, &c);
    conv_resolve_run(e->plan, r, &c.a);
    conv_ukr_call(ukr, &c.a);
    return 0;
}

static void exec_direct(struct conv_exec *e, const struct conv_step *s)
{
    const struct conv_direct *kernel = e->plan->direct.kernel;
    const struct conv_direct_args a = conv_resolve_direct(e->plan, &e->bind, s);

    kernel->fn(kernel, &a);
}

static void exec_winograd_in(struct conv_exec *e, const struct conv_step *s)
{
    const struct conv_winograd_args a = conv_resolve_winograd_in(e->plan, &e->bind, s);

    e->plan->winograd.kernel->in(&a);
}

static void exec_winograd_filters(struct conv_exec *e, const struct conv_step *s)
{
    const struct conv_winograd_filter_args a = conv_resolve_winograd_filters(e->plan, &e->bind, s);

    conv_winograd_filters(e->plan->winograd.kernel->m, &a);
}

static void exec_winograd_out(struct conv_exec *e, const struct conv_step *s)
{
    const struct conv_winograd_args a = conv_resolve_winograd_out(e->plan, &e->bind, s);

    e->plan->winograd.kernel->out(&a);
}

static int exec_step(struct conv_backend *self, const struct conv_step *s)
{
    static void (*const execute[CONV_N_STEP_KINDS])(struct conv_exec *, const struct conv_step *) = {
        [CONV_STEP_IM2COL] = exec_im2col,
        [CONV_STEP_ZERO] = exec_zero,
        [CONV_STEP_PACK_WINDOWS] = exec_pack_windows,
        [CONV_STEP_PACK_MATRIX] = exec_pack_matrix,
        [CONV_STEP_PACK_FILTERS] = exec_pack_filters,
        [CONV_STEP_UKR] = exec_ukr,
        [CONV_STEP_DIRECT] = exec_direct,
        [CONV_STEP_WINOGRAD_IN] = exec_winograd_in,
        [CONV_STEP_WINOGRAD_FILTERS] = exec_winograd_filters,
        [CONV_STEP_WINOGRAD_OUT] = exec_winograd_out,
    };

    execute[s->kind]((struct conv_exec *)self, s);
    return 0;
}

static void exec_begin(struct conv_backend *self)
{
    struct conv_exec *e = (struct conv_exec *)self;

    e->holds = true;
    e->held = 0;
}

static void exec_end(struct conv_backend *self)
{
    struct conv_exec *e = (struct conv_exec *)self;

    if (e->held)
        e->plan->ukr->release();
    e->holds = false;
}

void conv_exec_init(struct conv_exec *e, const struct conv_plan *plan, const struct conv_binding *bind)
{
    assert(plan && bind);
    *e = (struct conv_exec){ .base = { exec_step, exec_run, exec_begin, exec_end }, .plan = plan, .bind = *bind };
}
