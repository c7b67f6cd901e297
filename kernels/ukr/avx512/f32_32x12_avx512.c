/*
 * 32 windows in two zmm, 12 filters: the 24 accumulators of 16x24 for 14 loads a step instead of 25, so two load ports
 * never hold two FMA ports up. Up to 16 windows run as 16x24's edge tiles, on 16x24's panels.
 */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#include "kernels/ukr/avx512/x86_tile_avx512.h"

/* clang-format off */
INSTANCE(2, 1) INSTANCE(2, 2) INSTANCE(2, 3) INSTANCE(2, 4) INSTANCE(2, 5) INSTANCE(2, 6)
INSTANCE(2, 7) INSTANCE(2, 8) INSTANCE(2, 9) INSTANCE(2, 10) INSTANCE(2, 11) INSTANCE(2, 12)

static const conv_ukr_instance_fn instance[12] = {
    tile_2x1, tile_2x2, tile_2x3, tile_2x4, tile_2x5, tile_2x6,
    tile_2x7, tile_2x8, tile_2x9, tile_2x10, tile_2x11, tile_2x12,
};
/* clang-format on */

void conv_f32_ukr_32x12__avx512(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    (void)u;
    if (a->n_win > 16)
        instance[a->n_f - 1](a);
    else
        conv_ukr_16x24__avx512.fn(&conv_ukr_16x24__avx512, a);
}
#endif
