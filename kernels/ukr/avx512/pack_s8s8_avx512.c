/* Packs windows of s8s8 as windows of u8s8. */
#include "kernels/ukr/registry.h"

#if defined(__x86_64__)
void conv_pack_lanes_s8s8__avx512(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a)
{
    conv_pack_lanes_u8s8__avx512(self, a);
}
#endif
