/* Lists the accesses of 16x24 with few windows (f32_16x24_few_avx512.c), and its descriptor. */
#include "kernels/ukr/avx512/f32_16x24_few_avx512.h"
#include "kernels/ukr/emit_common.h"

static size_t step_fmas(size_t n_win, size_t n_f)
{
    return is_few(n_win, n_f) ? n_win * vectors(n_f) : n_f;
}

static size_t step_loads(size_t n_win, size_t n_f)
{
    return is_few(n_win, n_f) ? n_win + vectors(n_f) : 1 + n_f;
}

static void emit_steps(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    uint32_t f_bytes = (uint32_t)(a->n_f * sizeof(float));
    struct sim_run run[3 + CONV_N_AHEAD] = {
        { .addr = a->filter,
          .step_bytes = f_bytes,
          .count = 1,
          .access_bytes = f_bytes > 64 ? 64 : f_bytes,
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
        { .addr = a->filter + 64,
          .step_bytes = f_bytes,
          .count = f_bytes > 64,
          .access_bytes = f_bytes > 64 ? f_bytes - 64 : 4,
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
        { .addr = a->in,
          .stride_bytes = sizeof(float),
          .step_bytes = (int64_t)(conv_ukr_ld_in(u, a) * sizeof(float)),
          .count = (uint32_t)a->n_win,
          .access_bytes = sizeof(float),
          .kind = SIM_LOAD,
          .tag = (uint8_t)conv_ukr_in_tensor(a),
          .phase = CONV_PHASE_UKR },
    };

    conv_emit_k_loop(a, run, 3, sink);
}

static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    struct conv_ukr_args group = *a;

    if (!is_few(a->n_win, a->n_f)) {
        conv_ukr_16x24__avx512.emit(u, a, sink);
        return;
    }
    emit_steps(u, a, sink);
    for (size_t i = 0; i < a->n_win; i += GROUP) {
        group.n_win = a->n_win - i < GROUP ? a->n_win - i : GROUP;
        group.out = a->out + i * sizeof(float);
        conv_emit_tile_update(&group, GROUP * sizeof(float), sink);
    }
}

const struct conv_ukr conv_ukr_16x24_few__avx512 = {
    CONV_UKR_IDENTITY(16x24_few, avx512),
    .n_win = 16,
    .n_f = 24,
    .win_granule = 16,
    .f_panel = 24,
    .reads_in_place = true,
    .prefetches = true,
    .chains = true,
    .step_fmas = step_fmas,
    .step_loads = step_loads,
    .emit = emit,
};
