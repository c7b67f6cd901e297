#include "kernels/resolve.h"

static uint64_t element(const struct conv_binding *b, enum conv_tensor t, size_t index)
{
    return b->addr[t] + index * sizeof(float);
}

/* First element of a channel of the step's group and image. */
static uint64_t input_plane(const struct conv_plan *p, const struct conv_binding *b, const struct conv_step *s,
                            size_t channel)
{
    const struct conv_problem *q = &p->problem;

    return element(b, CONV_INPUT, (s->image * q->c + s->group * conv_group_channels(q) + channel) * q->h * q->w);
}

/* First output of a step: its image, filter and window. */
static uint64_t output_at(const struct conv_plan *p, const struct conv_binding *b, const struct conv_step *s)
{
    const struct conv_problem *q = &p->problem;
    size_t filter = s->image * q->k + s->group * conv_group_filters(q) + s->f0;

    return element(b, CONV_OUTPUT, filter * conv_windows(q) + s->win0);
}

struct conv_im2col_args conv_resolve_im2col(const struct conv_plan *p, const struct conv_binding *b,
                                            const struct conv_step *s)
{
    return (struct conv_im2col_args){
        .p = &p->problem,
        .in = input_plane(p, b, s, 0),
        .col = b->addr[CONV_IM2COL],
    };
}

struct conv_zero_args conv_resolve_zero(const struct conv_plan *p, const struct conv_binding *b,
                                        const struct conv_step *s)
{
    return (struct conv_zero_args){
        .out = output_at(p, b, s),
        .n_f = s->n_f,
        .n_win = s->n_win,
        .ld_out = conv_windows(&p->problem),
        .piece_bytes = p->core->zero_bytes,
    };
}

struct conv_pack_windows_args conv_resolve_pack_windows(const struct conv_plan *p, const struct conv_binding *b,
                                                        const struct conv_step *s)
{
    size_t taps = p->problem.r * p->problem.s;

    return (struct conv_pack_windows_args){
        .p = &p->view,
        .in = input_plane(p, b, s, s->k0 / taps),
        .panel = element(b, CONV_PACKED_INPUT, s->in_panel),
        .panel_step = p->tiling.n_c * taps * p->ukr->n_win,
        .win0 = s->win0,
        .n_win = s->n_win,
        .n_c = s->n_k / taps,
        .width = p->ukr->n_win,
    };
}

struct conv_pack_matrix_args conv_resolve_pack_matrix(const struct conv_plan *p, const struct conv_binding *b,
                                                      const struct conv_step *s)
{
    size_t ld = conv_windows(&p->problem);
    uint64_t matrix = p->needs_im2col ? b->addr[CONV_IM2COL] : input_plane(p, b, s, 0);
    bool own_copy = p->ukr == &p->core->ukr;

    return (struct conv_pack_matrix_args){
        .ukr = p->ukr,
        .tag = p->needs_im2col ? CONV_IM2COL : CONV_INPUT,
        .matrix = matrix + (s->k0 * ld + s->win0) * sizeof(float),
        .panels = element(b, CONV_PACKED_INPUT, s->in_panel),
        .ld = ld,
        .n_win = s->n_win,
        .n_k = s->n_k,
        .row_pass = own_copy ? p->core->pack_row_pass : 0,
        .piece_bytes = own_copy ? p->core->pack_win_bytes : sizeof(float),
    };
}

struct conv_pack_filters_args conv_resolve_pack_filters(const struct conv_plan *p, const struct conv_binding *b,
                                                        const struct conv_step *s)
{
    size_t reduction = conv_reduction(&p->problem);
    size_t filter = s->group * conv_group_filters(&p->problem) + s->f0;
    bool is_openblas = p->core && p->ukr == &p->core->ukr;

    return (struct conv_pack_filters_args){
        .filter = element(b, CONV_FILTER, filter * reduction + s->k0),
        .panels = element(b, CONV_PACKED_FILTER, s->f_panel),
        .ld = reduction,
        .ukr = p->ukr,
        .n_f = s->n_f,
        .n_k = s->n_k,
        .piece_bytes = is_openblas ? p->core->pack_f_bytes : sizeof(float),
        .loads_odd_twice = is_openblas && p->core->pack_f_odd_twice,
    };
}

struct conv_ukr_args conv_resolve_ukr(const struct conv_plan *p, const struct conv_binding *b,
                                      const struct conv_step *s)
{
    return (struct conv_ukr_args){
        .in = element(b, CONV_PACKED_INPUT, s->in_panel),
        .filter = element(b, CONV_PACKED_FILTER, s->f_panel),
        .out = output_at(p, b, s),
        .k = s->n_k,
        .ld_out = conv_windows(&p->problem),
        .n_win = s->n_win,
        .n_f = s->n_f,
        .accumulate = s->accumulate,
    };
}
