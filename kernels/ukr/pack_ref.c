/*
 * The portable data movers, element by element, each beside its emission. Built without auto-vectorisation, so that a
 * load in the source is a load in the machine.
 */
#include <string.h>

#include "kernels/ukr/ukr_table.h"

static struct sim_run element_run(enum sim_kind kind, enum conv_tensor tag, enum conv_phase phase, uint64_t addr,
                                  int64_t stride_elems, size_t count)
{
    return (struct sim_run){
        .addr = addr,
        .stride_bytes = stride_elems * (int64_t)sizeof(float),
        .count = (uint32_t)count,
        .access_bytes = sizeof(float),
        .kind = (uint8_t)kind,
        .tag = (uint8_t)tag,
        .phase = (uint8_t)phase,
    };
}

/* An element-wise copy of n elements: load, store, load, store. */
static void emit_copy(struct sim_run load, struct sim_run store, size_t n, struct sim_sink *sink)
{
    struct sim_run run[2] = { load, store };

    for (int i = 0; i < 2; i++) {
        run[i].step_bytes = run[i].stride_bytes;
        run[i].count = 1;
    }
    if (n)
        sim_emit(sink, run, 2, n);
}

static void emit_stores(struct sim_run store, size_t n, struct sim_sink *sink)
{
    store.count = (uint32_t)n;
    if (n)
        sim_emit(sink, &store, 1, 1);
}

/* ---- packing of windows ---- */

/* One segment at one filter position: `before` zeros, `inside` elements from column `column` on, `after` zeros. */
struct clipped {
    size_t before, inside, after;
    size_t row, column;
};

/* How many of the positions 0 .. len - 1, stride apart from start, lie below limit (may be negative). */
static size_t positions_below(ptrdiff_t start, size_t stride, size_t len, ptrdiff_t limit)
{
    size_t n;

    if (start >= limit)
        return 0;
    n = ((size_t)(limit - start) + stride - 1) / stride;
    return n < len ? n : len;
}

static struct clipped clip(const struct conv_problem *p, const struct conv_segment *s, size_t fh, size_t fw)
{
    ptrdiff_t ih = s->ih0 + (ptrdiff_t)(fh * p->dilation_h);
    ptrdiff_t iw = s->iw0 + (ptrdiff_t)(fw * p->dilation_w);
    struct clipped c = { .before = s->len };
    size_t end;

    if (ih < 0 || ih >= (ptrdiff_t)p->h)
        return c;
    c.before = positions_below(iw, p->stride_w, s->len, 0);
    end = positions_below(iw, p->stride_w, s->len, (ptrdiff_t)p->w);
    c.inside = end - c.before;
    c.after = s->len - end;
    c.row = (size_t)ih;
    c.column = c.inside ? (size_t)(iw + (ptrdiff_t)(c.before * p->stride_w)) : 0;
    return c;
}

static void pack_segment(const struct conv_problem *p, const float *plane, const struct clipped *c, float *panel)
{
    const float *in = plane + c->row * p->w + c->column;

    for (size_t i = 0; i < c->before; i++)
        *panel++ = 0;
    for (size_t i = 0; i < c->inside; i++, in += p->stride_w)
        *panel++ = *in;
    for (size_t i = 0; i < c->after; i++)
        *panel++ = 0;
}

static void conv_pack_windows__ref(const struct conv_pack_windows_args *a)
{
    const struct conv_problem *p = a->p;
    struct conv_segment segment[CONV_MAX_WIN];
    size_t n_segments = conv_segments(p, a->win0, a->n_win, segment);
    float *panel = conv_out_ptr(a->panel);

    for (size_t channel = 0; channel < a->n_c; channel++) {
        const float *plane = conv_in_ptr(a->in) + channel * p->h * p->w;

        for (size_t tap = 0; tap < p->r * p->s; tap++, panel += a->width) {
            for (size_t g = 0; g < n_segments; g++) {
                struct clipped c = clip(p, &segment[g], tap / p->s, tap % p->s);

                pack_segment(p, plane, &c, panel + segment[g].first);
            }
            for (size_t i = a->n_win; i < a->width; i++)
                panel[i] = 0;
        }
    }
}

