/* The peak loops that kernels/ukr/peak.c chooses from. Internal to kernels/. */
#ifndef KERNELS_UKR_PEAK_TABLE_H
#define KERNELS_UKR_PEAK_TABLE_H

#include "kernels/ukr/peak.h"

/* Independent chains of multiply-adds, and floats in a vector. */
enum {
    CONV_PEAK_CHAINS__AVX2 = 12,
    CONV_PEAK_LANES__AVX2 = 8,
    CONV_PEAK_CHAINS__AVX512 = 24,
    CONV_PEAK_LANES__AVX512 = 16,
    CONV_PEAK_CHAINS__MMA = 8,
    CONV_PEAK_LANES__MMA = 4,
};

float conv_peak_fma__avx2(size_t n_steps);
float conv_peak_fma__avx512(size_t n_steps);
float conv_peak_fma__mma(size_t n_steps);
float conv_peak_read__avx2(const float *x, size_t n);
float conv_peak_read__avx512(const float *x, size_t n);
float conv_peak_read__mma(const float *x, size_t n);

#endif
