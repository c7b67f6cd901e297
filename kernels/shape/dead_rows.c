#include "kernels/shape/dead_rows.h"

#include "kernels/shape/sizes.h"

struct conv_dead_rows conv_dead_rows(const struct conv_problem *p, size_t win0, size_t n_win)
{
    size_t top = win0 / p->q * p->stride_h, bottom = (win0 + n_win - 1) / p->q * p->stride_h; /* padded input rows */
    size_t end = p->pad_top + p->h, live = 0; /* rows of taps that start before the image ends */
    struct conv_dead_rows d = { 0 };

    if (bottom < p->pad_top)
        d.above = min_size(ceil_div(p->pad_top - bottom, p->dilation_h), p->r - 1);
    if (top < end)
        live = min_size(ceil_div(end - top, p->dilation_h), p->r);
    if (live <= d.above)
        live = d.above + 1;
    d.below = p->r - live;
    return d;
}

struct conv_live_windows conv_live_windows(const struct conv_problem *p)
{
    size_t last_tap = (p->r - 1) * p->dilation_h, end = p->pad_top + p->h;
    size_t first_row = ceil_div(p->pad_top, p->stride_h);
    size_t end_row = end > last_tap ? ceil_div(end - last_tap, p->stride_h) : 0;

    return (struct conv_live_windows){ min_size(first_row, p->p) * p->q, min_size(end_row, p->p) * p->q };
}
