/* The micro-kernel on blocks on zmm registers: tiles of 64x6, 32x12 and 16x24. Descriptor: small_emit.c. */
#include "kernels/ukr/small_tile.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86/x86_mask.h"

#define ISA avx512
#define VECTOR __m512
enum { LANES = CONV_SMALL_LANES__avx512 };

#define multiply_add(a, b, c) _mm512_fmadd_ps(a, b, c)
#define load(p) _mm512_loadu_ps(p)
#define store(p, x) _mm512_storeu_ps(p, x)
#define broadcast(p) _mm512_set1_ps(*(p))

#include "kernels/ukr/small_tmpl.h"

void conv_f32_small__avx512(const struct conv_small *s, const struct conv_small_args *a)
{
    conv_small_tiles(s, a, run_tile, NULL);
}
#endif
