/* 12 independent chains of fused multiply-adds, more than latency times ports; and as many loads in flight. */
#include "kernels/ukr/peak_table.h"

enum { N_CHAINS = 12, N_LANES = 8 };

#if defined(__x86_64__)
#include <immintrin.h>

#define FMADD _mm256_fmadd_ps
#define REGISTER "x"
#include "kernels/ukr/peak_body.h"

#define FMA peak_fma
#define READ peak_read
#else
#define FMA NULL
#define READ NULL
#endif

const struct conv_peak conv_peak_avx2 = {
    .name = "AVX2 FMA",
    .isa = CPU_ISA_AVX2,
    .flop_per_step = 2.0 * N_CHAINS * N_LANES,
    .fma = FMA,
    .read = READ,
};
