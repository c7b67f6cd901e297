/* Winograd's transforms on zmm registers: 16 tiles. Descriptors: winograd.c. */
#include "kernels/ukr/winograd_tile.h"

#if defined(__x86_64__)
#include <string.h>

#include "kernels/ukr/x86/x86_mask.h"

#define VECTOR __m512
enum { LANES = CONV_WINOGRAD_LANES__avx512 };

#define zero() _mm512_setzero_ps()
#define broadcast(x) _mm512_set1_ps((float)(x))
#define add(a, b) _mm512_add_ps(a, b)
#define subtract(a, b) _mm512_sub_ps(a, b)
#define multiply_add(a, b, c) _mm512_fmadd_ps(a, b, c)
#define load(p) _mm512_loadu_ps(p)
#define store(p, x) _mm512_storeu_ps(p, x)

static inline __m512 load_part(const float *p, struct conv_winograd_part part)
{
    LOG_READ(p + part.first, (part.end - part.first) * sizeof(float));
    return _mm512_maskz_loadu_ps((__mmask16)((1u << part.end) - (1u << part.first)), p);
}

static inline void store_first(float *p, size_t n, __m512 x)
{
    LOG_WRITE(p, n * sizeof(float));
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), x);
}

#define store_from(p, n, x) _mm512_mask_storeu_ps(p, (__mmask16)(0xffffu << (n)), x)

#define INDEX(...) _mm512_setr_epi32(__VA_ARGS__)
#define even(a, b) _mm512_permutex2var_ps(a, INDEX(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), b)
#define odd(a, b) _mm512_permutex2var_ps(a, INDEX(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), b)
#define zip_low(a, b) _mm512_permutex2var_ps(a, INDEX(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), b)
#define zip_high(a, b) _mm512_permutex2var_ps(a, INDEX(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), b)

#include "kernels/ukr/winograd_tmpl.h"

CONV_WINOGRAD_FUNCTIONS(avx512)
#endif
