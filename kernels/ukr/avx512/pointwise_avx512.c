/* The pointwise kernel on zmm registers. Descriptor: pointwise_emit.c. */
#include "kernels/ukr/pointwise_tile.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86/x86_prefetch.h"

#define ISA avx512
#define VECTOR __m512
#define LANE_MASK __mmask16
enum { LANES = CONV_DIRECT_LANES__avx512 };

#define lane_mask(n) ((__mmask16)((1u << (n)) - 1))
#define zero() _mm512_setzero_ps()
#define multiply_add(a, b, c) _mm512_fmadd_ps(a, b, c)
#define broadcast(p) _mm512_set1_ps(*(p))
#define load(p) _mm512_loadu_ps(p)
#define store(p, x) _mm512_storeu_ps(p, x)

static inline __m512 load_first(const float *p, size_t n, __mmask16 mask)
{
    (void)n;
    LOG_READ(p, n * sizeof(float));
    return _mm512_maskz_loadu_ps(mask, p);
}

static inline void store_first(float *p, size_t n, __mmask16 mask, __m512 x)
{
    (void)n;
    LOG_WRITE(p, n * sizeof(float));
    _mm512_mask_storeu_ps(p, mask, x);
}

#include "kernels/ukr/pointwise_tmpl.h"

void conv_f32_pointwise__avx512(const struct conv_direct *d, const struct conv_direct_args *a)
{
    conv_pointwise_tiles(d, a, run_tile, NULL);
}
#endif
