/*
 * Describes how a call of Winograd's transforms is cut: one description for executing and emitting. Internal to
 * kernels/.
 *
 * The input's transform, for each channel:
 *
 *     segments: tiles of a row of the image
 *       vectors of columns: e loads, of the rows inside the image; B' from the left. Kept in registers and on the stack
 *     rows of e
 *       vectors of tiles: B from the right; e stores
 *
 * The output's transform, for each filter:
 *
 *     vectors of tiles: columns of e, e loads each; A' from the left, A from the right
 *     segments
 *       rows of m inside the output: stores of vectors of columns
 */
#ifndef KERNELS_UKR_WINOGRAD_TILE_H
#define KERNELS_UKR_WINOGRAD_TILE_H

#include "kernels/ukr/registry.h"
#include "kernels/ukr/winograd.h"

/* Tiles of a call in a row of the image. */
struct conv_winograd_segment {
    size_t first, n;          /* tiles, of the call */
    size_t row, column;       /* of the first output */
    ptrdiff_t ih, iw;         /* of the first input element; negative: padding */
    size_t n_rows, n_columns; /* outputs, inside the output */
};

/* Cuts a call; returns the number of segments. */
static inline size_t conv_winograd_cut(const struct conv_winograd_args *a, size_t m,
                                       struct conv_winograd_segment s[CONV_MAX_WIN])
{
    const struct conv_problem *p = a->p;
    size_t n = 0;

    for (size_t done = 0; done < a->n_tiles; done += s[n++].n) {
        const size_t tile = a->tile0 + done, row = tile / a->tile_columns * m, column = tile % a->tile_columns * m;
        const size_t tiles = min_size(a->n_tiles - done, a->tile_columns - tile % a->tile_columns);

        s[n] = (struct conv_winograd_segment){
            .first = done,
            .n = tiles,
            .row = row,
            .column = column,
            .ih = (ptrdiff_t)row - (ptrdiff_t)p->pad_top,
            .iw = (ptrdiff_t)column - (ptrdiff_t)p->pad_left,
            .n_rows = min_size(m, p->p - row),
            .n_columns = min_size(m * tiles, p->q - column),
        };
    }
    return n;
}

/* The lanes of a vector of columns that are loaded: inside the image, and read by a tile; end 0: none. */
struct conv_winograd_part {
    size_t first, end;
};

static inline struct conv_winograd_part conv_winograd_part_of(ptrdiff_t column, size_t n, size_t width)
{
    struct conv_winograd_part part = { column < 0 ? min_size((size_t)-column, n) : 0, 0 };

    if (column < (ptrdiff_t)width)
        part.end = (size_t)min_size((size_t)((ptrdiff_t)width - column), n);
    return part.end > part.first ? part : (struct conv_winograd_part){ 0, 0 };
}

/* Tells whether row i of a tile's input lies in the image. */
static inline bool conv_winograd_is_live(const struct conv_winograd_segment *s, size_t i, const struct conv_problem *p)
{
    const ptrdiff_t row = s->ih + (ptrdiff_t)i;

    return row >= 0 && row < (ptrdiff_t)p->h;
}

#endif
