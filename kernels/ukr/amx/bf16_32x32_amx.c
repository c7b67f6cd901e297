/*
 * bf16 by tdpbf16ps. Denormal inputs, sums and results count as zeros; sums are rounded to the nearest, even ones of
 * two. Infinities and NaN go on as in f32. The instruction heeds no rounding mode and raises no exceptions.
 */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#define DOT _tile_dpbf16ps
#define UKR conv_bf16_ukr_32x32__amx
#include "kernels/ukr/amx/lane_tile_amx.h"
#endif
