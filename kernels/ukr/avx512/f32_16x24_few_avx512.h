/* The decisions of 16x24 with few windows, shared by running and emitting. Internal to kernels/ukr. */
#ifndef KERNELS_UKR_F32_16X24_FEW_AVX512_H
#define KERNELS_UKR_F32_16X24_FEW_AVX512_H

#include "kernels/ukr/registry.h"

/* More windows are no cheaper by broadcasts where zmm and ymm FMAs cost equally much. */
enum { FEW_WIN = 12, GROUP = 4 };

static inline size_t vectors(size_t n_f)
{
    return n_f > 16 ? 2 : 1;
}

/* Tells whether this way takes no more FMAs. */
static inline bool is_few(size_t n_win, size_t n_f)
{
    return n_win <= FEW_WIN && n_win * vectors(n_f) <= n_f;
}

#endif
