/* Packs windows of bf16 into lanes of two channels. */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ELEMENT_BYTES 2
#define N_CHANNELS 2

/* From 16 elements of each channel, a channel in each half, to lanes. */
static inline __m512i interleave(__m512i channels)
{
    const __m512i by_two = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                                            21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);

    return _mm512_permutexvar_epi16(by_two, channels);
}

#define CHANNEL(at) (const void *)(uintptr_t)(at)

static inline __attribute__((always_inline)) __m512i load_lanes(uint64_t at, uint64_t plane, const size_t n)
{
    const __m512i first = _mm512_zextsi256_si512(_mm256_loadu_si256(CHANNEL(at)));

    return interleave(n > 1 ? _mm512_inserti64x4(first, _mm256_loadu_si256(CHANNEL(at + plane)), 1) : first);
}

static inline __attribute__((always_inline)) __m512i load_lanes_masked(__mmask16 mask, uint64_t at, uint64_t plane,
                                                                       const size_t n)
{
    const __m512i first = _mm512_zextsi256_si512(_mm256_maskz_loadu_epi16(mask, CHANNEL(at)));

    return interleave(n > 1 ? _mm512_inserti64x4(first, _mm256_maskz_loadu_epi16(mask, CHANNEL(at + plane)), 1)
                            : first);
}

#define PACK conv_pack_lanes_bf16__avx512
#include "kernels/ukr/avx512/lane_pack_avx512.h"
#endif