static void emit_segment(const struct conv_problem *p, uint64_t plane, const struct clipped *c, uint64_t panel,
                         struct sim_sink *sink)
{
    struct sim_run load = element_run(SIM_LOAD, CONV_INPUT, CONV_PHASE_PACK,
                                      plane + (c->row * p->w + c->column) * sizeof(float), (int64_t)p->stride_w, 1);
    struct sim_run store = element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, panel, 1, 1);

    emit_stores(store, c->before, sink);
    store.addr += c->before * sizeof(float);
    emit_copy(load, store, c->inside, sink);
    store.addr += c->inside * sizeof(float);
    emit_stores(store, c->after, sink);
}

static void conv_pack_windows__ref_emit(const struct conv_pack_windows_args *a, struct sim_sink *sink)
{
    const struct conv_problem *p = a->p;
    struct conv_segment segment[CONV_MAX_WIN];
    size_t n_segments = conv_segments(p, a->win0, a->n_win, segment);
    uint64_t panel = a->panel;

    for (size_t channel = 0; channel < a->n_c; channel++) {
        uint64_t plane = a->in + channel * p->h * p->w * sizeof(float);

        for (size_t tap = 0; tap < p->r * p->s; tap++, panel += a->width * sizeof(float)) {
            for (size_t g = 0; g < n_segments; g++) {
                struct clipped c = clip(p, &segment[g], tap / p->s, tap % p->s);

                emit_segment(p, plane, &c, panel + segment[g].first * sizeof(float), sink);
            }
            emit_stores(element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, panel + a->n_win * sizeof(float), 1, 1),
                        a->width - a->n_win, sink);
        }
    }
}

const struct conv_pack_windows conv_pack_windows_ref = {
    .name = "pack_windows__ref",
    .isa = CPU_ISA_NONE,
    .fn = conv_pack_windows__ref,
    .emit = conv_pack_windows__ref_emit,
};

/* ---- packing of a matrix, for GEMM ---- */

/* One panel's part of a pass: rows [row0, row0 + n) of the block, columns [column, column + n_win). */
struct panel_part {
    size_t column, n_win, width;
    size_t row0, n_rows;
};

/* Calls fn for every part of the block, in the order in which it is copied. */
static void for_each_part(const struct conv_pack_matrix_args *a, void (*fn)(void *ctx, const struct panel_part *part),
                          void *ctx)
{
    size_t pass = a->row_pass ? a->row_pass : a->n_k;

    for (size_t row0 = 0; row0 < a->n_k; row0 += pass) {
        struct panel_part part = { .row0 = row0, .n_rows = a->n_k - row0 < pass ? a->n_k - row0 : pass };

        for (size_t column = 0; column < a->n_win; column += part.n_win) {
            part.column = column;
            part.n_win = conv_tile_extent(a->n_win - column, a->ukr->n_win, a->ukr->n_win, a->ukr->splits_edges);
            part.width = conv_ukr_in_width(a->ukr, part.n_win);
            fn(ctx, &part);
        }
    }
}

static void copy_part(void *ctx, const struct panel_part *part)
{
    const struct conv_pack_matrix_args *a = ctx;
    const float *in = conv_in_ptr(a->matrix) + part->row0 * a->ld + part->column;
    float *out = conv_out_ptr(a->panels) + part->column * a->n_k + part->row0 * part->width;

    for (size_t t = 0; t < part->n_rows; t++, in += a->ld, out += part->width) {
        for (size_t i = 0; i < part->n_win; i++)
            out[i] = in[i];
        for (size_t i = part->n_win; i < part->width; i++)
            out[i] = 0;
    }
}

void conv_pack_matrix(const struct conv_pack_matrix_args *a)
{
    struct conv_pack_matrix_args copy = *a;

    for_each_part(a, copy_part, &copy);
}

struct emit_matrix {
    const struct conv_pack_matrix_args *a;
    struct sim_sink *sink;
};

