/* Lists the accesses of 16x8 with MMA (f32_16x8_mma.c), and its descriptor. */
#include "kernels/ukr/ppc/f32_16x8_mma.h"
#include "kernels/ukr/emit_common.h"

/* Vectors of four filters, the last narrower at an edge; vectors of windows, narrower at an edge in place. */
static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    uint32_t f_bytes = (uint32_t)(a->n_f * sizeof(float)), rest_bytes = a->n_win % LANES * sizeof(float);
    bool is_ragged = a->ld_in && rest_bytes;
    int64_t step_bytes = (int64_t)(conv_ukr_ld_in(u, a) * sizeof(float));
    struct sim_run run[4] = {
        { .addr = a->in,
          .stride_bytes = 16,
          .step_bytes = step_bytes,
          .count = (uint32_t)((a->n_win + LANES - 1) / LANES - is_ragged),
          .access_bytes = 16,
          .kind = SIM_LOAD,
          .tag = (uint8_t)conv_ukr_in_tensor(a),
          .phase = CONV_PHASE_UKR },
        { .addr = a->in + a->n_win / LANES * 16,
          .step_bytes = step_bytes,
          .count = is_ragged,
          .access_bytes = rest_bytes ? rest_bytes : 16,
          .kind = SIM_LOAD,
          .tag = (uint8_t)conv_ukr_in_tensor(a),
          .phase = CONV_PHASE_UKR },
        { .addr = a->filter,
          .stride_bytes = 16,
          .step_bytes = f_bytes,
          .count = f_bytes / 16,
          .access_bytes = 16,
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
        { .addr = a->filter + f_bytes / 16 * 16,
          .step_bytes = f_bytes,
          .count = f_bytes % 16 != 0,
          .access_bytes = f_bytes % 16 ? f_bytes % 16 : 16,
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
    };

    sim_emit(sink, run, 4, a->k);
    conv_emit_tile_update(a, 16, sink);
}

const struct conv_ukr conv_ukr_16x8__mma = {
    CONV_UKR_IDENTITY(16x8, mma), .n_win = N_WIN, .n_f = N_F,     .win_granule = 16, .f_panel = 8,
    .reads_in_place = true,       .emit = emit,   .chains = true,
};
