/*
 * 16 windows in two ymm, 6 filters: 12 accumulators, two windows, a broadcast, of 16 registers. A step is 8 loads for
 * 12 FMAs. Tiles of at most 8 windows take one ymm. Every filter count has an instance of its own.
 */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#include "kernels/ukr/avx2/x86_tile_avx2.h"

/* clang-format off */
INSTANCE(1, 1) INSTANCE(1, 2) INSTANCE(1, 3) INSTANCE(1, 4) INSTANCE(1, 5) INSTANCE(1, 6)
INSTANCE(2, 1) INSTANCE(2, 2) INSTANCE(2, 3) INSTANCE(2, 4) INSTANCE(2, 5) INSTANCE(2, 6)

static const conv_ukr_instance_fn instance[2][6] = {
    { tile_1x1, tile_1x2, tile_1x3, tile_1x4, tile_1x5, tile_1x6 },
    { tile_2x1, tile_2x2, tile_2x3, tile_2x4, tile_2x5, tile_2x6 },
};
/* clang-format on */

void conv_f32_ukr_16x6__avx2(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    (void)u;
    instance[a->n_win > 8][a->n_f - 1](a);
}
#endif
