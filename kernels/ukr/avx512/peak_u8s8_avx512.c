/* As peak_avx512.c, of vpdpbusd: 64 multiply-adds an instruction. */
#include "kernels/ukr/registry.h"

enum { N_CHAINS = CONV_PEAK_CHAINS_u8s8__avx512, N_LANES = CONV_PEAK_LANES_u8s8__avx512 };

#if defined(__x86_64__)
#include <immintrin.h>

#define FMADD(acc, a, b) ((peak_vector)_mm512_dpbusd_epi32((__m512i)(acc), (__m512i)(a), (__m512i)(b)))
#define REGISTER "v"
#define PEAK_FMA conv_peak_fma_u8s8__avx512
#include "kernels/ukr/peak_tmpl.h"
#endif
