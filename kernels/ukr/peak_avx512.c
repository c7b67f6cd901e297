/* 24 independent chains of fused multiply-adds, more than latency times ports; and as many loads in flight. */
#include "kernels/ukr/peak_table.h"

enum { N_CHAINS = 24, N_LANES = 16 };

#if defined(__x86_64__)
#include <immintrin.h>

#define FMADD _mm512_fmadd_ps
#define REGISTER "v"
#include "kernels/ukr/peak_body.h"

#define FMA peak_fma
#define READ peak_read
#else
#define FMA NULL
#define READ NULL
#endif

const struct conv_peak conv_peak_avx512 = {
    .name = "AVX-512 FMA",
    .isa = CPU_ISA_AVX512,
    .flop_per_step = 2.0 * N_CHAINS * N_LANES,
    .fma = FMA,
    .read = READ,
};
