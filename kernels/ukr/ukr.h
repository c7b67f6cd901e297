/*
 * The micro-kernel contract: the computation of a register tile, and the memory that the computation touches.
 *
 * A micro-kernel multiplies a packed panel of windows by a packed panel of filters:
 *
 *     out[f][i] (+)= sum over t < k of in[t][i] * filter[t][f]          i < n_win, f < n_f
 *
 * An element of a panel is a lane (shape/type.h): 4 bytes, of f32 one channel. A product of two lanes is the sum of the
 * products of their channels.
 *
 *   in      windows  [k][ld_in]      packed: ld_in = n_win rounded up to win_granule; columns past n_win are zero.
 *                                    In place: rows of the input itself, of which only n_win elements are read
 *                     t=0: w0 w1 ... w15 | t=1: w0 w1 ... w15 | ...
 *                    A tile wider than win_panel reads neighbouring panels of win_panel windows, in_step elements
 *                    apart, each [k][win_panel]; in place the panels are one row, win_panel elements on.
 *   filter  filters  consecutive panels of [k][f_panel] (the last may be narrower): filter f of step t is at
 *                     panel f / f_panel, element t * width + f % f_panel. Our own kernels have one panel per tile.
 *                    Types with a head: [1 + k][f_panel], where sums start at the first lanes, s32 (conv_ukr_head).
 *                    With k_block > 1: blocks of k_block steps, of which the last may be shorter, and in a block filter
 *                    after filter, the filter's steps side by side
 *   out     [n_f][ld_out]: windows of a filter are contiguous, which is NCHW's own order; nothing is unpacked
 *
 * A descriptor holds `fn`, which computes, and `emit`, which lists the loads and stores that fn executes, in fn's
 * order; tests/ compares both. Every CPU emits, also for kernels that it cannot execute: fn is alone in a file that is
 * compiled for its instruction set (f32_16x6_avx2.c), the rest is plain C beside it (f32_16x6_avx2_emit.c).
 */
#ifndef KERNELS_UKR_H
#define KERNELS_UKR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/shape/sizes.h"
#include "kernels/shape/tensor.h"
#include "kernels/shape/type.h"
#include "sim/cpu.h"
#include "sim/base/access.h"

/* Lines of later calls, prefetched while a call computes: n lines, step_bytes apart. */
struct conv_ahead {
    uint64_t addr;
    int64_t step_bytes;
    int64_t tile_bytes; /* of several tiles, between two tiles */
    size_t n;
    enum conv_tensor tag;
};

enum { CONV_N_AHEAD = 8 }; /* of outputs up to three, of filters one, of the input four */

/* The lists are asked for one after the other: step t of the call asks for the next `each` lines of all lists. */
struct conv_ahead_lists {
    size_t n_steps, each; /* the steps that ask; lines that a step asks for */
    size_t n;             /* lists */
    struct conv_ahead list[CONV_N_AHEAD];
};

/*
 * Windows in place: an element of the input per window and tap. Element of window i at tap (fh, fw) of channel c:
 * args.in + c * channel_bytes + fh * row_bytes + fw * column_bytes + window_bytes[i], if bit i is set in row_live[fh]
 * and in column_live[fw]; else the tap lies on padding, and nothing is read.
 */
enum { CONV_MAX_TAPS = 16, CONV_MAX_TAP_WINDOWS = 16 };

struct conv_taps {
    size_t n_c, r, s; /* k = n_c * r * s; r, s <= CONV_MAX_TAPS */
    int64_t channel_bytes, row_bytes, column_bytes;
    int64_t window_bytes[CONV_MAX_TAP_WINDOWS];
    size_t row_windows; /* windows apart_bytes from each other; then come as many of the next row */
    int64_t apart_bytes;
    uint32_t row_live[CONV_MAX_TAPS], column_live[CONV_MAX_TAPS];
};

