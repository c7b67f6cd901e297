/* Packs windows of bf16 into lanes of two channels. */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ELEMENT_BYTES 2
#define N_CHANNELS 2
#define LOAD(mask, at) _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, at))
#define LOAD_2(mask, at) _mm512_cvtepu16_epi32(_mm512_cvtepi32_epi16(_mm512_maskz_loadu_epi16(mask, at)))
#define FLIP 0
#define PACK conv_pack_lanes_bf16__avx512
#include "kernels/ukr/avx512/lane_pack_avx512.h"
#endif
