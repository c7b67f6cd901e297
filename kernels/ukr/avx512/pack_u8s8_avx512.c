/* Packs windows of bytes into lanes of four channels. */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ELEMENT_BYTES 1
#define N_CHANNELS 4

/* From 16 elements of each channel, a channel in each quarter, to lanes. */
static inline __m512i interleave(__m512i channels)
{
    const __m512i by_four = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i in_quarter =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));

    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(by_four, channels), in_quarter);
}

#define CHANNEL(at) (const void *)(uintptr_t)(at)
#define LANES_OF(load)                                                                                                 \
    __m512i x = _mm512_zextsi128_si512(load(CHANNEL(at)));                                                             \
                                                                                                                       \
    if (n > 1)                                                                                                         \
        x = _mm512_inserti32x4(x, load(CHANNEL(at + plane)), 1);                                                       \
    if (n > 2)                                                                                                         \
        x = _mm512_inserti32x4(x, load(CHANNEL(at + 2 * plane)), 2);                                                   \
    if (n > 3)                                                                                                         \
        x = _mm512_inserti32x4(x, load(CHANNEL(at + 3 * plane)), 3);                                                   \
    return interleave(x)

static inline __attribute__((always_inline)) __m512i load_lanes(uint64_t at, uint64_t plane, const size_t n)
{
    LANES_OF(_mm_loadu_si128);
}

static inline __attribute__((always_inline)) __m512i load_lanes_masked(__mmask16 mask, uint64_t at, uint64_t plane,
                                                                       const size_t n)
{
#define MASKED(at) _mm_maskz_loadu_epi8(mask, at)
    LANES_OF(MASKED);
}

#define PACK conv_pack_lanes_u8s8__avx512
#include "kernels/ukr/avx512/lane_pack_avx512.h"
#endif
