/* Shared by the micro-kernels of types with several channels in a lane, and by their accesses. Internal to kernels/. */
#ifndef KERNELS_UKR_LANES_H
#define KERNELS_UKR_LANES_H

#include "kernels/ukr/pack.h"

/* A block of a portable tile. */
enum { CONV_LANES_BLOCK_WIN = 4, CONV_LANES_BLOCK_F = 6 };

/*
 * The windows of a segment that a tap reads: n from window `first` of the tile on; their first element in a plane, and
 * the elements from the first to the last.
 */
struct conv_lane_part {
    size_t first, n, element, span;
};

/* Of a stride along the width of 1 or 2. */
static inline struct conv_lane_part conv_lane_part(const struct conv_problem *p, const struct conv_segment *s,
                                                   size_t fh, size_t fw)
{
    const ptrdiff_t ih = s->ih0 + (ptrdiff_t)(fh * p->dilation_h), iw = s->iw0 + (ptrdiff_t)(fw * p->dilation_w);
    const ptrdiff_t more = (ptrdiff_t)p->stride_w - 1; /* halves by a shift */
    const ptrdiff_t before = iw < 0 ? (more - iw) >> more : 0, left = (ptrdiff_t)p->w - iw + more;
    const ptrdiff_t end = (ptrdiff_t)min_size(left > 0 ? (size_t)left >> more : 0, s->len);

    if (ih < 0 || ih >= (ptrdiff_t)p->h || before >= end)
        return (struct conv_lane_part){ 0 };
    return (struct conv_lane_part){
        .first = s->first + (size_t)before,
        .n = (size_t)(end - before),
        .element = (size_t)ih * p->w + (size_t)(iw + (before << more)),
        .span = ((size_t)(end - before - 1) << more) + 1,
    };
}

#endif
