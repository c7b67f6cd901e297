/* Peak of tdpbf16ps: 8,192 multiply-adds an instruction. */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#define DOT _tile_dpbf16ps
#define PEAK_FMA conv_peak_fma_bf16__amx
#include "kernels/ukr/amx/peak_tile_amx.h"
#endif
