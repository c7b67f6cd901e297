/* The shape of the POWER10 tile. Internal to kernels/ukr. */
#ifndef KERNELS_UKR_F32_16X8_MMA_H
#define KERNELS_UKR_F32_16X8_MMA_H

#include "kernels/ukr/registry.h"

enum { N_WIN = 16, N_F = 8, LANES = 4 };

#endif
