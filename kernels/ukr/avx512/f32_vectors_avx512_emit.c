/*
 * Lists the accesses of the AVX-512 tiles of whole vectors of windows (f32_16x24_avx512.c, f32_32x12_avx512.c,
 * f32_48x8_avx512.c), and their descriptors: windows are loaded 16 at a time, filters broadcast one by one.
 */
#include "kernels/ukr/emit_common.h"
#include "kernels/ukr/registry.h"

static size_t vectors(size_t n_win)
{
    return ceil_div(n_win, 16);
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
    conv_emit_broadcast_loop(u, a, 64, (uint32_t)vectors(a->n_win), sink);
    conv_emit_tile_update(a, 64, sink);
}

#define VECTOR_TILE(n_win_, n_f_, win_panel_)                                                                          \
    const struct conv_ukr conv_ukr_##n_win_##x##n_f_##__avx512 = {                                                     \
        CONV_UKR_IDENTITY(n_win_##x##n_f_, avx512),                                                                    \
        .n_win = n_win_,                                                                                               \
        .n_f = n_f_,                                                                                                   \
        .win_granule = 16,                                                                                             \
        .win_panel = win_panel_,                                                                                       \
        .f_panel = n_f_,                                                                                               \
        .reads_in_place = true,                                                                                        \
        .prefetches = true,                                                                                            \
        .chains = true,                                                                                                \
        .step_fmas = step_fmas,                                                                                        \
        .step_loads = step_loads,                                                                                      \
        .emit = emit,                                                                                                  \
    };

VECTOR_TILE(16, 24, 0)
VECTOR_TILE(32, 12, 16)
VECTOR_TILE(48, 8, 16)
