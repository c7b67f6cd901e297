/* Peak of tdpbsud: 16,384 multiply-adds an instruction. */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#define DOT _tile_dpbsud
#define PEAK_FMA conv_peak_fma_u8s8__amx
#include "kernels/ukr/amx/peak_tile_amx.h"
#endif
