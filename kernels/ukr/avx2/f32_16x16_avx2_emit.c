/* Lists the accesses of 16x16 with AVX2 (f32_16x16_avx2.c), and its descriptor. */
#include "kernels/ukr/avx2/f32_16x16_avx2.h"

static size_t step_fmas(size_t n_win, size_t n_f)
{
    return n_win * vectors(n_f);
}

static size_t step_loads(size_t n_win, size_t n_f)
{
    size_t n_v = vectors(n_f), loads = 0, n;

    for (; n_win; n_win -= n) {
        n = part_windows(n_win, n_v);
        loads += n_v + n;
    }
    return loads;
}

/* Blocks of eight windows of eight filters, which are transposed together. */
static void emit_update(const struct conv_ukr_args *a, struct sim_sink *sink)
{
    for (size_t f = 0; f < a->n_f; f += VECTOR) {
        for (size_t w = 0; w < a->n_win; w += VECTOR) {
            struct conv_ukr_args block = *a;

            block.out += (f * a->ld_out + w) * sizeof(float);
            block.n_f = min_size(VECTOR, a->n_f - f);
            block.n_win = min_size(VECTOR, a->n_win - w);
            conv_emit_tile_update(&block, VECTOR * sizeof(float), sink);
        }
    }
}

static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const struct conv_taps taps = a->taps ? *a->taps : walk_single_tap(u, a);
    struct conv_ukr_args part = *a;
    struct walk_tile tile;

    for (size_t w = 0; w < a->n_win; w += tile.n_win, part.ahead = NULL) {
        tile = part_at(a, &taps, w);
        walk_emit(&part, &taps, &tile, sink);
    }
    emit_update(a, sink);
}

const struct conv_ukr conv_ukr_16x16__avx2 = {
    CONV_UKR_IDENTITY(16x16, avx2), .n_win = N_WIN,           .n_f = N_F,
    .win_granule = N_WIN,           .f_panel = N_F,           .reads_in_place = true,
    .walk = CONV_WALK_ANY,          .prefetches = true,       .chains = true,
    .step_fmas = step_fmas,         .step_loads = step_loads, .emit = emit,
};