/* A call, with real or synthetic addresses. A call of several tiles (chains): tiles differ by their places alone. */
struct conv_ukr_args {
    uint64_t in;                    /* bytes; aligned to 4 */
    uint64_t filter;                /* bytes; aligned to 4 */
    uint64_t out;                   /* bytes; aligned to 4 */
    size_t k;                       /* reduction steps, >= 1 */
    size_t ld_in;                   /* elements between the steps of in; 0 = packed */
    size_t in_step;                 /* packed: elements between a tile's panels; 0: no gap between the panels */
    size_t ld_out;                  /* elements between the rows of out */
    size_t n_win;                   /* 1 .. descriptor's n_win; or a multiple of n_win where takes_columns is set */
    size_t n_f;                     /* 1 .. descriptor's n_f */
    bool accumulate;                /* add to out instead of overwriting out */
    bool is_product;                /* Winograd: out lies in CONV_IM2COL */
    const struct conv_taps *taps;   /* NULL: in is as above; else in may lie outside the input */
    struct conv_ahead_lists *ahead; /* NULL: nothing; a call of several tiles moves the lists on */
    size_t n_tiles;                 /* 0 is 1 */
    int64_t in_tile, filter_tile, out_tile; /* bytes from a tile's to the next one's */
    uint64_t *held; /* the CPU's state by earlier calls, 0: none; the call may leave a state. NULL: may not */
};

/*
 * Says which windows a micro-kernel reads in place. SAME: of convolutions without strides whose output rows are as wide
 * as the input's, so that an element and its neighbour in memory belong to neighbouring windows, also across the end of
 * a row; tiles need not heed rows.
 */
enum conv_walk { CONV_WALK_NONE, CONV_WALK_ANY, CONV_WALK_SAME };

struct conv_ukr;
typedef void (*conv_ukr_fn)(const struct conv_ukr *u, const struct conv_ukr_args *a);
typedef void (*conv_ukr_emit_fn)(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink);

struct conv_ukr {
    const char *name;   /* "<type>_<n_win>x<n_f>__<isa>" */
    enum cpu_isa isa;   /* needed to run fn */
    size_t n_win, n_f;  /* the full tile: SConv's Nwin, Nf */
    size_t win_granule; /* panel columns are a multiple of this */
    size_t win_panel;   /* windows per packed panel, a multiple of win_granule; 0: one panel per tile */
    size_t f_panel;     /* filters per packed panel; >= n_f means one panel per tile */
    size_t k_block;     /* steps of a filter side by side in a panel; 0 is 1: filters side by side */
    bool splits_edges;  /* edge tiles are split into powers of two (OpenBLAS) instead of a smaller tile */
    bool takes_columns; /* GEMM: a call is a whole column of full window tiles, one after the other in the panels */
    /* Multiply-add instructions of a step of a tile; NULL: as many as there are points. */
    size_t (*step_fmas)(size_t n_win, size_t n_f);
    /* Load instructions of a step; NULL: not known, fewer than multiply-adds. */
    size_t (*step_loads)(size_t n_win, size_t n_f);
    conv_ukr_fn fn; /* NULL: replay only, this build or CPU family cannot run the micro-kernel */
    conv_ukr_emit_fn emit;
    void (*release)(void); /* gives up the calls' state; NULL: fn holds none */
    bool reads_in_place;   /* fn takes windows that are not packed: any ld_in, nothing read past n_win */
    enum conv_walk walk;   /* the windows that fn takes by args.taps, at most CONV_MAX_TAP_WINDOWS */
    bool prefetches;       /* fn prefetches args.ahead */
    bool chains;           /* fn takes args.n_tiles; emit takes one tile at a time */
    enum conv_type type;
    enum cpu_extension extension; /* needed to run fn, beside isa */
    bool has_signed;              /* multiplies signed windows: no flip, no head (shape/type.h) */
};

/* Return the lanes of a filter's head, and the mask for exclusive-or with bytes of windows. */
static inline size_t conv_ukr_head(const struct conv_ukr *u)
{
    return u->has_signed ? 0 : conv_types[u->type].head;
}

static inline uint8_t conv_ukr_flip(const struct conv_ukr *u)
{
    return u->has_signed ? 0 : conv_types[u->type].flip;
}

/* Shares the lines of the lists out over the k steps of a call, from the first step on. */
static inline void conv_ahead_share(struct conv_ahead_lists *ahead, size_t k)
{
    size_t lines = 0;

    for (size_t l = 0; l < ahead->n; l++)
        lines += ahead->list[l].n;
    ahead->each = ceil_div(lines, k);
    ahead->n_steps = lines ? ceil_div(lines, ahead->each) : 0;
}

