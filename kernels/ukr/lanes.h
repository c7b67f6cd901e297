/* Shared by the micro-kernels of types with several channels in a lane, and by their accesses. Internal to kernels/. */
#ifndef KERNELS_UKR_LANES_H
#define KERNELS_UKR_LANES_H

#include "kernels/ukr/pack.h"

/* A block of a portable tile. */
enum { CONV_LANES_BLOCK_WIN = 4, CONV_LANES_BLOCK_F = 6 };

#endif
