/* Writes eight own pages from the last to the first, and then reads the pages from the first to the last. */
#include "conv_plugin.h"

#define conv plain
#include "../../../kernels/plugin/naive.c"
#undef conv

enum { PAGES = 8, FLOATS = 1024, STEP = 64 };

static _Alignas(4096) volatile float own[PAGES * FLOATS];

void conv(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    for (int page = PAGES - 1; page >= 0; page--) {
        for (int i = 0; i < FLOATS; i += STEP)
            own[page * FLOATS + i] = 0;
    }
    for (int i = 0; i < PAGES * FLOATS; i += STEP)
        (void)own[i];
    plain(s, in, filters, out);
}
