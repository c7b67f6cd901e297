#include "kernels/backend/resolve.h"

#include <assert.h>
#include <string.h>

#include "kernels/shape/sizes.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/winograd.h"

enum { N_INPUT_LISTS = 4 };
enum { LINE_BYTES = 64 }; /* bytes of a prefetch; where lines are longer, two prefetches may bring one line */

static uint64_t element(const struct conv_plan *p, const struct conv_binding *b, enum conv_tensor t, size_t index)
{
    return b->addr[t] + index * p->layout.element[t];
}

static uint64_t input_plane(const struct conv_plan *p, const struct conv_binding *b, const struct conv_step *s,
                            size_t channel)
{
    const struct conv_problem *q = &p->problem;

    return element(p, b, CONV_INPUT, (s->image * q->c + s->group * p->group_channels + channel) * q->h * q->w);
}

static uint64_t output_at(const struct conv_plan *p, const struct conv_binding *b, const struct conv_step *s)
{
    const struct conv_problem *q = &p->problem;
    size_t filter = s->image * q->k + s->group * p->group_filters + s->f0;

    return element(p, b, CONV_OUTPUT, filter * conv_windows(q) + s->win0);
}

struct conv_im2col_args conv_resolve_im2col(const struct conv_plan *p, const struct conv_binding *b,
                                            const struct conv_step *s)
{
    return (struct conv_im2col_args){
        .p = p->algorithm == CONV_SCONV && p->sconv.options.pads_first ? &p->sconv.padding : &p->problem,
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
        .piece_bytes = p->gemm.core->zero_bytes,
    };
}

struct conv_pack_windows_args conv_resolve_pack_windows(const struct conv_plan *p, const struct conv_binding *b,
                                                        const struct conv_step *s)
{
    size_t taps = p->view.r * p->view.s, panel = conv_ukr_win_panel(p->ukr), channel = s->k0 / taps;
    bool is_prepared = conv_plan_prepares_image(p); /* there is a group's image, or matrix */

    return (struct conv_pack_windows_args){
        .p = &p->view,
        .tag = is_prepared ? CONV_IM2COL : CONV_INPUT,
        .in = is_prepared ? element(p, b, CONV_IM2COL, channel * p->view.h * p->view.w) : input_plane(p, b, s, channel),
        .panel = element(p, b, CONV_PACKED_INPUT, s->in_panel),
        .panel_step = p->sconv.depth * panel,
        .win0 = s->win0,
        .n_win = s->n_win,
        .n_c = s->n_k / taps,
        .width = p->ukr->splits_edges ? min_size(s->n_win, panel) : panel,
        .live_win = p->sconv.options.skips_padding ? p->ukr->n_win : 0,
        .flip = conv_ukr_flip(p->ukr),
    };
}

const struct conv_pack_windows *conv_resolve_packer(const struct conv_plan *p, const struct conv_pack_windows_args *a)
{
    return conv_pack_windows_suits(p->sconv.pack_windows, a->p, a->width)
               ? p->sconv.pack_windows
               : conv_kernels_of(a->p->type)->pack_windows[0];
}

struct conv_pack_matrix_args conv_resolve_pack_matrix(const struct conv_plan *p, const struct conv_binding *b,
                                                      const struct conv_step *s)
{
    size_t ld = conv_windows(&p->problem);
    uint64_t matrix = p->gemm.needs_im2col ? b->addr[CONV_IM2COL] : input_plane(p, b, s, 0);

    return (struct conv_pack_matrix_args){
        .ukr = p->ukr,
        .tag = p->gemm.needs_im2col ? CONV_IM2COL : CONV_INPUT,
        .matrix = matrix + (s->k0 * ld + s->win0) * sizeof(float),
        .panels = element(p, b, CONV_PACKED_INPUT, s->in_panel),
        .ld = ld,
        .n_win = s->n_win,
        .n_k = s->n_k,
        .copy = conv_plan_is_base(p) ? &p->gemm.core->copies->windows : NULL,
    };
}

