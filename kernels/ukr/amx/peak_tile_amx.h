/*
 * The peak loop of tile products: six independent sums, of 16 by 16, and 16 steps a product. The including file defines
 *
 *   DOT(sums, a, b)   the product instruction
 *   PEAK_FMA          the name of the loop
 */
#ifndef KERNELS_UKR_PEAK_TILE_AMX_H
#define KERNELS_UKR_PEAK_TILE_AMX_H

#include <immintrin.h>
#include <string.h>

#include "kernels/ukr/amx/amx_form.h"

float PEAK_FMA(size_t n_steps)
{
    struct amx_config c = { .palette = 1 };
    _Alignas(64) float sums[AMX_ROWS][AMX_WINDOWS];

    for (int i = 0; i < AMX_REGISTERS; i++)
        amx_config_register(&c, i, AMX_ROWS, AMX_ROW_BYTES);
    AMX_CONFIGURE(&c); /* all registers are zero */
    for (; n_steps; n_steps--) {
        DOT(0, 6, 7);
        DOT(1, 6, 7);
        DOT(2, 6, 7);
        DOT(3, 6, 7);
        DOT(4, 6, 7);
        DOT(5, 6, 7);
    }
    _tile_stored(0, sums, AMX_ROW_BYTES);
    _tile_release();
    __asm__("" : "+m"(sums));
    return sums[0][0];
}

#endif
