/* Winograd's transforms on ymm registers: 8 tiles. Descriptors: winograd.c. */
#include "kernels/ukr/winograd_tile.h"

#if defined(__x86_64__)
#include <string.h>

#include "kernels/ukr/x86/x86_mask.h"

#define VECTOR __m256
enum { LANES = CONV_WINOGRAD_LANES__avx2 };

/* Sets the lanes of 8 that begin at `first` and end before `end`. */
static inline __m256i lanes_of(size_t first, size_t end)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i before = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)first), lane);

    return _mm256_andnot_si256(before, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)end), lane));
}

#define zero() _mm256_setzero_ps()
#define broadcast(x) _mm256_set1_ps((float)(x))
#define add(a, b) _mm256_add_ps(a, b)
#define subtract(a, b) _mm256_sub_ps(a, b)
#define multiply_add(a, b, c) _mm256_fmadd_ps(a, b, c)
#define load(p) _mm256_loadu_ps(p)
#define store(p, x) _mm256_storeu_ps(p, x)

static inline __m256 load_part(const float *p, struct conv_winograd_part part)
{
    LOG_READ(p + part.first, (part.end - part.first) * sizeof(float));
    return _mm256_maskload_ps(p, lanes_of(part.first, part.end));
}

static inline void store_first(float *p, size_t n, __m256 x)
{
    LOG_WRITE(p, n * sizeof(float));
    _mm256_maskstore_ps(p, lanes_of(0, n), x);
}

#define store_from(p, n, x) _mm256_maskstore_ps(p, lanes_of(n, LANES), x)

/* In order: pairs of lanes 0 1, 4 5 and 2 3, 6 7 change places. */
#define in_order(x) _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xd8))
#define even(a, b) in_order(_mm256_shuffle_ps(a, b, 0x88))
#define odd(a, b) in_order(_mm256_shuffle_ps(a, b, 0xdd))
#define zip_low(a, b) _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20)
#define zip_high(a, b) _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31)

#include "kernels/ukr/winograd_tmpl.h"

CONV_WINOGRAD_FUNCTIONS(avx2)
#endif
