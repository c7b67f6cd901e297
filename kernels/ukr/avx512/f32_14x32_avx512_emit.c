/* Lists the accesses of 14x32 (f32_14x32_avx512.c), and its descriptor. */
#include "kernels/ukr/avx512/f32_14x32_avx512.h"
#include "kernels/ukr/walk.h"

static size_t step_fmas(size_t n_win, size_t n_f)
{
    return n_win * vectors(n_f);
}

static size_t step_loads(size_t n_win, size_t n_f)
{
    return n_win + vectors(n_f);
}

static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const struct conv_taps taps = a->taps ? *a->taps : walk_single_tap(u, a);
    const struct walk_tile tile = { .n_win = a->n_win, .vector = VECTOR, .group = 1 };

    walk_emit(a, &taps, &tile, sink);
    conv_emit_tile_update(a, 64, sink);
}

const struct conv_ukr conv_ukr_14x32__avx512 = {
    CONV_UKR_IDENTITY(14x32, avx512),
    .n_win = N_WIN,
    .n_f = N_F,
    .win_granule = N_WIN,
    .f_panel = N_F,
    .reads_in_place = true,
    .walk = CONV_WALK_ANY,
    .prefetches = true,
    .step_fmas = step_fmas,
    .step_loads = step_loads,
    .emit = emit,
};
