/* The pointwise kernel on ymm registers. Descriptor: pointwise_emit.c. */
#include "kernels/ukr/pointwise_tile.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86/x86_prefetch.h"

#define ISA avx2
#define VECTOR __m256
#define LANE_MASK __m256i
enum { LANES = CONV_DIRECT_LANES__avx2 };

#define zero() _mm256_setzero_ps()
#define multiply_add(a, b, c) _mm256_fmadd_ps(a, b, c)
#define broadcast(p) _mm256_set1_ps(*(p))
#define load(p) _mm256_loadu_ps(p)
#define store(p, x) _mm256_storeu_ps(p, x)

static inline __m256i lane_mask(size_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline __m256 load_first(const float *p, size_t n, __m256i mask)
{
    (void)n;
    LOG_READ(p, n * sizeof(float));
    return _mm256_maskload_ps(p, mask);
}

static inline void store_first(float *p, size_t n, __m256i mask, __m256 x)
{
    (void)n;
    LOG_WRITE(p, n * sizeof(float));
    _mm256_maskstore_ps(p, mask, x);
}

#include "kernels/ukr/pointwise_tmpl.h"

void conv_f32_pointwise__avx2(const struct conv_direct *d, const struct conv_direct_args *a)
{
    conv_pointwise_tiles(d, a, run_tile, NULL);
}
#endif
