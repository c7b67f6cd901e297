/*
 * Packing of a matrix and of filters into panels, and clearing of the output, each beside its emission. Built without
 * auto-vectorisation, so that a load in the source is a load in the machine.
 */
#include <string.h>

#include "kernels/ukr/element.h"

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
    size_t pass = a->row_pass ? a->row_pass : a->n_k, full = conv_ukr_win_panel(a->ukr);

    for (size_t row0 = 0; row0 < a->n_k; row0 += pass) {
        struct panel_part part = { .row0 = row0, .n_rows = a->n_k - row0 < pass ? a->n_k - row0 : pass };

        for (size_t column = 0; column < a->n_win; column += part.n_win) {
            part.column = column;
            part.n_win = conv_tile_extent(a->n_win - column, full, full, a->ukr->splits_edges);
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

/* Emits each row of a part: the row in pieces, each loaded and stored; then the zero columns. */
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

/* Returns where a panel has step t. */
static size_t panel_step(const struct conv_pack_filters_args *a, size_t t)
{
    size_t row, n_c;

    if (!a->by_rows)
        return t;
    row = t / a->row;
    n_c = a->n_k / a->row / a->by_rows;
    return (row % a->by_rows * n_c + row / a->by_rows) * a->row + t % a->row;
}

/* Walks along the reduction, taking one element of each of the panel's filters. */
void conv_pack_filters(const struct conv_pack_filters_args *a)
{
    const float *filter = conv_in_ptr(a->filter);
    float *panel = conv_out_ptr(a->panels);

    for (size_t f0 = 0, n_f; f0 < a->n_f; f0 += n_f, panel += a->n_k * n_f) {
        n_f = panel_filters(a, f0);
        for (size_t t = 0; t < a->n_k; t++) {
            float *step = panel + panel_step(a, t) * n_f;

            for (size_t f = 0; f < n_f; f++)
                step[f] = filter[(f0 + f) * a->ld + t];
        }
    }
}

/* Blocks of as many reduction steps as one load holds: the panel's filters loaded, then their transpose stored. */
static void emit_transposes(const struct conv_pack_filters_args *a, uint64_t filter, uint64_t panel, size_t n_f,
                            size_t n_blocks, struct sim_sink *sink)
{
    uint64_t odd = filter + a->ld * sizeof(float);
    struct sim_run run[3] = {
        element_run(SIM_LOAD, CONV_FILTER, CONV_PHASE_PACK, filter, (int64_t)a->ld, n_f),
        element_run(SIM_LOAD, CONV_FILTER, CONV_PHASE_PACK, odd, 2 * (int64_t)a->ld, a->loads_odd_twice ? n_f / 2 : 0),
        element_run(SIM_STORE, CONV_PACKED_FILTER, CONV_PHASE_PACK, panel, 1, n_f),
    };

    for (int i = 0; i < 3; i++) {
        run[i].step_bytes = (int64_t)a->piece_bytes;
        run[i].access_bytes = a->piece_bytes;
    }
    run[2].stride_bytes = (int64_t)a->piece_bytes;
    run[2].step_bytes = (int64_t)(n_f * a->piece_bytes);
    if (n_blocks)
        sim_emit(sink, run, 3, n_blocks);
}

static void emit_filter_panel(const struct conv_pack_filters_args *a, uint64_t filter, uint64_t panel, size_t n_f,
                              struct sim_sink *sink)
{
    size_t group = a->piece_bytes / sizeof(float); /* reduction steps per load */
    size_t whole = n_f == a->ukr->f_panel ? a->n_k / group * group : 0;

    if (group > 1)
        emit_transposes(a, filter, panel, n_f, whole / group, sink);
    else
        whole = 0;
    for (size_t t = whole; t < a->n_k; t++) {
        struct sim_run load =
            element_run(SIM_LOAD, CONV_FILTER, CONV_PHASE_PACK, filter + t * sizeof(float), (int64_t)a->ld, 1);
        struct sim_run store = element_run(SIM_STORE, CONV_PACKED_FILTER, CONV_PHASE_PACK,
                                           panel + panel_step(a, t) * n_f * sizeof(float), 1, 1);

        element_emit_copy(load, store, n_f, sink);
    }
}

void conv_pack_filters_emit(const struct conv_pack_filters_args *a, struct sim_sink *sink)
{
    for (size_t f0 = 0, n_f; f0 < a->n_f; f0 += n_f) {
        n_f = panel_filters(a, f0);
        emit_filter_panel(a, a->filter + f0 * a->ld * sizeof(float), a->panels + f0 * a->n_k * sizeof(float), n_f,
                          sink);
    }
}

/* ---- clearing the output ---- */

void conv_zero(const struct conv_zero_args *a)
{
    for (size_t f = 0; f < a->n_f; f++)
        memset(conv_out_ptr(a->out) + f * a->ld_out, 0, a->n_win * sizeof(float));
}

/* Emits the stores. Rows without gaps are cleared as one, as OpenBLAS does it. */
void conv_zero_emit(const struct conv_zero_args *a, struct sim_sink *sink)
{
    size_t per_piece = a->piece_bytes / sizeof(float);
    bool is_one = a->ld_out == a->n_win;
    size_t n_rows = is_one ? 1 : a->n_f, n = is_one ? a->n_f * a->n_win : a->n_win;

    for (size_t f = 0; f < n_rows; f++) {
        uint64_t row = a->out + f * a->ld_out * sizeof(float);
        size_t pieces = n / per_piece;
        struct sim_run piece = element_run(SIM_STORE, CONV_OUTPUT, CONV_PHASE_ZERO, row, (int64_t)per_piece, 1);
        struct sim_run rest = element_run(SIM_STORE, CONV_OUTPUT, CONV_PHASE_ZERO, row + pieces * a->piece_bytes, 1, 1);

        piece.access_bytes = a->piece_bytes;
        element_emit_stores(piece, pieces, sink);
        element_emit_stores(rest, n % per_piece, sink);
    }
}