/* Per row of a part: the row in pieces, each loaded and stored; then the zero columns. */
static void emit_part(void *ctx, const struct panel_part *part)
{
    const struct emit_matrix *e = ctx;
    const struct conv_pack_matrix_args *a = e->a;
    uint64_t in = a->matrix + (part->row0 * a->ld + part->column) * sizeof(float);
    uint64_t out = a->panels + (part->column * a->n_k + part->row0 * part->width) * sizeof(float);
    size_t row_bytes = part->n_win * sizeof(float);
    struct sim_run run[SIM_MAX_BURST_RUNS];
    size_t n = 0;

    for (size_t first = 0; first < row_bytes; first += a->piece_bytes) {
        uint32_t bytes = row_bytes - first < a->piece_bytes ? (uint32_t)(row_bytes - first) : a->piece_bytes;

        run[n] = element_run(SIM_LOAD, CONV_IM2COL, CONV_PHASE_PACK, in + first, 0, 1);
        run[n].step_bytes = (int64_t)(a->ld * sizeof(float));
        run[n].tag = (uint8_t)a->tag;
        run[n++].access_bytes = bytes;
        run[n] = element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, out + first, 0, 1);
        run[n].step_bytes = (int64_t)(part->width * sizeof(float));
        run[n++].access_bytes = bytes;
    }
    run[n] = element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, out + row_bytes, 1, part->width - part->n_win);
    run[n++].step_bytes = (int64_t)(part->width * sizeof(float));
    sim_emit(e->sink, run, n, part->n_rows);
}

void conv_pack_matrix_emit(const struct conv_pack_matrix_args *a, struct sim_sink *sink)
{
    struct emit_matrix e = { a, sink };

    for_each_part(a, emit_part, &e);
}

/* ---- packing of filters ---- */

static size_t panel_filters(const struct conv_pack_filters_args *a, size_t f0)
{
    return conv_tile_extent(a->n_f - f0, a->ukr->f_panel, a->ukr->f_panel, a->ukr->splits_edges);
}

/* Walks along the reduction, taking one element of each of the panel's filters. */
void conv_pack_filters(const struct conv_pack_filters_args *a)
{
    const float *filter = conv_in_ptr(a->filter);
    float *panel = conv_out_ptr(a->panels);

    for (size_t f0 = 0, n_f; f0 < a->n_f; f0 += n_f) {
        n_f = panel_filters(a, f0);
        for (size_t t = 0; t < a->n_k; t++) {
            for (size_t f = 0; f < n_f; f++)
                *panel++ = filter[(f0 + f) * a->ld + t];
        }
    }
}

static void emit_filter_panel(const struct conv_pack_filters_args *a, uint64_t filter, uint64_t panel, size_t n_f,
                              struct sim_sink *sink)
{
    size_t group = a->piece_bytes / sizeof(float); /* reduction steps per load */
    size_t whole = n_f == a->ukr->f_panel ? a->n_k / group * group : 0;
    struct sim_run run[2] = {
        element_run(SIM_LOAD, CONV_FILTER, CONV_PHASE_PACK, filter, (int64_t)a->ld, n_f),
        element_run(SIM_STORE, CONV_PACKED_FILTER, CONV_PHASE_PACK, panel, 1, n_f),
    };

    if (group > 1 && whole) {
        run[0].step_bytes = (int64_t)a->piece_bytes;
        run[0].access_bytes = a->piece_bytes;
        run[1].stride_bytes = (int64_t)a->piece_bytes;
        run[1].step_bytes = (int64_t)(n_f * a->piece_bytes);
        run[1].access_bytes = a->piece_bytes;
        sim_emit(sink, run, 2, whole / group);
    } else {
        whole = 0;
    }
    for (size_t t = whole; t < a->n_k; t++) {
        struct sim_run load = element_run(SIM_LOAD, CONV_FILTER, CONV_PHASE_PACK, filter + t * sizeof(float),
                                          (int64_t)a->ld, 1);
        struct sim_run store = element_run(SIM_STORE, CONV_PACKED_FILTER, CONV_PHASE_PACK,
                                           panel + t * n_f * sizeof(float), 1, 1);

        emit_copy(load, store, n_f, sink);
    }
}

void conv_pack_filters_emit(const struct conv_pack_filters_args *a, struct sim_sink *sink)
{
    for (size_t f0 = 0, n_f; f0 < a->n_f; f0 += n_f) {
        n_f = panel_filters(a, f0);
        emit_filter_panel(a, a->filter + f0 * a->ld * sizeof(float), a->panels + f0 * a->n_k * sizeof(float), n_f, sink);
    }
}

