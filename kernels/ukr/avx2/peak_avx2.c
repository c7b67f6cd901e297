/* 12 independent chains of fused multiply-adds, more than latency times ports; and as many loads in flight. */
#include "kernels/ukr/registry.h"

enum { N_CHAINS = CONV_PEAK_CHAINS__avx2, N_LANES = CONV_PEAK_LANES__avx2 };

#if defined(__x86_64__)
#include <immintrin.h>

#define FMADD _mm256_fmadd_ps
#define REGISTER "x"
#define PEAK_FMA conv_peak_fma__avx2
#define PEAK_READ conv_peak_read__avx2
#include "kernels/ukr/peak_tmpl.h"
#endif
