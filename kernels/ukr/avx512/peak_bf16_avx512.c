/* As peak_avx512.c, of vdpbf16ps: 32 multiply-adds an instruction. */
#include "kernels/ukr/registry.h"

enum { N_CHAINS = CONV_PEAK_CHAINS_bf16__avx512, N_LANES = CONV_PEAK_LANES_bf16__avx512 };

#if defined(__x86_64__)
#include <immintrin.h>

#define FMADD(acc, a, b) _mm512_dpbf16_ps((__m512)(acc), (__m512bh)(a), (__m512bh)(b))
#define REGISTER "v"
#define PEAK_FMA conv_peak_fma_bf16__avx512
#include "kernels/ukr/peak_tmpl.h"
#endif
