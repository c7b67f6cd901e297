/*
 * Vector-based packing (SConv section 6.2): what its vector versions share. Internal to kernels/ukr.
 *
 * With unit stride, the panel rows of one filter row are the same input row shifted by fw * dilation_w elements. A
 * segment of the tile is therefore loaded once, as a span of VBP_SPAN elements, and every panel row is made from
 * registers. Element e of the span sits at plane + offset + e; position i of the tile reads element i + shift. Which
 * elements exist (the others are padding, or belong to another segment) is a mask, so borders cost no tests inside.
 */
#ifndef KERNELS_UKR_PACK_VBP_H
#define KERNELS_UKR_PACK_VBP_H

#include "kernels/pack.h"

enum { VBP_WIN = 16 };

struct vbp_span {
    int64_t offset;          /* elements from the channel's plane to element 0; may be negative */
    uint32_t valid;          /* elements to load: bit e = element e, contiguous */
    uint32_t positions;      /* tile positions that this segment fills */
};

/* The spans of a tile that filter row fh needs, those wholly in the padding left out. Returns how many, <= VBP_WIN. */
size_t vbp_spans(const struct conv_problem *p, const struct conv_tile *t, size_t fh, struct vbp_span *span);

/* Whether the shape suits: unit stride along the width, and shifts of at most max_shift elements. */
bool vbp_suits(const struct conv_problem *p, size_t max_shift);

/*
 * Emits tiles packed with vectors of vector_bytes: for each filter row, channel and tile the pieces of every span that
 * hold a valid element, then the row's panel stores.
 */
void vbp_emit(const struct conv_pack_windows_args *a, uint32_t vector_bytes, struct sim_sink *sink);

#endif
