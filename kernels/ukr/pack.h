/*
 * The data-moving routines of both algorithms. A routine has a function that moves data and a function that emits the
 * accesses, side by side in a file; both take one argument struct, whose addresses are real or synthetic.
 */
#ifndef KERNELS_PACK_H
#define KERNELS_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "sim/cpu.h"
#include "kernels/shape/layout.h"
#include "kernels/shape/problem.h"
#include "kernels/ukr/ukr.h"
#include "sim/base/access.h"

/*
 * Packs SConv input tiles (SConv section 6.1): n_win consecutive windows of the flattened output plane, n_c channels,
 * in tiles of `width` windows, the last of which may be smaller.
 *
 *   in      [n_c][h][w], the tiles' first channel of an image
 *   panel   one per tile, panel_step apart, each [n_c][r][s][width]: the element of every window at a filter position,
 *           side by side; zero where the window meets padding and in columns past the last window. By rows of taps,
 *           [r][n_c][s][width], tiles leave out rows that a whole micro-kernel tile can do without
 *
 * Of types with several channels in a lane, a panel is [lanes of n_c][r][s][width] lanes, and n_c starts a lane.
 *
 * Tiles are packed CONV_PACK_TILES at a time, channel by channel, so that an input row is read through before the next
 * row, which lies in another page.
 */
struct conv_pack_windows_args {
    const struct conv_problem *p;
    enum conv_tensor tag; /* tag of the input: CONV_INPUT, or CONV_IM2COL where the image was padded first */
    uint64_t in;
    uint64_t panel;
    size_t panel_step;  /* elements, or lanes, between the panels of two tiles */
    size_t win0, n_win; /* first window and count */
    size_t n_c;
    size_t width;    /* windows per tile, columns of a panel; at most CONV_MAX_WIN */
    size_t live_win; /* by rows: windows per micro-kernel tile, a multiple of width; 0: by channels, everything */
    uint8_t flip;    /* exclusive-ored to bytes (conv_ukr_flip) */
};

/* Returns the start of a channel's row of taps in a panel, in elements from the panel's start. */
static inline size_t conv_panel_row(const struct conv_pack_windows_args *a, size_t channel, size_t fh)
{
    return (a->live_win ? fh * a->n_c + channel : channel * a->p->r + fh) * a->p->s * a->width;
}

enum { CONV_PACK_TILES = 16 };

/*
 * Counts how often a call of a vector routine takes each path of its code: tiles (one for each group of filter columns)
 * and their segments looked at beforehand; then, channel by channel, tiles copied, and tiles and rows put together of
 * one, two, three, or more segments, with a stride of 1 or 2.
 */
enum { CONV_PACK_SEGMENTS = 4, CONV_PACK_PATHS = 2 * CONV_PACK_SEGMENTS };

struct conv_pack_work {
    uint64_t tiles, segments, copies;
    uint64_t passes[CONV_PACK_PATHS], rows[CONV_PACK_PATHS];
};

/* A routine. fn (NULL: this build cannot run the routine) and emit get the routine: vector routines share both. */
struct vbp_group;
struct conv_pack_windows {
    const char *name;
    enum cpu_isa isa;
    size_t granule, max_width; /* the routine writes panels of a multiple of granule windows, up to max_width */
    void (*fn)(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a);
    void (*emit)(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a, struct sim_sink *sink);
    /* Adds to *work; NULL: the routine's code has one path. */
    void (*count)(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a,
                  struct conv_pack_work *work);
    bool (*can_pack)(const struct conv_problem *p); /* NULL = every shape */
    bool transposes;       /* of plans that prefetch: plans of the paper pack strided windows by vectors (pack_vbp.h) */
    uint32_t vector_bytes; /* vector-based packing (ukr/pack_vbp.h): a load or store, */
    void (*pack_group)(const struct vbp_group *group); /* packs a group */
};

/* Tells whether the routine writes panels of width windows for the shape. */
static inline bool conv_pack_windows_suits(const struct conv_pack_windows *pack, const struct conv_problem *p,
                                           size_t width)
{
    return width % pack->granule == 0 && width <= pack->max_width && (!pack->can_pack || pack->can_pack(p));
}

/*
 * A tile's windows, cut where they change output row: position `first` .. first + len - 1 of the tile read input row
 * ih0 + fh * dilation_h and columns iw0 + i * stride_w + fw * dilation_w; both may lie in the padding.
 */
struct conv_segment {
    size_t first, len;
    ptrdiff_t ih0, iw0;
};

