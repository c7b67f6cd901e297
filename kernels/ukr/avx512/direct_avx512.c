/* The direct kernel on zmm registers: 16 columns by up to 8 rows. Descriptor: direct_emit.c. */
#include "kernels/ukr/direct_tile.h"

#if defined(__x86_64__)
#include "kernels/ukr/ukr.h"
#include "kernels/ukr/x86/x86_mask.h"

#define VECTOR __m512
#define LANE_MASK __mmask16
enum { LANES = CONV_DIRECT_LANES__avx512, KEEPS_WINDOWS = 1 };

static inline __mmask16 lane_mask(struct conv_direct_part part)
{
    return (__mmask16)((1u << part.end) - (1u << part.first));
}

#define zero() _mm512_setzero_ps()
#define broadcast(p) _mm512_set1_ps(*(p))
#define multiply_add(a, b, c) _mm512_fmadd_ps(a, b, c)
#define load(p) _mm512_loadu_ps(p)
#define store(p, x) _mm512_storeu_ps(p, x)
#define even(a, b)                                                                                                     \
    _mm512_permutex2var_ps(a, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), b)
#define ordered(x) (x)

static inline __m512 load_part(const float *p, struct conv_direct_part part, __mmask16 mask)
{
    if (part.end)
        LOG_READ(p + part.first, (size_t)(part.end - part.first) * sizeof(float));
    return _mm512_maskz_loadu_ps(mask, p);
}

static inline void store_first(float *p, size_t n, __m512 x)
{
    LOG_WRITE(p, n * sizeof(float));
    _mm512_mask_storeu_ps(p, lane_mask((struct conv_direct_part){ 0, (int)n }), x);
}

#include "kernels/ukr/direct_tmpl.h"

void conv_f32_direct__avx512(const struct conv_direct *d, const struct conv_direct_args *a)
{
    conv_direct_tiles(d, a, run_tile, NULL);
}
#endif
