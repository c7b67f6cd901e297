/* The peak loops that kernels/peak.c chooses from. Internal to kernels/. */
#ifndef KERNELS_UKR_PEAK_TABLE_H
#define KERNELS_UKR_PEAK_TABLE_H

#include "kernels/peak.h"

extern const struct conv_peak conv_peak_avx2;
extern const struct conv_peak conv_peak_avx512;
extern const struct conv_peak conv_peak_mma;

#endif
