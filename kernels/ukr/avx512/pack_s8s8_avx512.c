/* Packs windows of s8s8 into lanes of four channels, 128 too large (shape/type.h). */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ELEMENT_BYTES 1
#define N_CHANNELS 4
#define LOAD(mask, at) _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, at))
#define LOAD_2(mask, at) _mm512_cvtepu8_epi32(_mm256_cvtepi16_epi8(_mm256_maskz_loadu_epi8(mask, at)))
#define FLIP (int)0x80808080u
#define PACK conv_pack_lanes_s8s8__avx512
#include "kernels/ukr/avx512/lane_pack_avx512.h"
#endif