struct conv_pack_filters_args conv_resolve_pack_filters(const struct conv_plan *p, const struct conv_binding *b,
                                                        const struct conv_step *s)
{
    size_t reduction = conv_reduction(&p->problem);
    size_t filter = s->group * p->group_filters + s->f0;

    return (struct conv_pack_filters_args){
        .filter = element(p, b, CONV_FILTER, filter * reduction + s->k0),
        .panels = element(p, b, CONV_PACKED_FILTER, s->f_panel),
        .ld = reduction,
        .ukr = p->ukr,
        .n_f = s->n_f,
        .n_k = s->n_k,
        .by_rows = conv_plan_skips_padding(p) ? p->problem.r : 0,
        .row = p->problem.s,
        .taps = p->view.r * p->view.s,
        .copy = conv_plan_is_base(p) ? &p->gemm.core->copies->filters : NULL,
    };
}

struct conv_product_args conv_resolve_product(const struct conv_plan *p, const struct conv_binding *b,
                                              const struct conv_step *s)
{
    const struct conv_pack_matrix_args in = conv_resolve_pack_matrix(p, b, s);

    return (struct conv_product_args){
        .tag = in.tag,
        .matrix = in.matrix,
        .filter = conv_resolve_pack_filters(p, b, s).filter,
        .out = output_at(p, b, s),
        .copies = in.panels,
        .n_win = s->n_win,
        .n_f = s->n_f,
        .n_k = s->n_k,
    };
}

struct conv_direct_args conv_resolve_direct(const struct conv_plan *p, const struct conv_binding *b,
                                            const struct conv_step *s)
{
    return (struct conv_direct_args){
        .p = &p->problem,
        .group_channels = p->group_channels,
        .group_filters = p->group_filters,
        .n_images = conv_step_images(s),
        .in = input_plane(p, b, s, 0),
        .filter = element(p, b, CONV_FILTER, (s->group * p->group_filters + s->f0) * s->n_k),
        .out = output_at(p, b, s),
        .n_f = s->n_f,
        .row0 = s->win0 / p->problem.q,
        .n_rows = s->n_win / p->problem.q,
    };
}

static struct conv_winograd_args winograd_tiles(const struct conv_plan *p, const struct conv_step *s)
{
    return (struct conv_winograd_args){
        .p = &p->problem,
        .tile_columns = p->winograd.tile_columns,
        .tile0 = s->win0,
        .n_tiles = s->n_win,
    };
}

struct conv_winograd_args conv_resolve_winograd_in(const struct conv_plan *p, const struct conv_binding *b,
                                                   const struct conv_step *s)
{
    struct conv_winograd_args a = winograd_tiles(p, s);

    a.n_planes = s->n_k;
    a.planes = input_plane(p, b, s, s->k0);
    a.panel = element(p, b, CONV_PACKED_INPUT, s->in_panel);
    a.product_step = p->winograd.in_step;
    a.width = p->ukr->win_panel ? p->ukr->win_panel : conv_ukr_in_width(p->ukr, s->n_win);
    return a;
}

struct conv_winograd_args conv_resolve_winograd_out(const struct conv_plan *p, const struct conv_binding *b,
                                                    const struct conv_step *s)
{
    struct conv_winograd_args a = winograd_tiles(p, s);

    a.n_planes = s->n_f;
    a.planes = element(p, b, CONV_OUTPUT, (s->image * p->problem.k + s->f0) * conv_windows(&p->problem));
    a.panel = element(p, b, CONV_IM2COL, s->out_panel);
    a.product_step = p->winograd.out_step;
    a.width = round_up(p->ukr->n_win, p->winograd.kernel->lanes);
    return a;
}

struct conv_winograd_filter_args conv_resolve_winograd_filters(const struct conv_plan *p, const struct conv_binding *b,
                                                               const struct conv_step *s)
{
    return (struct conv_winograd_filter_args){
        .filter = element(p, b, CONV_FILTER, s->f0 * conv_reduction(&p->problem)),
        .panel = element(p, b, CONV_PACKED_FILTER, s->f_panel),
        .product_step = p->winograd.filter_step,
        .n_f = s->n_f,
        .n_c = s->n_k,
    };
}

static size_t clip(ptrdiff_t x, size_t n)
{
    return x < 0 ? 0 : (size_t)x < n ? (size_t)x : n - 1;
}

/* Leaves out dead rows of taps: they are the first and the last steps of panels by rows. */
static void leave_out(const struct conv_plan *p, const struct conv_step *s, struct conv_ukr_args *a)
{
    size_t row = s->n_k / p->problem.r; /* steps */

    assert(conv_plan_skips_padding(p) && s->dead.above + s->dead.below < p->problem.r);
    a->k = conv_step_live_k(s, p->problem.r);
    a->in += s->dead.above * row * conv_ukr_ld_in(p->ukr, a) * sizeof(float);
    a->filter += s->dead.above * row * a->n_f * sizeof(float);
}

