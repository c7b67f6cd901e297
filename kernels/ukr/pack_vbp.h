/*
 * Vector-based packing (SConv section 6.2): shared by the vector versions. Internal to kernels/ukr.
 *
 * With unit stride, the panel rows of neighbouring filter columns are an input row shifted by dilation_w elements. A
 * segment of the tile is therefore loaded once, as a span of elements in a few registers, and the panel rows of as many
 * filter columns as the span reaches are made from registers. Element e of the span sits at its base + e; position i of
 * the tile reads element i * stride_w + shift. A mask says which elements exist (missing elements are padding, or
 * belong to another segment), so borders cost no tests inside. Stride 2 works likewise, with spans that reach one
 * shift.
 *
 * Everything but the vectors is here: an instruction set has a single function, which packs a group.
 */
#ifndef KERNELS_UKR_PACK_VBP_H
#define KERNELS_UKR_PACK_VBP_H

#include "kernels/ukr/pack.h"

/* Inlined whatever the size: values shared by a group's tiles stay in registers. */
#define VBP_INLINE static inline __attribute__((always_inline))

enum { VBP_WIN = 16 }; /* windows of a tile, at most */

/* Bit e is element or position e. Vector code reads a vector's part of the mask, on little-endian CPUs. */
union vbp_mask {
    uint32_t all;
    uint16_t of16[2];
    uint8_t of8[4];
};

struct vbp_span {
    uint64_t base;            /* address of element 0 in channel 0's plane; may lie before the plane */
    union vbp_mask valid;     /* elements to load: contiguous, never none */
    union vbp_mask positions; /* of the tile, filled by this segment */
};

/* A tile's rows of a group; spans wholly in the padding are left out, positions without a span are zero. */
struct vbp_tile {
    size_t n_spans;
    bool is_copy;   /* `width` elements, side by side, make the only row */
    uint64_t panel; /* the first row, of channel 0 */
    struct vbp_span span[VBP_WIN];
};

/* Panel rows of neighbouring filter columns, which come out of the same spans; all channels, some tiles. */
struct vbp_group {
    size_t n_c, n_rows, width;
    size_t stride, dilation; /* along the width, elements */
    uint64_t plane_bytes;    /* between two channels in the input, */
    uint64_t channel_bytes;  /* and in the panel */
    size_t n_tiles;
    struct vbp_tile tile[CONV_PACK_TILES];
};

/* Packs a group, channel by channel, tile by tile: loads the pieces with valid elements, then stores their rows. */
void vbp_pack_group__avx2(const struct vbp_group *g);
void vbp_pack_group__avx512(const struct vbp_group *g);
void vbp_pack_group__vsx(const struct vbp_group *g);

/* Calls fn for every set of tiles and every group of columns, in the order of packing. */
void vbp_for_each_group(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a, void *ctx,
                        void (*fn)(const struct conv_pack_windows *self, const struct vbp_group *g, void *ctx));

#endif
