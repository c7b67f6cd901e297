/* s8 by s8 by vpdpbusd, whose windows are unsigned: packed windows are 128 too large, and the head takes that back. */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#define DOT "vpdpbusd"
#define ADD _mm512_add_epi32
#define HEAD 1
#define UKR conv_s8s8_ukr_16x24__avx512
#include "kernels/ukr/avx512/lane_tile_avx512.h"
#endif