struct conv_ukr_args conv_resolve_ukr(const struct conv_plan *p, const struct conv_binding *b,
                                      const struct conv_step *s)
{
    struct conv_ukr_args a = {
        .in = element(p, b, CONV_PACKED_INPUT, s->in_panel),
        .filter = element(p, b, CONV_PACKED_FILTER, s->f_panel),
        .out = output_at(p, b, s),
        .k = s->n_k,
        .ld_out = conv_windows(&p->problem),
        .n_win = s->n_win,
        .n_f = s->n_f,
        .accumulate = s->accumulate,
    };

    assert(s->n_k >= 1 && s->n_win >= 1 && s->n_f >= 1);
    if (p->algorithm == CONV_WINOGRAD) {
        a.is_product = true;
        a.out = element(p, b, CONV_IM2COL, s->out_panel);
        a.ld_out = round_up(p->ukr->n_win, p->winograd.kernel->lanes);
    }
    if (p->algorithm != CONV_SCONV) /* panels follow each other */
        return a;
    /* slots are as deep as the deepest channel set */
    a.k = conv_plan_steps(p, s->n_k);
    a.in_step = p->sconv.depth * conv_ukr_win_panel(p->ukr);
    if (p->sconv.options.reads_in_place && !p->sconv.walks) {
        a.in = input_plane(p, b, s, s->k0) + s->win0 * sizeof(float);
        a.ld_in = p->problem.h * p->problem.w;
    }
    if (s->dead.above || s->dead.below)
        leave_out(p, s, &a);
    return a;
}

/* Bits of the positions x, x + stride, ... (n of them) that lie in 0 .. size - 1. */
static uint32_t inside(ptrdiff_t x, size_t stride, size_t n, size_t size)
{
    uint32_t bits = 0;

    if (x >= 0 && x + (ptrdiff_t)((n - 1) * stride) < (ptrdiff_t)size)
        return (1u << n) - 1;
    for (size_t i = 0; i < n; i++, x += (ptrdiff_t)stride)
        bits |= (uint32_t)(x >= 0 && x < (ptrdiff_t)size) << i;
    return bits;
}

/* Makes n neighbours of each bit. */
static uint32_t widen(uint32_t bits, size_t n)
{
    uint32_t wide = 0;

    for (size_t i = 0; bits >> i; i++)
        wide |= (bits >> i & 1) * ((1u << n) - 1) << i * n;
    return wide;
}

/* Sets the starts of a tile's windows, whole rows or parts of a row, and the taps that read no padding. */
static void set_windows_by_rows(const struct conv_problem *v, const struct conv_step *s, struct conv_taps *t)
{
    size_t row = s->win0 / v->q, column = s->win0 % v->q;
    size_t n_columns = min_size(s->n_win, v->q - column), n_rows = s->n_win / n_columns;
    ptrdiff_t ih0 = (ptrdiff_t)(row * v->stride_h) - (ptrdiff_t)v->pad_top;
    ptrdiff_t iw0 = (ptrdiff_t)(column * v->stride_w) - (ptrdiff_t)v->pad_left;
    size_t n = 0;

    assert(n_rows * n_columns == s->n_win);
    t->row_windows = n_columns;
    for (size_t i = 0; i < n_rows; i++) {
        for (size_t j = 0; j < n_columns; j++)
            t->window_bytes[n++] = (int64_t)((i * v->stride_h * v->w + j * v->stride_w) * sizeof(float));
    }
    for (size_t fh = 0; fh < v->r; fh++)
        t->row_live[fh] = widen(inside(ih0 + (ptrdiff_t)(fh * v->dilation_h), v->stride_h, n_rows, v->h), n_columns);
    for (size_t fw = 0; fw < v->s; fw++) {
        uint32_t live = inside(iw0 + (ptrdiff_t)(fw * v->dilation_w), v->stride_w, n_columns, v->w);

        t->column_live[fw] = 0;
        for (size_t i = 0; i < n_rows; i++)
            t->column_live[fw] |= live << i * n_columns;
    }
}

