#include "kernels/backend/backend.h"

#include <assert.h>

#include "kernels/backend/resolve.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/winograd.h"

static void replay_im2col(const struct conv_replay *r, const struct conv_step *s)
{
    const struct conv_im2col_args a = conv_resolve_im2col(r->plan, &r->bind, s);

    (a.p->type == CONV_F32 ? conv_im2col_emit : conv_im2col_narrow_emit)(&a, r->sink);
}

static void replay_zero(const struct conv_replay *r, const struct conv_step *s)
{
    const struct conv_zero_args a = conv_resolve_zero(r->plan, &r->bind, s);

    conv_zero_emit(&a, r->sink);
}

static void replay_pack_windows(const struct conv_replay *r, const struct conv_step *s)
{
    const struct conv_pack_windows_args a = conv_resolve_pack_windows(r->plan, &r->bind, s);
    const struct conv_pack_windows *pack = conv_resolve_packer(r->plan, &a);

    pack->emit(pack, &a, r->sink);
}

static void replay_pack_matrix(const struct conv_replay *r, const struct conv_step *s)
{
    const struct conv_pack_matrix_args a = conv_resolve_pack_matrix(r->plan, &r->bind, s);

    conv_pack_matrix_emit(&a, r->sink);
}

static void replay_pack_filters(const struct conv_replay *r, const struct conv_step *s)
{
    const struct conv_pack_filters_args a = conv_resolve_pack_filters(r->plan, &r->bind, s);

    conv_kernels_of(r->plan->problem.type)->pack_filters_emit(&a, r->sink);
}

static void replay_ukr(const struct conv_replay *r, const struct conv_step *s)
{
    struct conv_ahead_lists ahead;
    struct conv_taps taps;
    struct conv_ukr_args a = conv_resolve_ukr(r->plan, &r->bind, s);

    a.taps = conv_resolve_taps(r->plan, &r->bind, s, &a, &taps);
    a.ahead = conv_resolve_ahead(r->plan, &r->bind, s, &a, &ahead);
    assert(conv_ukr_takes(r->plan->ukr, &a));
    r->plan->ukr->emit(r->plan->ukr, &a, r->sink);
}

static void replay_direct(const struct conv_replay *r, const struct conv_step *s)
{
    const struct conv_direct *kernel = r->plan->direct.kernel;
    const struct conv_direct_args a = conv_resolve_direct(r->plan, &r->bind, s);

    kernel->emit(kernel, &a, r->sink);
}

static void replay_product(const struct conv_replay *r, const struct conv_step *s)
{
    const struct conv_product_args a = conv_resolve_product(r->plan, &r->bind, s);

    conv_product_emit(&a, r->sink);
}

static void replay_winograd_in(const struct conv_replay *r, const struct conv_step *s)
{
    const struct conv_winograd_args a = conv_resolve_winograd_in(r->plan, &r->bind, s);

    conv_winograd_in_emit(r->plan->winograd.kernel, &a, r->sink);
}

static void replay_winograd_filters(const struct conv_replay *r, const struct conv_step *s)
{
    const struct conv_winograd_filter_args a = conv_resolve_winograd_filters(r->plan, &r->bind, s);

    conv_winograd_filters_emit(r->plan->winograd.kernel->m, &a, r->sink);
}

static void replay_winograd_out(const struct conv_replay *r, const struct conv_step *s)
{
    const struct conv_winograd_args a = conv_resolve_winograd_out(r->plan, &r->bind, s);

    conv_winograd_out_emit(r->plan->winograd.kernel, &a, r->sink);
}

static void replay_stack(struct conv_replay *r, const struct conv_step *s)
{
    conv_work_meter_take(&r->meter, r->plan, &r->bind, s, r->work);
    conv_stack_emit(&r->stack, conv_step_phase(s->kind), r->work, r->meter.to);
}

static int replay_step(struct conv_backend *self, const struct conv_step *s)
{
    static void (*const replay[CONV_N_STEP_KINDS])(const struct conv_replay *, const struct conv_step *) = {
        [CONV_STEP_IM2COL] = replay_im2col,
        [CONV_STEP_ZERO] = replay_zero,
        [CONV_STEP_PACK_WINDOWS] = replay_pack_windows,
        [CONV_STEP_PACK_MATRIX] = replay_pack_matrix,
        [CONV_STEP_PACK_FILTERS] = replay_pack_filters,
        [CONV_STEP_UKR] = replay_ukr,
        [CONV_STEP_DIRECT] = replay_direct,
        [CONV_STEP_PRODUCT] = replay_product,
        [CONV_STEP_WINOGRAD_IN] = replay_winograd_in,
        [CONV_STEP_WINOGRAD_FILTERS] = replay_winograd_filters,
        [CONV_STEP_WINOGRAD_OUT] = replay_winograd_out,
    };

    struct conv_replay *r = (struct conv_replay *)self;

    replay[s->kind](r, s);
    if (r->stack.stack)
        replay_stack(r, s);
    return 0;
}

void conv_replay_init(struct conv_replay *r, const struct conv_plan *plan, struct sim_sink *sink)
{
    assert(plan && sink);
    *r = (struct conv_replay){
        .base.step = replay_step,
        .plan = plan,
        .bind = conv_bind(&plan->layout, CONV_REPLAY_BASE),
        .sink = sink,
    };
}

void conv_replay_set_stack(struct conv_replay *r, const struct conv_stack *stack)
{
    if (!stack)
        return;
    conv_work_meter_init(&r->meter, r->sink);
    r->stack = (struct conv_stack_emitter){ .stack = stack };
    r->sink = &r->meter.sink;
}
