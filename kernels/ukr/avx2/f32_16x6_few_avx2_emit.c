/* Lists the accesses of 16x6 with few windows (f32_16x6_few_avx2.c), and its descriptor. */
#include "kernels/ukr/avx2/f32_16x24_avx2.h"

static size_t step_fmas(size_t n_win, size_t n_f)
{
    return conv_ukr_16x24__avx2.step_fmas(n_win, n_f);
}

static size_t step_loads(size_t n_win, size_t n_f)
{
    return conv_ukr_16x24__avx2.step_loads(n_win, n_f);
}

static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    (void)u;
    conv_ukr_16x24__avx2.emit(&conv_ukr_16x24__avx2, a, sink);
}

const struct conv_ukr conv_ukr_16x6_few__avx2 = {
    CONV_UKR_IDENTITY(16x6_few, avx2),
    .n_win = 16,
    .n_f = F_PANEL,
    .win_granule = 16,
    .f_panel = F_PANEL,
    .reads_in_place = true,
    .prefetches = true,
    .chains = true,
    .step_fmas = step_fmas,
    .step_loads = step_loads,
    .emit = emit,
};
