#include "kernels/ukr/ukr.h"

static void emit_update_piece(const struct conv_ukr_args *a, size_t first, uint32_t bytes, struct sim_sink *sink)
{
    struct sim_run run[2];
    size_t n = 0;

    for (int kind = a->accumulate ? SIM_LOAD : SIM_STORE; kind <= SIM_STORE; kind++) {
        run[n++] = (struct sim_run){
            .addr = a->out + first,
            .step_bytes = (int64_t)(a->ld_out * sizeof(float)),
            .count = 1,
            .access_bytes = bytes,
            .kind = (uint8_t)kind,
            .tag = (uint8_t)conv_ukr_out_tensor(a),
            .phase = CONV_PHASE_UKR,
        };
    }
    sim_emit(sink, run, n, a->n_f);
}

/* Emits in fn's order: a tile row of a single piece as a burst over the filters, a wider row filter by filter. */
void conv_emit_tile_update(const struct conv_ukr_args *a, uint32_t piece_bytes, struct sim_sink *sink)
{
    size_t row_bytes = a->n_win * sizeof(float);
    struct conv_ukr_args row = *a;

    if (row_bytes <= piece_bytes) {
        emit_update_piece(a, 0, (uint32_t)row_bytes, sink);
        return;
    }
    row.n_f = 1;
    for (size_t f = 0; f < a->n_f; f++) {
        for (size_t first = 0; first < row_bytes; first += piece_bytes) {
            size_t left = row_bytes - first;

            emit_update_piece(&row, first, left < piece_bytes ? (uint32_t)left : piece_bytes, sink);
        }
        row.out += row.ld_out * sizeof(float);
    }
}
