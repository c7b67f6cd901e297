/* Packing of matrices and filters, and clearing. No auto-vectorisation: a source load is a machine load. */
#include <string.h>

#include "kernels/ukr/block_copy.h"
#include "kernels/ukr/element.h"

/* ---- packing of a matrix, for GEMM ---- */

void conv_pack_matrix(const struct conv_pack_matrix_args *a)
{
    const size_t full = conv_ukr_win_panel(a->ukr);

    for (size_t column = 0, n_win; column < a->n_win; column += n_win) {
        const float *in = conv_in_ptr(a->matrix) + column;
        float *out = conv_out_ptr(a->panels) + column * a->n_k;

        n_win = conv_tile_extent(a->n_win - column, full, full, a->ukr->splits_edges);
        for (size_t t = 0; t < a->n_k; t++, in += a->ld) {
            for (size_t i = 0; i < n_win; i++)
                *out++ = in[i];
            for (size_t i = n_win; i < conv_ukr_in_width(a->ukr, n_win); i++)
                *out++ = 0;
        }
    }
}

/* Emits a panel: of each row an element loaded and stored after the other; then the zero columns. */
static void emit_matrix_panel(const struct conv_pack_matrix_args *a, size_t column, size_t n_win, struct sim_sink *sink)
{
    const size_t width = conv_ukr_in_width(a->ukr, n_win), row_bytes = n_win * sizeof(float);
    const uint64_t out = a->panels + column * a->n_k * sizeof(float);
    struct sim_run run[SIM_MAX_BURST_RUNS];
    size_t n = 0;

    for (size_t i = 0; i < n_win; i++) {
        run[n] = element_run(SIM_LOAD, a->tag, CONV_PHASE_PACK, a->matrix + (column + i) * sizeof(float), 0, 1);
        run[n++].step_bytes = (int64_t)(a->ld * sizeof(float));
        run[n] = element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, out + i * sizeof(float), 0, 1);
        run[n++].step_bytes = (int64_t)(width * sizeof(float));
    }
    run[n] = element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, out + row_bytes, 1, width - n_win);
    run[n++].step_bytes = (int64_t)(width * sizeof(float));
    sim_emit(sink, run, n, a->n_k);
}

static void emit_matrix_copy(const struct conv_pack_matrix_args *a, struct sim_sink *sink)
{
    const struct conv_copy_call call = {
        .from = a->matrix,
        .to = a->panels,
        .step_bytes = (int64_t)(a->ld * sizeof(float)),
        .column_bytes = sizeof(float),
        .n_steps = a->n_k,
        .n_columns = a->n_win,
        .panel = conv_ukr_win_panel(a->ukr),
        .from_tag = a->tag,
        .to_tag = CONV_PACKED_INPUT,
    };

    conv_copy_emit(a->copy, &call, sink);
}

void conv_pack_matrix_emit(const struct conv_pack_matrix_args *a, struct sim_sink *sink)
{
    const size_t full = conv_ukr_win_panel(a->ukr);

    if (a->copy) {
        emit_matrix_copy(a, sink);
        return;
    }
    for (size_t column = 0, n_win; column < a->n_win; column += n_win) {
        n_win = conv_tile_extent(a->n_win - column, full, full, a->ukr->splits_edges);
        emit_matrix_panel(a, column, n_win, sink);
    }
}

/* ---- packing of filters ---- */

static size_t panel_filters(const struct conv_pack_filters_args *a, size_t f0)
{
    return conv_tile_extent(a->n_f - f0, a->ukr->f_panel, a->ukr->f_panel, a->ukr->splits_edges);
}

static size_t panel_step(const struct conv_pack_filters_args *a, size_t t)
{
    size_t row, n_c;

    if (!a->by_rows)
        return t;
    row = t / a->row;
    n_c = a->n_k / a->row / a->by_rows;
    return (row % a->by_rows * n_c + row / a->by_rows) * a->row + t % a->row;
}

/* Walks along the reduction, taking an element of each of the panel's filters. */
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

static void emit_filter_panel(const struct conv_pack_filters_args *a, uint64_t filter, uint64_t panel, size_t n_f,
                              struct sim_sink *sink)
{
    for (size_t t = 0; t < a->n_k; t++) {
        struct sim_run load =
            element_run(SIM_LOAD, CONV_FILTER, CONV_PHASE_PACK, filter + t * sizeof(float), (int64_t)a->ld, 1);
        struct sim_run store = element_run(SIM_STORE, CONV_PACKED_FILTER, CONV_PHASE_PACK,
                                           panel + panel_step(a, t) * n_f * sizeof(float), 1, 1);

        element_emit_copy(load, store, n_f, sink);
    }
}

static void emit_filters_copy(const struct conv_pack_filters_args *a, struct sim_sink *sink)
{
    const struct conv_copy_call call = {
        .from = a->filter,
        .to = a->panels,
        .step_bytes = sizeof(float),
        .column_bytes = (int64_t)(a->ld * sizeof(float)),
        .n_steps = a->n_k,
        .n_columns = a->n_f,
        .panel = a->ukr->f_panel,
        .from_tag = CONV_FILTER,
        .to_tag = CONV_PACKED_FILTER,
    };

    conv_copy_emit(a->copy, &call, sink);
}

void conv_pack_filters_emit(const struct conv_pack_filters_args *a, struct sim_sink *sink)
{
    if (a->copy) {
        emit_filters_copy(a, sink);
        return;
    }
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

/* Emits the stores. Rows without gaps are cleared as one row, as in OpenBLAS. */
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
