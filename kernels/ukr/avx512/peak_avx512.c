/* 24 independent chains of fused multiply-adds, more than latency times ports; and as many loads in flight. */
#include "kernels/ukr/registry.h"

enum { N_CHAINS = CONV_PEAK_CHAINS__avx512, N_LANES = CONV_PEAK_LANES__avx512 };

#if defined(__x86_64__)
#include <immintrin.h>

#define FMADD _mm512_fmadd_ps
#define REGISTER "v"
#define PEAK_FMA conv_peak_fma__avx512
#define PEAK_READ conv_peak_read__avx512
#include "kernels/ukr/peak_tmpl.h"
#endif