/* As set_windows_by_rows, for windows side by side (CONV_WALK_SAME): the end of a row, whole rows, a start. */
static void set_windows_side_by_side(const struct conv_problem *v, const struct conv_step *s, struct conv_taps *t)
{
    memset(t->row_live, 0, v->r * sizeof *t->row_live);
    memset(t->column_live, 0, v->s * sizeof *t->column_live);
    t->row_windows = s->n_win;
    for (size_t i = 0; i < s->n_win; i++)
        t->window_bytes[i] = (int64_t)(i * sizeof(float));
    for (size_t first = 0, n; first < s->n_win; first += n) {
        ptrdiff_t row = (ptrdiff_t)((s->win0 + first) / v->q) - (ptrdiff_t)v->pad_top;
        ptrdiff_t column = (ptrdiff_t)((s->win0 + first) % v->q) - (ptrdiff_t)v->pad_left;

        n = min_size(s->n_win - first, v->q - (s->win0 + first) % v->q);
        for (size_t fh = 0; fh < v->r; fh++)
            t->row_live[fh] |= widen(inside(row + (ptrdiff_t)(fh * v->dilation_h), 1, 1, v->h), n) << first;
        for (size_t fw = 0; fw < v->s; fw++)
            t->column_live[fw] |= inside(column + (ptrdiff_t)(fw * v->dilation_w), 1, n, v->w) << first;
    }
}

const struct conv_taps *conv_resolve_taps(const struct conv_plan *p, const struct conv_binding *b,
                                          const struct conv_step *s, struct conv_ukr_args *a, struct conv_taps *t)
{
    const struct conv_problem *v = &p->view;
    ptrdiff_t row = (ptrdiff_t)(s->win0 / v->q * v->stride_h) - (ptrdiff_t)v->pad_top;
    ptrdiff_t column = (ptrdiff_t)(s->win0 % v->q * v->stride_w) - (ptrdiff_t)v->pad_left;

    if (p->algorithm != CONV_SCONV || !p->sconv.walks)
        return NULL;
    assert(v->r <= CONV_MAX_TAPS && v->s <= CONV_MAX_TAPS && s->n_win <= CONV_MAX_TAP_WINDOWS);
    a->in = input_plane(p, b, s, s->k0 / (v->r * v->s)) +
            (uint64_t)((row * (ptrdiff_t)v->w + column) * (ptrdiff_t)sizeof(float));
    t->n_c = s->n_k / (v->r * v->s);
    t->r = v->r;
    t->s = v->s;
    t->channel_bytes = (int64_t)(v->h * v->w * sizeof(float));
    t->row_bytes = (int64_t)(v->dilation_h * v->w * sizeof(float));
    t->column_bytes = (int64_t)(v->dilation_w * sizeof(float));
    t->apart_bytes = (int64_t)(v->stride_w * sizeof(float));
    (p->ukr->walk == CONV_WALK_ANY ? set_windows_by_rows : set_windows_side_by_side)(v, s, t);
    return t;
}

/* Returns the first element that a window needs of a row of taps; of padding, the nearest element. */
static size_t tap_element(const struct conv_problem *v, size_t window, size_t tap)
{
    ptrdiff_t ih = (ptrdiff_t)(window / v->q * v->stride_h + tap * v->dilation_h) - (ptrdiff_t)v->pad_top;
    ptrdiff_t iw = (ptrdiff_t)(window % v->q * v->stride_w) - (ptrdiff_t)v->pad_left;

    return clip(ih, v->h) * v->w + clip(iw, v->w);
}

static void add_list(struct conv_ahead_lists *ahead, const struct conv_ahead *list)
{
    if (!list->n)
        return;
    ahead->list[ahead->n++] = *list;
}

/*
 * Prefetches, per channel, the lines of a tile's windows, up to a limit, in the row of taps that no tile above needs.
 */
static void input_ahead(const struct conv_plan *p, const struct conv_binding *b, const struct conv_step *s,
                        size_t n_steps, struct conv_ahead_lists *ahead)
{
    const struct conv_problem *v = &p->view;
    size_t tap = s->ahead.is_top ? v->r / 2 : v->r - 1;
    size_t last = min_size(conv_windows(v) - s->ahead.win0, p->ukr->n_win) - 1;
    uint64_t plane = input_plane(p, b, s, s->ahead.k0 / (v->r * v->s));
    size_t gaps = min_size(last * v->stride_w / (LINE_BYTES / sizeof(float)) + 1, N_INPUT_LISTS - 1);

    for (size_t i = 0; i <= gaps; i++) {
        const struct conv_ahead list = {
            .addr = plane + tap_element(v, s->ahead.win0 + last * i / gaps, tap) * sizeof(float),
            .step_bytes = (int64_t)(v->h * v->w * sizeof(float)),
            .n = min_size(s->ahead.channels, n_steps),
            .tag = CONV_INPUT,
        };

        add_list(ahead, &list);
    }
}

