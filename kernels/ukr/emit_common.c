#include "kernels/ukr/ukr_table.h"

void conv_emit_broadcast_loop(const struct conv_ukr *u, const struct conv_ukr_args *a, uint32_t win_bytes,
                              uint32_t win_loads, struct sim_sink *sink)
{
    const struct sim_run run[2] = {
        { .addr = a->in,
          .stride_bytes = win_bytes,
          .step_bytes = (int64_t)(conv_ukr_in_width(u, a->n_win) * sizeof(float)),
          .count = win_loads,
          .access_bytes = win_bytes,
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_INPUT,
          .phase = CONV_PHASE_UKR },
        { .addr = a->filter,
          .stride_bytes = sizeof(float),
          .step_bytes = (int64_t)(a->n_f * sizeof(float)),
          .count = (uint32_t)a->n_f,
          .access_bytes = sizeof(float),
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
    };

    sim_emit(sink, run, 2, a->k);
}
