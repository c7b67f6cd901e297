/* Has an instruction that an emulator can watch, and self-recording code cannot. */
#include "conv_plugin.h"

#define conv plain
#include "../../../kernels/plugin/naive.c"
#undef conv

void conv(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    const void *from = out;
    void *to = out;
    size_t bytes = 8;

    plain(s, in, filters, out);
    __asm__ volatile("rep movsb" : "+c"(bytes), "+S"(from), "+D"(to)::"memory");
}
