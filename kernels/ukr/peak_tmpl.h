/*
 * The peak loops, for vectors of any length. The including file defines
 *
 *   N_CHAINS      independent chains of fused multiply-adds, more than latency times ports
 *   N_LANES       floats in a vector
 *   FMADD(a,b,c)  a * b + c, rounded once; without it there is no PEAK_FMA here
 *   REGISTER      the assembly constraint of a vector register
 *   PEAK_FMA      the name of the loop of fused multiply-adds,
 *   PEAK_READ     and of the loop that reads (kernels/ukr/registry.h), if the file has the loop
 */
#ifndef KERNELS_UKR_PEAK_TMPL_H
#define KERNELS_UKR_PEAK_TMPL_H

#include <stddef.h>
#include <string.h>

enum { N_STREAMS = 8 };

typedef float peak_vector __attribute__((vector_size(N_LANES * sizeof(float))));

static float add_lanes(peak_vector x)
{
    float sum = 0;

    for (int i = 0; i < N_LANES; i++)
        sum += x[i];
    return sum;
}

#ifdef FMADD
/* Adds to a chain. The empty assembly keeps the chain in its register: no reordering, no folding of equal chains. */
float PEAK_FMA(size_t n_steps)
{
    peak_vector acc[N_CHAINS], a = (peak_vector){ 0 } + 0.5f, b = (peak_vector){ 0 } + 1;

    __asm__("" : "+" REGISTER(a), "+" REGISTER(b));
#pragma GCC unroll 32
    for (int i = 0; i < N_CHAINS; i++)
        acc[i] = (peak_vector){ 0 };
    for (; n_steps; n_steps--) {
#pragma GCC unroll 32
        for (int i = 0; i < N_CHAINS; i++) {
            acc[i] = FMADD(acc[i], a, b);
            __asm__("" : "+" REGISTER(acc[i]));
        }
    }
#pragma GCC unroll 32
    for (int i = 1; i < N_CHAINS; i++)
        acc[0] += acc[i];
    return add_lanes(acc[0]);
}
#endif

#ifdef PEAK_READ
static inline peak_vector load(const float *x)
{
    peak_vector v;

    memcpy(&v, x, sizeof(v));
    return v;
}

float PEAK_READ(const float *x, size_t n)
{
    peak_vector sum[N_STREAMS];

    for (int i = 0; i < N_STREAMS; i++)
        sum[i] = (peak_vector){ 0 };
    for (const float *end = x + n; x < end; x += N_STREAMS * N_LANES) {
#pragma GCC unroll 8
        for (int i = 0; i < N_STREAMS; i++)
            sum[i] += load(x + i * N_LANES);
    }
    for (int i = 1; i < N_STREAMS; i++)
        sum[0] += sum[i];
    return add_lanes(sum[0]);
}
#endif

#endif
