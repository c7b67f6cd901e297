/*
 * The paper's x86 tile: 16 windows in a zmm, 24 filters in 24 accumulators. A step is a load of the windows and 24
 * broadcasts; on two FMA ports it takes 12 cycles and 12.5 load slots. Every filter count has an instance of its own.
 */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#include "kernels/ukr/avx512/x86_tile_avx512.h"

/* clang-format off */
INSTANCE(1, 1) INSTANCE(1, 2) INSTANCE(1, 3) INSTANCE(1, 4) INSTANCE(1, 5) INSTANCE(1, 6)
INSTANCE(1, 7) INSTANCE(1, 8) INSTANCE(1, 9) INSTANCE(1, 10) INSTANCE(1, 11) INSTANCE(1, 12)
INSTANCE(1, 13) INSTANCE(1, 14) INSTANCE(1, 15) INSTANCE(1, 16) INSTANCE(1, 17) INSTANCE(1, 18)
INSTANCE(1, 19) INSTANCE(1, 20) INSTANCE(1, 21) INSTANCE(1, 22) INSTANCE(1, 23) INSTANCE(1, 24)

static const conv_ukr_instance_fn instance[24] = {
    tile_1x1, tile_1x2, tile_1x3, tile_1x4, tile_1x5, tile_1x6, tile_1x7, tile_1x8,
    tile_1x9, tile_1x10, tile_1x11, tile_1x12, tile_1x13, tile_1x14, tile_1x15, tile_1x16,
    tile_1x17, tile_1x18, tile_1x19, tile_1x20, tile_1x21, tile_1x22, tile_1x23, tile_1x24,
};
/* clang-format on */

void conv_f32_ukr_16x24__avx512(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    (void)u;
    instance[a->n_f - 1](a);
}
#endif
