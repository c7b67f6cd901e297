#include "kernels/pack.h"

size_t conv_segments(const struct conv_problem *p, size_t win0, size_t n_win, struct conv_segment *segment)
{
    size_t n = 0;

    for (size_t i = 0; i < n_win;) {
        size_t row = (win0 + i) / p->q;
        size_t column = (win0 + i) % p->q;
        size_t len = p->q - column < n_win - i ? p->q - column : n_win - i;

        segment[n++] = (struct conv_segment){
            .first = i,
            .len = len,
            .ih0 = (ptrdiff_t)(row * p->stride_h) - (ptrdiff_t)p->pad_top,
            .iw0 = (ptrdiff_t)(column * p->stride_w) - (ptrdiff_t)p->pad_left,
        };
        i += len;
    }
    return n;
}
