/*
 * bf16 by vdpbf16ps: 32 products an instruction, added to 16 sums in f32. Denormal inputs and results count as zeros;
 * sums are rounded to the nearest. Infinities and NaN go on as in f32.
 */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define DOT "vdpbf16ps"
#define ADD(a, b) ((__m512i)_mm512_add_ps((__m512)(a), (__m512)(b)))
#define HEAD 0
#define UKR conv_bf16_ukr_16x24__avx512
#include "kernels/ukr/avx512/lane_tile_avx512.h"
#endif
