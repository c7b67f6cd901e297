/* 24 independent chains of fused multiply-adds, more than latency times ports; and as many loads in flight. */
#include "kernels/ukr/peak_table.h"

enum { N_CHAINS = 24, N_LANES = 16, N_STREAMS = 8 };

#if defined(__x86_64__)
#include <immintrin.h>

static float add_lanes(__m512 x)
{
    float lane[N_LANES], sum = 0;

    _mm512_storeu_ps(lane, x);
    for (int i = 0; i < N_LANES; i++)
        sum += lane[i];
    return sum;
}

/* The empty assembly keeps a chain in its register: no reordering, no folding of chains that hold the same. */
static float peak_fma(size_t n_steps)
{
    __m512 acc[N_CHAINS], a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(1);

    __asm__("" : "+v"(a), "+v"(b));
#pragma GCC unroll 32
    for (int i = 0; i < N_CHAINS; i++)
        acc[i] = _mm512_setzero_ps();
    for (; n_steps; n_steps--) {
#pragma GCC unroll 32
        for (int i = 0; i < N_CHAINS; i++) {
            acc[i] = _mm512_fmadd_ps(acc[i], a, b);
            __asm__("" : "+v"(acc[i]));
        }
    }
#pragma GCC unroll 32
    for (int i = 1; i < N_CHAINS; i++)
        acc[0] = _mm512_add_ps(acc[0], acc[i]);
    return add_lanes(acc[0]);
}

static float peak_read(const float *x, size_t n)
{
    __m512 sum[N_STREAMS];

    for (int i = 0; i < N_STREAMS; i++)
        sum[i] = _mm512_setzero_ps();
    for (const float *end = x + n; x < end; x += N_STREAMS * N_LANES) {
#pragma GCC unroll 8
        for (int i = 0; i < N_STREAMS; i++)
            sum[i] = _mm512_add_ps(sum[i], _mm512_loadu_ps(x + i * N_LANES));
    }
    for (int i = 1; i < N_STREAMS; i++)
        sum[0] = _mm512_add_ps(sum[0], sum[i]);
    return add_lanes(sum[0]);
}

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
