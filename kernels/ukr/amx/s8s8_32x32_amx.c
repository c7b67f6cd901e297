/* s8 by s8 by tdpbsud: packed windows are 128 too large, as for vpdpbusd, and the head takes that back. */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#define DOT _tile_dpbsud
#define HEAD 1
#define UKR conv_s8s8_ukr_32x32__amx
#include "kernels/ukr/amx/lane_tile_amx.h"
#endif
