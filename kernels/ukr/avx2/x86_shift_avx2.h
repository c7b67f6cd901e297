/* Shifts of elements across two vectors, by constants. Internal to kernels/ukr. */
#ifndef KERNELS_UKR_X86_SHIFT_AVX2_H
#define KERNELS_UKR_X86_SHIFT_AVX2_H

#include <immintrin.h>
#include <stddef.h>

/* Elements n .. n + 7 of two neighbours, n a constant of 0 .. 8. */
static inline __attribute__((always_inline)) __m256 shifted_by(__m256 x, __m256 y, const size_t n)
{
    const __m256i low = _mm256_castps_si256(x), high = _mm256_castps_si256(y);
    const __m256i middle = _mm256_permute2x128_si256(low, high, 0x21);

    switch (n) {
    case 0:
        return x;
    case 1:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(middle, low, 4));
    case 2:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(middle, low, 8));
    case 3:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(middle, low, 12));
    case 4:
        return _mm256_castsi256_ps(middle);
    case 5:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(high, middle, 4));
    case 6:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(high, middle, 8));
    case 7:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(high, middle, 12));
    default:
        return y;
    }
}

#endif
