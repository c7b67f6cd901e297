/* The dot kernel on ymm registers. Descriptor: dot_emit.c. */
#include "kernels/ukr/dot_tile.h"

#if defined(__x86_64__)
#include <stdbool.h>

#include "kernels/ukr/x86/x86_prefetch.h"

#define ISA avx2
#define VECTOR __m256
#define SUMS __m256
#define LANE_MASK __m256i
enum { LANES = CONV_DIRECT_LANES__avx2 };

#define zero() _mm256_setzero_ps()
#define multiply_add(a, b, c) _mm256_fmadd_ps(a, b, c)
#define load(p) _mm256_loadu_ps(p)

static inline __m256i lanes_from(int first, int end)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    return _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(first), lane),
                               _mm256_cmpgt_epi32(_mm256_set1_epi32(end), lane));
}

static inline __m256i lane_mask(size_t n)
{
    return lanes_from(0, (int)n);
}

static inline __m256 load_first(const float *p, size_t n, __m256i mask)
{
    (void)n;
    LOG_READ(p, n * sizeof(float));
    return _mm256_maskload_ps(p, mask);
}

static inline __m256 add_elements(__m256 a, __m256 b)
{
    return _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
}

static inline __m256 add_pairs(__m256 a, __m256 b)
{
    const __m256d x = _mm256_castps_pd(a), y = _mm256_castps_pd(b);

    return _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(x, y)), _mm256_castpd_ps(_mm256_unpackhi_pd(x, y)));
}

static inline __m256 add_halves(__m256 a, __m256 b)
{
    return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}

static inline __attribute__((always_inline)) __m256 add_up(const __m256 *acc, const size_t n)
{
    __m256 x[8];

#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
        x[i] = i < n ? acc[i] : zero();
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++)
        x[i] = 2 * i < n ? add_elements(x[2 * i], x[2 * i + 1]) : zero();
    x[0] = add_pairs(x[0], x[1]);
    x[1] = n > 4 ? add_pairs(x[2], x[3]) : zero();
    return add_halves(x[0], x[1]);
}

/* Masked stores are slow on some CPUs, and usual tiles need none. */
static inline __attribute__((always_inline)) void store_sums(float *p, const size_t first, const size_t n, __m256 sums)
{
    if (n == 8) {
        _mm256_storeu_ps(p, sums);
    } else if (n == 4 && first % 4 == 0) {
        _mm_storeu_ps(p, first ? _mm256_extractf128_ps(sums, 1) : _mm256_castps256_ps128(sums));
    } else {
        LOG_WRITE(p, n * sizeof(float));
        _mm256_maskstore_ps(p - first, lanes_from((int)first, (int)(first + n)), sums);
    }
}

#include "kernels/ukr/dot_tmpl.h"

void conv_f32_dot__avx2(const struct conv_direct *d, const struct conv_direct_args *a)
{
    conv_dot_tiles(d, a, run_tile, NULL);
}
#endif
