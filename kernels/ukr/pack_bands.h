/*
 * Packing of windows into lanes of several channels by way of bands: the places of the input, for the code and for the list
 * of the accesses. Internal to kernels/ukr.
 *
 * A few tiles are packed together, lane of channels by lane of channels. The windows of the tiles lie in a few output
 * rows: a band is the tiles' part of an output row. A band needs lines, parts of input rows; neighbouring bands share
 * lines. For each lane, the channels of all lines are read once, and put side by side in a buffer of the call, with
 * lanes of padding around. Then the rows of the panels are copied out of the buffer.
 *
 * With a stride of 2 along the width, the buffer has a line's lanes of even columns first, then the lanes of odd columns:
 * the windows of a tap are neighbours in either half. Wider strides gather lanes.
 *
 * Pointwise convolutions need no buffer: lanes go to the panels at once, a few lanes of a tile at a time.
 */
#ifndef KERNELS_UKR_PACK_BANDS_H
#define KERNELS_UKR_PACK_BANDS_H

#include "kernels/ukr/pack.h"

/* Windows of a panel, lanes that are put together at a time; most lanes of the buffer; most lines, and bands times rows. */
enum { CONV_BAND_WIDTH = 16, CONV_BAND_LANES = 4096, CONV_BAND_LINES = 512 };

/* Lanes of a tile that are packed before the next tile, without a buffer; a channel may be in a page of its own. */
enum { CONV_BAND_POINTWISE = 16 };

/* n lanes of the buffer from lane `at` on, of columns from `column` on; row and ends may lie in the padding. */
struct conv_line {
    ptrdiff_t row, column;
    size_t n, at;
};

/*
 * 16 lanes of a line: bit 0 of the mask is the element `first` of a channel, or before the channel if negative; the lanes
 * go to the buffer from lane `at` on. With a stride of 2 the loads are pairs: `at` of the first load is the place of the
 * pair's even lanes, `at` of the second load the place of the odd lanes.
 */
struct conv_band_load {
    int64_t first;
    uint32_t mask, at;
};

/* A row of taps of a band: the lane of the first tap of the band's first window, and the lanes to the odd half. */
struct conv_band_row {
    size_t at, odd;
};

/* A part of a tile: windows `first` to first + n - 1 of the tile; the first window is window `window` of the band. */
struct conv_band_piece {
    size_t band, window, first, n;
};

struct conv_bands {
    size_t n_lines, n_loads, n_pieces[CONV_PACK_TILES];
    struct conv_line line[CONV_BAND_LINES];
    struct conv_band_load load[CONV_BAND_LANES / CONV_BAND_WIDTH];   /* of lines in the image */
    struct conv_band_row row[CONV_BAND_LINES];                       /* [band][row of taps] */
    struct conv_band_piece piece[CONV_PACK_TILES * CONV_BAND_WIDTH]; /* tile after tile */
};

/* Returns how many tiles of 16 windows are packed together; 0: the buffer is too small for one. */
size_t conv_bands_tiles(const struct conv_problem *p);

/* Finds the bands of the tiles from `first` on, n of them, at most conv_bands_tiles(). */
void conv_bands_of(const struct conv_problem *p, const struct conv_tiles *tiles, size_t first, size_t n,
                   struct conv_bands *bands);

/* Tells whether lanes go to the panels at once. */
static inline bool conv_bands_need_none(const struct conv_problem *p)
{
    return conv_is_pointwise(p) && p->h == 1;
}

/* A line's lanes of the buffer. */
size_t conv_band_line_lanes(const struct conv_problem *p, const struct conv_line *line);

static inline bool conv_band_is_padding(const struct conv_problem *p, const struct conv_line *line)
{
    return line->row < 0 || line->row >= (ptrdiff_t)p->h;
}

#endif