/*
 * Asks for the last output of each row that the next call writes, and for the outputs a line, two lines, ... before; or
 * for this call's outputs, where the next call has other filters. A call's own prefetches arrive too late if its
 * reduction is short, or if it is a register tile that is the first of several. Rows are not aligned, and the line of
 * the first output has the last outputs of the tile before.
 */
static void outputs_ahead(const struct conv_plan *p, const struct conv_step *s, const struct conv_ukr_args *a,
                          struct conv_ahead_lists *ahead)
{
    size_t left = conv_windows(&p->problem) - s->win0;
    bool is_next = p->sconv.tiling.schedule == CSA_WS && s->n_win < left;
    size_t first = is_next ? s->n_win : 0, n = (is_next ? min_size(2 * s->n_win, left) : s->n_win) - first;

    for (size_t end = n; end; end -= min_size(end, LINE_BYTES / sizeof(float))) {
        const struct conv_ahead list = {
            .addr = a->out + (first + end - 1) * sizeof(float),
            .step_bytes = (int64_t)(a->ld_out * sizeof(float)),
            .n = min_size(a->n_f, a->k),
            .tag = CONV_OUTPUT,
        };

        add_list(ahead, &list);
    }
}

static void filters_ahead(const struct conv_plan *p, const struct conv_binding *b, const struct conv_step *s,
                          size_t n_steps, struct conv_ahead_lists *ahead)
{
    const struct conv_ahead list = {
        .addr = element(p, b, CONV_PACKED_FILTER, s->ahead.panel),
        .step_bytes = LINE_BYTES,
        .n = min_size(ceil_div(s->ahead.elems * sizeof(float), LINE_BYTES), n_steps),
        .tag = CONV_PACKED_FILTER,
    };

    add_list(ahead, &list);
}

struct conv_ahead_lists *conv_resolve_ahead(const struct conv_plan *p, const struct conv_binding *b,
                                            const struct conv_step *s, const struct conv_ukr_args *a,
                                            struct conv_ahead_lists *ahead)
{
    if (!s->ahead.is_on)
        return NULL;
    ahead->n = 0;
    outputs_ahead(p, s, a, ahead);
    filters_ahead(p, b, s, a->k, ahead);
    if (s->ahead.channels)
        input_ahead(p, b, s, a->k, ahead);
    assert(ahead->n <= CONV_N_AHEAD);
    conv_ahead_share(ahead, a->k);
    return ahead;
}

static int64_t ahead_tile(const struct conv_plan *p, const struct conv_run *r, const struct conv_ukr_args *a,
                          enum conv_tensor tensor)
{
    const struct conv_step *s = &r->step;

    switch (tensor) {
    case CONV_OUTPUT:
        return a->out_tile;
    case CONV_PACKED_FILTER:
        return (int64_t)(s->ahead.elems * sizeof(float));
    default:
        return (int64_t)((r->along_filters ? s->ahead.channels * p->view.h * p->view.w : s->n_win) * sizeof(float));
    }
}

void conv_resolve_run(const struct conv_plan *p, const struct conv_run *r, struct conv_ukr_args *a)
{
    const struct conv_step *s = &r->step;
    size_t windows = a->ld_in ? s->n_win : r->panel_elems;

    assert(r->n == 1 || r->along_filters || !a->taps);
    a->n_tiles = r->n;
    a->in_tile = r->along_filters ? 0 : (int64_t)(windows * sizeof(float));
    a->filter_tile = r->along_filters ? (int64_t)(r->panel_elems * sizeof(float)) : 0;
    a->out_tile = (int64_t)((r->along_filters ? s->n_f * a->ld_out : s->n_win) * p->layout.element[CONV_OUTPUT]);
    for (size_t l = 0; a->ahead && l < a->ahead->n; l++)
        a->ahead->list[l].tile_bytes = ahead_tile(p, r, a, a->ahead->list[l].tag);
}
