/* u8 by s8 by tdpbsud: signed filters by unsigned windows, added to sums in s32, without saturation. */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#define DOT _tile_dpbsud
#define UKR conv_u8s8_ukr_32x32__amx
#include "kernels/ukr/amx/lane_tile_amx.h"
#endif