static inline void conv_ahead_next_tile(struct conv_ahead_lists *ahead)
{
    for (size_t l = 0; l < ahead->n; l++)
        ahead->list[l].addr += (uint64_t)ahead->list[l].tile_bytes;
}

/* Moves a call on to the next tile of several. */
static inline void conv_ukr_next_tile(struct conv_ukr_args *a)
{
    a->in += (uint64_t)a->in_tile;
    a->filter += (uint64_t)a->filter_tile;
    a->out += (uint64_t)a->out_tile;
    if (a->ahead)
        conv_ahead_next_tile(a->ahead);
}

/* Tells whether a call is within the micro-kernel's tile. */
static inline bool conv_ukr_takes(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    return a->n_f <= u->n_f && (a->n_win <= u->n_win || (u->takes_columns && a->n_win % u->n_win == 0));
}

/* Returns the width in elements of the packed panel of n_win windows. */
static inline size_t conv_ukr_in_width(const struct conv_ukr *u, size_t n_win)
{
    return round_up(n_win, u->win_granule);
}

/* Returns the lane of filter f at step t in a panel of n_f filters, after the head. */
static inline size_t conv_ukr_filter_lane(const struct conv_ukr *u, size_t n_f, size_t k, size_t t, size_t f)
{
    const size_t block = max_size(u->k_block, 1), first = t - t % block;

    return first * n_f + f * min_size(block, k - first) + t % block;
}

/* Returns how many windows a full packed panel has. */
static inline size_t conv_ukr_win_panel(const struct conv_ukr *u)
{
    return u->win_panel ? u->win_panel : u->n_win;
}

/* Returns the elements between two panels of a call's windows. */
static inline size_t conv_ukr_in_step(const struct conv_ukr_args *a, size_t win_panel)
{
    if (a->ld_in)
        return win_panel;
    return a->in_step ? a->in_step : a->k * win_panel;
}

/* Return the elements between two steps of a call's windows, the tensor of the windows, and the tensor of the sums. */
static inline size_t conv_ukr_ld_in(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    if (a->ld_in)
        return a->ld_in;
    return u->win_panel ? u->win_panel : conv_ukr_in_width(u, a->n_win);
}

static inline enum conv_tensor conv_ukr_in_tensor(const struct conv_ukr_args *a)
{
    return a->ld_in || a->taps ? CONV_INPUT : CONV_PACKED_INPUT;
}

static inline enum conv_tensor conv_ukr_out_tensor(const struct conv_ukr_args *a)
{
    return a->is_product ? CONV_IM2COL : CONV_OUTPUT;
}

/* Returns the next tile's extent: full, else smaller, or with `splits` whole panels first, then powers of two. */
static inline size_t conv_tile_extent(size_t left, size_t full, size_t panel, bool splits)
{
    size_t extent = 1;

    if (left >= full)
        return full;
    if (!splits)
        return left;
    if (left >= panel)
        return left - left % panel;
    while (extent * 2 <= left)
        extent *= 2;
    return extent;
}

/* Computes the tiles of a call one by one, whatever the micro-kernel can take; *a moves on. */
static inline void conv_ukr_each_tile(const struct conv_ukr *u, conv_ukr_fn fn, struct conv_ukr_args *a)
{
    size_t n = max_size(a->n_tiles, 1);

    for (a->n_tiles = 1; n; n--, conv_ukr_next_tile(a))
        fn(u, a);
}

/* Computes the tiles of a call; *a may move on. */
static inline void conv_ukr_call(const struct conv_ukr *u, struct conv_ukr_args *a)
{
    if (u->chains)
        u->fn(u, a);
    else
        conv_ukr_each_tile(u, u->fn, a);
}

static inline const float *conv_in_ptr(uint64_t address)
{
    return (const float *)(uintptr_t)address;
}

static inline float *conv_out_ptr(uint64_t address)
{
    return (float *)(uintptr_t)address;
}

/* Emits the end of a call: a load (if accumulating) and a store per filter row, in pieces of at most piece_bytes. */
void conv_emit_tile_update(const struct conv_ukr_args *a, uint32_t piece_bytes, struct sim_sink *sink);

#endif
