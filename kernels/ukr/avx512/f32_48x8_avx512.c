/*
 * 48 windows in three zmm, 8 filters: 24 accumulators for 11 loads a step, and three FMAs at a time where filters are
 * few. Up to 32 windows run as 32x12's edge tiles, on 32x12's panels.
 */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#include "kernels/ukr/avx512/x86_tile_avx512.h"

/* clang-format off */
INSTANCE(3, 1) INSTANCE(3, 2) INSTANCE(3, 3) INSTANCE(3, 4) INSTANCE(3, 5) INSTANCE(3, 6)
INSTANCE(3, 7) INSTANCE(3, 8)

static const conv_ukr_instance_fn instance[8] = {
    tile_3x1, tile_3x2, tile_3x3, tile_3x4, tile_3x5, tile_3x6,
    tile_3x7, tile_3x8,
};
/* clang-format on */

void conv_f32_ukr_48x8__avx512(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    (void)u;
    if (a->n_win > 32)
        instance[a->n_f - 1](a);
    else
        conv_ukr_32x12__avx512.fn(&conv_ukr_32x12__avx512, a);
}
#endif
