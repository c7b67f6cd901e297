/* u8 by s8 by vpdpbusd: 64 products an instruction, added to 16 sums in s32, without saturation. */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#define DOT "vpdpbusd"
#define ADD _mm512_add_epi32
#define HEAD 0
#define UKR conv_u8s8_ukr_16x24__avx512
#include "kernels/ukr/avx512/lane_tile_avx512.h"
#endif
