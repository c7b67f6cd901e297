/* Gives up the tile registers. */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
#include <immintrin.h>

void conv_tiles_release__amx(void)
{
    _tile_release();
}
#endif
