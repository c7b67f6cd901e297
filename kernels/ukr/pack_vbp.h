/*
 * Vector-based packing (SConv section 6.2): what its vector versions share. Internal to kernels/ukr.
 *
 * With unit stride, the panel rows of neighbouring filter columns are the same input row shifted by dilation_w
 * elements. A segment of the tile is therefore loaded once, as a span of elements in a few registers, and the panel
 * rows of as many filter columns as the span reaches are made from registers. Element e of the span sits at plane +
 * offset + e; position i of the tile reads element i * stride_w + shift. Which elements exist (the others are padding,
 * or belong to another segment) is a mask, so borders cost no tests inside. Stride 2 works the same way, with spans
 * that reach one shift.
 */
#ifndef KERNELS_UKR_PACK_VBP_H
#define KERNELS_UKR_PACK_VBP_H

#include "kernels/pack.h"

enum { VBP_WIN = 16 };

struct vbp_span {
    int64_t offset;     /* elements from the channel's plane to element 0; may be negative */
    uint32_t valid;     /* elements to load: bit e = element e, contiguous */
    uint32_t positions; /* tile positions that this segment fills */
};

/* Filter columns whose panel rows come out of the same spans. */
struct vbp_columns {
    size_t fh;
    size_t fw0, n;
};

/*
 * The first group of columns, and the one after c; n = 0 after the last. lanes: floats per vector, of which two
 * neighbouring ones make a row or its part.
 */
struct vbp_columns vbp_first(const struct conv_problem *p, size_t lanes);
struct vbp_columns vbp_next(const struct conv_problem *p, size_t lanes, struct vbp_columns c);

/* The spans of a tile that the columns need, those wholly in the padding left out. Returns how many, <= VBP_WIN. */
size_t vbp_spans(const struct conv_problem *p, const struct conv_tile *t, struct vbp_columns c, struct vbp_span *span);

/* Whether the shape suits: a stride of 1 or 2 along the width. */
bool vbp_suits(const struct conv_problem *p);

/* Packs the tiles' rows of one group of columns, all channels. */
typedef void (*vbp_columns_fn)(const struct conv_pack_windows_args *a, const struct conv_tiles *tiles,
                               struct vbp_columns columns);

/* Calls fn for every set of tiles and every group of columns: the order of packing and of its emission. */
void vbp_pack(const struct conv_pack_windows_args *a, size_t lanes, vbp_columns_fn fn);

/*
 * Emits tiles packed with vectors of vector_bytes: for each group of columns, channel and tile the pieces of every span
 * that hold a valid element, then the group's panel stores.
 */
void vbp_emit(const struct conv_pack_windows_args *a, uint32_t vector_bytes, struct sim_sink *sink);

#endif
