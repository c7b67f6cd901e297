/* The loads of 14x32, shared by running and emitting. Internal to kernels/ukr. */
#ifndef KERNELS_UKR_F32_14X32_AVX512_H
#define KERNELS_UKR_F32_14X32_AVX512_H

#include "kernels/ukr/registry.h"

enum { VECTOR = 16, N_WIN = 14, N_F = 32 };

static inline size_t vectors(size_t n_f)
{
    return ceil_div(n_f, VECTOR);
}

#endif
