/* Lists the accesses of 16x24 with AVX2 (f32_16x24_avx2.c), and its descriptor. */
#include "kernels/ukr/avx2/f32_16x24_avx2.h"
#include "kernels/ukr/emit_common.h"

static size_t panel_fmas(size_t n_win, size_t n_f)
{
    if (is_pairs(n_win, n_f))
        return n_f / 2;
    return is_few(n_win, n_f) ? n_win : conv_ukr_16x6__avx2.step_fmas(n_win, n_f);
}

static size_t panel_loads(size_t n_win, size_t n_f)
{
    if (is_pairs(n_win, n_f))
        return pairs_loads(n_f);
    return is_few(n_win, n_f) ? few_loads(n_win, n_f) : conv_ukr_16x6__avx2.step_loads(n_win, n_f);
}

static size_t sum_panels(size_t (*of_panel)(size_t n_win, size_t n_f), size_t n_win, size_t n_f)
{
    size_t edge = n_f % F_PANEL;

    return n_f / F_PANEL * of_panel(n_win, F_PANEL) + (edge ? of_panel(n_win, edge) : 0);
}

static size_t step_fmas(size_t n_win, size_t n_f)
{
    return sum_panels(panel_fmas, n_win, n_f);
}

static size_t step_loads(size_t n_win, size_t n_f)
{
    return sum_panels(panel_loads, n_win, n_f);
}

/* The blocks of a window's steps. Returns the number of steps. */
static size_t emit_blocks(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    size_t n = a->k / BLOCK * BLOCK;
    struct sim_run run[2 + BLOCK * CONV_N_AHEAD] = {
        { .addr = a->in,
          .stride_bytes = (int64_t)(conv_ukr_ld_in(u, a) * sizeof(float)),
          .step_bytes = (int64_t)(BLOCK * conv_ukr_ld_in(u, a) * sizeof(float)),
          .count = BLOCK,
          .access_bytes = sizeof(float),
          .kind = SIM_LOAD,
          .tag = (uint8_t)conv_ukr_in_tensor(a),
          .phase = CONV_PHASE_UKR },
        { .addr = a->filter,
          .stride_bytes = 32,
          .step_bytes = BLOCK * F_PANEL * sizeof(float),
          .count = 3,
          .access_bytes = 32,
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
    };

    conv_emit_k_blocks(a, 0, n, BLOCK, run, 2, sink);
    return n;
}

static void emit_few_steps(const struct conv_ukr *u, const struct conv_ukr_args *a, size_t first, struct sim_sink *sink)
{
    int64_t in_step = (int64_t)(conv_ukr_ld_in(u, a) * sizeof(float));
    uint32_t f_bytes = (uint32_t)(a->n_f * sizeof(float));
    struct sim_run run[3 + CONV_N_AHEAD] = {
        { .addr = a->filter + first * f_bytes,
          .step_bytes = f_bytes,
          .count = 1,
          .access_bytes = 16,
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
        { .addr = a->filter + first * f_bytes + 16,
          .step_bytes = f_bytes,
          .count = f_bytes > 16,
          .access_bytes = 8,
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
        { .addr = a->in + first * (uint64_t)in_step,
          .stride_bytes = sizeof(float),
          .step_bytes = in_step,
          .count = (uint32_t)a->n_win,
          .access_bytes = sizeof(float),
          .kind = SIM_LOAD,
          .tag = (uint8_t)conv_ukr_in_tensor(a),
          .phase = CONV_PHASE_UKR },
    };

    conv_emit_k_blocks(a, first, a->k - first, 1, run, 3, sink);
}

static void emit_few(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    emit_few_steps(u, a, a->n_win == 1 && a->n_f == F_PANEL ? emit_blocks(u, a, sink) : 0, sink);
    emit_update(a, sink);
}

static void emit_pairs(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    struct sim_run run[2 + CONV_N_AHEAD] = {
        { .addr = a->in,
          .step_bytes = (int64_t)(conv_ukr_ld_in(u, a) * sizeof(float)),
          .count = 1,
          .access_bytes = GROUP * sizeof(float),
          .kind = SIM_LOAD,
          .tag = (uint8_t)conv_ukr_in_tensor(a),
          .phase = CONV_PHASE_UKR },
        { .addr = a->filter,
          .stride_bytes = 2 * sizeof(float),
          .step_bytes = (int64_t)(a->n_f * sizeof(float)),
          .count = (uint32_t)(a->n_f / 2),
          .access_bytes = 2 * sizeof(float),
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
    };

    conv_emit_k_loop(a, run, 2, sink);
    emit_update(a, sink);
}

static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    for (size_t f = 0; f < a->n_f; f += F_PANEL) {
        const struct conv_ukr_args part = panel(a, f);

        if (is_pairs(part.n_win, part.n_f))
            emit_pairs(u, &part, sink);
        else if (is_few(part.n_win, part.n_f))
            emit_few(u, &part, sink);
        else
            conv_ukr_16x6__avx2.emit(u, &part, sink);
    }
}

const struct conv_ukr conv_ukr_16x24__avx2 = {
    CONV_UKR_IDENTITY(16x24, avx2),
    .n_win = 16,
    .n_f = N_F,
    .win_granule = 16,
    .f_panel = F_PANEL,
    .reads_in_place = true,
    .prefetches = true,
    .chains = true,
    .step_fmas = step_fmas,
    .step_loads = step_loads,
    .emit = emit,
};