/* ---- im2col ---- */

static bool below(ptrdiff_t x, size_t limit)
{
    return (size_t)x < limit; /* a negative x becomes a huge size */
}

static void lower_row(const struct conv_problem *p, const float *plane, size_t fh, size_t fw, float *col)
{
    for (size_t oh = 0; oh < p->p; oh++) {
        ptrdiff_t ih = (ptrdiff_t)(oh * p->stride_h + fh * p->dilation_h) - (ptrdiff_t)p->pad_top;
        ptrdiff_t iw = (ptrdiff_t)(fw * p->dilation_w) - (ptrdiff_t)p->pad_left;

        if (!below(ih, p->h)) {
            for (size_t ow = 0; ow < p->q; ow++)
                *col++ = 0;
            continue;
        }
        for (size_t ow = 0; ow < p->q; ow++, iw += (ptrdiff_t)p->stride_w)
            *col++ = below(iw, p->w) ? plane[(size_t)ih * p->w + (size_t)iw] : 0;
    }
}

void conv_im2col(const struct conv_im2col_args *a)
{
    const struct conv_problem *p = a->p;
    float *col = conv_out_ptr(a->col);

    for (size_t row = 0; row < conv_reduction(p); row++, col += p->p * p->q) {
        size_t tap = row % (p->r * p->s);
        const float *plane = conv_in_ptr(a->in) + row / (p->r * p->s) * p->h * p->w;

        lower_row(p, plane, tap / p->s, tap % p->s, col);
    }
}

static void emit_lowered_row(const struct conv_problem *p, uint64_t plane, size_t fh, size_t fw, uint64_t col,
                             struct sim_sink *sink)
{
    for (size_t oh = 0; oh < p->p; oh++, col += p->q * sizeof(float)) {
        struct conv_segment whole = {
            .len = p->q,
            .ih0 = (ptrdiff_t)(oh * p->stride_h) - (ptrdiff_t)p->pad_top,
            .iw0 = -(ptrdiff_t)p->pad_left,
        };
        struct clipped c = clip(p, &whole, fh, fw);
        struct sim_run store = element_run(SIM_STORE, CONV_IM2COL, CONV_PHASE_IM2COL, col, 1, 1);

        emit_stores(store, c.before, sink);
        store.addr += c.before * sizeof(float);
        emit_copy(element_run(SIM_LOAD, CONV_INPUT, CONV_PHASE_IM2COL,
                              plane + (c.row * p->w + c.column) * sizeof(float), (int64_t)p->stride_w, 1),
                  store, c.inside, sink);
        store.addr += c.inside * sizeof(float);
        emit_stores(store, c.after, sink);
    }
}

void conv_im2col_emit(const struct conv_im2col_args *a, struct sim_sink *sink)
{
    const struct conv_problem *p = a->p;

    for (size_t row = 0; row < conv_reduction(p); row++) {
        size_t tap = row % (p->r * p->s);
        uint64_t plane = a->in + row / (p->r * p->s) * p->h * p->w * sizeof(float);

        emit_lowered_row(p, plane, tap / p->s, tap % p->s, a->col + row * p->p * p->q * sizeof(float), sink);
    }
}

/* ---- clearing the output ---- */

void conv_zero(const struct conv_zero_args *a)
{
    for (size_t f = 0; f < a->n_f; f++)
        memset(conv_out_ptr(a->out) + f * a->ld_out, 0, a->n_win * sizeof(float));
}

void conv_zero_emit(const struct conv_zero_args *a, struct sim_sink *sink)
{
    size_t per_piece = a->piece_bytes / sizeof(float);

    for (size_t f = 0; f < a->n_f; f++) {
        uint64_t row = a->out + f * a->ld_out * sizeof(float);
        size_t pieces = a->n_win / per_piece;
        struct sim_run run[2] = {
            element_run(SIM_STORE, CONV_OUTPUT, CONV_PHASE_ZERO, row, (int64_t)per_piece, pieces),
            element_run(SIM_STORE, CONV_OUTPUT, CONV_PHASE_ZERO, row + pieces * a->piece_bytes, 1, a->n_win % per_piece),
        };

        run[0].access_bytes = a->piece_bytes;
        sim_emit(sink, run, 2, 1);
    }
}
