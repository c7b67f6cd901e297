/* The micro-kernel on blocks on ymm registers: tiles of 16x6. Descriptor: small_emit.c. */
#include "kernels/ukr/small_tile.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86/x86_mask.h"

#define ISA avx2
#define VECTOR __m256
enum { LANES = CONV_SMALL_LANES__avx2 };

#define multiply_add(a, b, c) _mm256_fmadd_ps(a, b, c)
#define load(p) _mm256_loadu_ps(p)
#define store(p, x) _mm256_storeu_ps(p, x)
#define broadcast(p) _mm256_set1_ps(*(p))

#include "kernels/ukr/small_tmpl.h"

void conv_f32_small__avx2(const struct conv_small *s, const struct conv_small_args *a)
{
    conv_small_tiles(s, a, run_tile, NULL);
}
#endif
