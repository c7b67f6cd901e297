/* Lists the accesses of 16x6 with AVX2 (f32_16x6_avx2.c), and its descriptor. */
#include "kernels/ukr/emit_common.h"
#include "kernels/ukr/registry.h"

static size_t vectors(size_t n_win)
{
    return n_win > 8 ? 2 : 1;
}

static size_t step_fmas(size_t n_win, size_t n_f)
{
    return vectors(n_win) * n_f;
}

static size_t step_loads(size_t n_win, size_t n_f)
{
    return vectors(n_win) + n_f;
}

static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    conv_emit_broadcast_loop(u, a, 32, (uint32_t)vectors(a->n_win), sink);
    conv_emit_tile_update(a, 32, sink);
}

const struct conv_ukr conv_ukr_16x6__avx2 = {
    CONV_UKR_IDENTITY(16x6, avx2),
    .n_win = 16,
    .n_f = 6,
    .win_granule = 16,
    .f_panel = 6,
    .reads_in_place = true,
    .prefetches = true,
    .chains = true,
    .step_fmas = step_fmas,
    .step_loads = step_loads,
    .emit = emit,
};