/* Up to CONV_PACK_TILES tiles that are packed together. */
struct conv_tiles {
    size_t n;
    struct conv_tile {
        uint64_t panel;
        size_t n_win;
        struct conv_dead_rows dead; /* rows of taps that are not packed */
        size_t n_segments;
        struct conv_segment segment[CONV_MAX_WIN];
    } tile[CONV_PACK_TILES];
};

static inline bool conv_tile_needs(const struct conv_tile *t, const struct conv_problem *p, size_t fh)
{
    return fh >= t->dead.above && fh < p->r - t->dead.below;
}

/* Gets the tiles from window win0 + first on; first is a multiple of width. Returns their windows, 0 at the end. */
size_t conv_tiles_at(const struct conv_pack_windows_args *a, size_t first, struct conv_tiles *tiles);

/* Packs a block of a row-major matrix [n_k][ld] for GEMM: consecutive panels of n_win columns, [n_k][width] each. */
struct conv_pack_matrix_args {
    const struct conv_ukr *ukr; /* the panels' micro-kernel: n_win, granule, edges */
    enum conv_tensor tag;       /* tag of the matrix: CONV_IM2COL, or CONV_INPUT for a pointwise convolution */
    uint64_t matrix;            /* the block's first element */
    uint64_t panels;
    size_t ld;                    /* elements between rows of matrix */
    size_t n_win, n_k;            /* columns and rows of the block */
    const struct conv_copy *copy; /* a library's routine, whose accesses are emitted; NULL: element by element */
};

void conv_pack_matrix(const struct conv_pack_matrix_args *a);
void conv_pack_matrix_emit(const struct conv_pack_matrix_args *a, struct sim_sink *sink);

/*
 * Packs n_f filters, n_k elements each (rows of the OIHW tensor, ld apart), into the micro-kernel's panels,
 * [n_k][width] each: width is the micro-kernel's f_panel, or less at the edge. Steps [channel][r][s] may be reordered
 * into [r][channel][s] on the way.
 */
struct conv_pack_filters_args {
    uint64_t filter; /* first element of the first filter's reduction range */
    uint64_t panels;
    size_t ld; /* elements between two filters */
    const struct conv_ukr *ukr;
    size_t n_f, n_k;
    size_t by_rows, row;          /* reordered: r and s; else 0 */
    const struct conv_copy *copy; /* as above; steps are not reordered then */
    size_t taps;                  /* steps of a channel */
};

void conv_pack_filters(const struct conv_pack_filters_args *a);
void conv_pack_filters_emit(const struct conv_pack_filters_args *a, struct sim_sink *sink);

/*
 * Of types with several channels in a lane, panels are [lanes of channels][taps][width] lanes, after the type's head
 * (shape/type.h). Steps are not reordered.
 */
void conv_pack_filters_bf16(const struct conv_pack_filters_args *a);
void conv_pack_filters_bf16_emit(const struct conv_pack_filters_args *a, struct sim_sink *sink);
void conv_pack_filters_u8s8(const struct conv_pack_filters_args *a);
void conv_pack_filters_u8s8_emit(const struct conv_pack_filters_args *a, struct sim_sink *sink);
void conv_pack_filters_s8s8(const struct conv_pack_filters_args *a);
void conv_pack_filters_s8s8_emit(const struct conv_pack_filters_args *a, struct sim_sink *sink);

/*
 * Lowers a group of an image as Caffe's im2col does: for each (channel, filter row, filter column) a row of the matrix,
 * element by element.
 *
 *   in   [channels of the group][h][w]
 *   col  [channels * r * s][p * q]
 */
struct conv_im2col_args {
    const struct conv_problem *p;
    uint64_t in;
    uint64_t col;
};

void conv_im2col(const struct conv_im2col_args *a);
void conv_im2col_emit(const struct conv_im2col_args *a, struct sim_sink *sink);

/* The same loops for types whose input has elements of one or two bytes (shape/type.h). */
void conv_im2col_narrow(const struct conv_im2col_args *a);
void conv_im2col_narrow_emit(const struct conv_im2col_args *a, struct sim_sink *sink);

/* The baseline's lowering done well: conv_im2col's matrix, copied by rows, with accesses of up to 16 bytes. */
void conv_im2col_rows(const struct conv_im2col_args *a);

/* Clears n_f rows of n_win outputs, ld_out apart: GEMM's beta = 0. */
struct conv_zero_args {
    uint64_t out;
    size_t n_f, n_win, ld_out;
    uint32_t piece_bytes; /* width of a store */
};

void conv_zero(const struct conv_zero_args *a);
void conv_zero_emit(const struct conv_zero_args *a, struct sim_sink *sink);

#endif
