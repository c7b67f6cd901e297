/*
 * The paper's POWER10 tile: 16 windows and 8 filters in the eight 4x4 accumulators of the matrix engine. A step loads
 * four vectors of windows and two of filters. Replay only: the instructions themselves belong to the POWER10 build.
 */
#include "kernels/ukr/ukr_table.h"

/* Filters are read in vectors of four; a narrower edge panel is padded to whole vectors only in registers. */
static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    uint32_t f_bytes = (uint32_t)(a->n_f * sizeof(float));
    struct sim_run run[3] = {
        { .addr = a->in,
          .stride_bytes = 16,
          .step_bytes = (int64_t)(conv_ukr_in_width(u, a->n_win) * sizeof(float)),
          .count = 4,
          .access_bytes = 16,
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_INPUT,
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

    sim_emit(sink, run, 3, a->k);
    conv_emit_tile_update(a, 16, sink);
}

const struct conv_ukr conv_ukr_mma[1] = {
    { .name = "f32_16x8__mma",
      .isa = CPU_ISA_MMA,
      .n_win = 16,
      .n_f = 8,
      .win_granule = 16,
      .f_panel = 8,
      .fn = NULL,
      .emit = emit },
};
