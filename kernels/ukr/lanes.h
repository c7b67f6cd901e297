/* Shared by the micro-kernels of types with several channels in a lane, and by their accesses. Internal to kernels/. */
#ifndef KERNELS_UKR_LANES_H
#define KERNELS_UKR_LANES_H

#include "kernels/ukr/pack.h"

/* A block of a portable tile. */
enum { CONV_LANES_BLOCK_WIN = 4, CONV_LANES_BLOCK_F = 6 };

/* The windows of a segment that a tap reads: n from window `first` of the tile on; their first element in a plane. */
struct conv_lane_part {
    size_t first, n, element;
};

/* Of a row without a stride along the width. */
static inline struct conv_lane_part conv_lane_part(const struct conv_problem *p, const struct conv_segment *s,
                                                   size_t fh, size_t fw)
{
    const ptrdiff_t ih = s->ih0 + (ptrdiff_t)(fh * p->dilation_h), iw = s->iw0 + (ptrdiff_t)(fw * p->dilation_w);
    const ptrdiff_t before = iw < 0 ? -iw : 0, left = (ptrdiff_t)p->w - iw;
    const ptrdiff_t end = left < (ptrdiff_t)s->len ? left : (ptrdiff_t)s->len;

    if (ih < 0 || ih >= (ptrdiff_t)p->h || before >= end)
        return (struct conv_lane_part){ 0 };
    return (struct conv_lane_part){
        .first = s->first + (size_t)before,
        .n = (size_t)(end - before),
        .element = (size_t)ih * p->w + (size_t)(iw + before),
    };
}

#endif
