/* The dot kernel on zmm registers. Descriptor: dot_emit.c. */
#include "kernels/ukr/dot_tile.h"

#if defined(__x86_64__)
#include <stdbool.h>

#include "kernels/ukr/x86/x86_prefetch.h"

#define ISA avx512
#define VECTOR __m512
#define SUMS __m512
#define LANE_MASK __mmask16
enum { LANES = CONV_DIRECT_LANES__avx512 };

#define lane_mask(n) ((__mmask16)((1u << (n)) - 1))
#define zero() _mm512_setzero_ps()
#define multiply_add(a, b, c) _mm512_fmadd_ps(a, b, c)
#define load(p) _mm512_loadu_ps(p)

static inline __m512 load_first(const float *p, size_t n, __mmask16 mask)
{
    (void)n;
    LOG_READ(p, n * sizeof(float));
    return _mm512_maskz_loadu_ps(mask, p);
}

/* Two vectors' elements in turns, pairs of elements, quarters of both: the halves of each are added. */
static inline __m512 add_elements(__m512 a, __m512 b)
{
    return _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
}

static inline __m512 add_pairs(__m512 a, __m512 b)
{
    const __m512d x = _mm512_castps_pd(a), y = _mm512_castps_pd(b);

    return _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(x, y)), _mm512_castpd_ps(_mm512_unpackhi_pd(x, y)));
}

static inline __m512 add_quarters(__m512 a, __m512 b)
{
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
}

static inline __attribute__((always_inline)) __m512 add_up(const __m512 *acc, const size_t n)
{
    __m512 x[16];

#pragma GCC unroll 16
    for (size_t i = 0; i < 16; i++)
        x[i] = i < n ? acc[i] : zero();
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
        x[i] = 2 * i < n ? add_elements(x[2 * i], x[2 * i + 1]) : zero();
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++)
        x[i] = 4 * i < n ? add_pairs(x[2 * i], x[2 * i + 1]) : zero();
    x[0] = add_quarters(x[0], x[1]);
    x[1] = n > 8 ? add_quarters(x[2], x[3]) : zero();
    return add_quarters(x[0], x[1]);
}

static inline void store_sums(float *p, size_t first, size_t n, __m512 sums)
{
    (void)n;
    LOG_WRITE(p, n * sizeof(float));
    _mm512_mask_storeu_ps(p - first, (__mmask16)(((1u << n) - 1) << first), sums);
}

#include "kernels/ukr/dot_tmpl.h"

void conv_f32_dot__avx512(const struct conv_direct *d, const struct conv_direct_args *a)
{
    conv_dot_tiles(d, a, run_tile, NULL);
}
#endif
