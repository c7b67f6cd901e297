/* The direct kernel on ymm registers: 8 columns by up to 8 rows. Descriptor: direct_emit.c. */
#include "kernels/ukr/direct_tile.h"

#if defined(__x86_64__)
#include "kernels/ukr/ukr.h"
#include "kernels/ukr/x86/x86_mask.h"

#define VECTOR __m256
#define LANE_MASK __m256i
enum { LANES = CONV_DIRECT_LANES__avx2, KEEPS_WINDOWS = 0 };

static inline __m256i lane_mask(struct conv_direct_part part)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i before = _mm256_cmpgt_epi32(_mm256_set1_epi32(part.first), lane);

    return _mm256_andnot_si256(before, _mm256_cmpgt_epi32(_mm256_set1_epi32(part.end), lane));
}

#define zero() _mm256_setzero_ps()
#define broadcast(p) _mm256_set1_ps(*(p))
#define multiply_add(a, b, c) _mm256_fmadd_ps(a, b, c)
#define load(p) _mm256_loadu_ps(p)
#define store(p, x) _mm256_storeu_ps(p, x)
/* Within halves; the halves' middle quarters are in each other's place. */
#define even(a, b) _mm256_shuffle_ps(a, b, 0x88)
#define ordered(x) _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xd8))

static inline __m256 load_part(const float *p, struct conv_direct_part part, __m256i mask)
{
    if (part.end)
        LOG_READ(p + part.first, (size_t)(part.end - part.first) * sizeof(float));
    return _mm256_maskload_ps(p, mask);
}

static inline void store_first(float *p, size_t n, __m256 x)
{
    LOG_WRITE(p, n * sizeof(float));
    _mm256_maskstore_ps(p, lane_mask((struct conv_direct_part){ 0, (int)n }), x);
}

#include "kernels/ukr/direct_tmpl.h"

void conv_f32_direct__avx2(const struct conv_direct *d, const struct conv_direct_args *a)
{
    conv_direct_tiles(d, a, run_tile, NULL);
}
#endif
