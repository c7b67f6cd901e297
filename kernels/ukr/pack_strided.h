/*
 * Packing of windows that stride, by transposing. Vector-based packing (pack_vbp.h) loads a span for every tap of a
 * stride of 2, and has no spans for wider strides. Of each window, four taps side by side are a load here; the taps of
 * the windows of a vector are transposed in registers:
 *
 *     rows of taps
 *       taps, four at a time; the last four may be packed before in part; fewer if a row has fewer
 *         channels: a load for each window, then a row of the panel for each tap
 *
 * Two taps of windows that do not overlap are a load for two windows.
 * Windows of one row of outputs, two columns apart, are loaded as a row, whose even and odd elements are parted: row t
 * of the panel is the even or the odd elements from element t on. Taps on padding are left out of the loads. Internal to
 * kernels/ukr.
 */
#ifndef KERNELS_UKR_PACK_STRIDED_H
#define KERNELS_UKR_PACK_STRIDED_H

#include "kernels/ukr/pack.h"

enum { STRIDED_WIN = 16, STRIDED_TAPS = 4, STRIDED_ROW_MOST = 7, STRIDED_FEW_CHANNELS = 4 };

/* Shared by all channels of a tile. */
struct strided_tile {
    uint64_t in[STRIDED_WIN];                                 /* the first tap of each window; may lie on padding */
    ptrdiff_t first_row, last_row, first_column, last_column; /* of the first taps */
    bool is_paired;                                           /* windows 2 i and 2 i + 1 are of a row */
};

/* n_taps taps side by side, in some steps: of channels, or of one channel further taps of the row. */
struct strided_taps {
    const uint64_t *in; /* of the tile's windows */
    uint64_t from;      /* bytes from a window's first tap, of the first channel */
    size_t n_taps;
    bool is_row;           /* all taps of a row, of sixteen windows two columns apart: */
    ptrdiff_t first, last; /* the elements to load from the first tap on; none if last < first */
    uint64_t panel;        /* the row of the first tap */
    size_t n_steps;
    uint64_t in_step, panel_step; /* bytes between two steps, in the input and in the panel */
    bool is_whole;                /* sixteen windows, no tap on padding */
    bool is_paired;               /* whole, and the two taps of windows 2 i and 2 i + 1 are side by side */
    uint8_t live[STRIDED_WIN];    /* not whole: the taps to load, a bit each */
};

typedef void (*strided_fn)(void *ctx, const struct strided_taps *taps);

static inline void set_strided_tile(const struct conv_pack_windows_args *a, const struct conv_tile *t,
                                    struct strided_tile *tile)
{
    const struct conv_problem *p = a->p;

    tile->first_row = tile->first_column = PTRDIFF_MAX;
    tile->last_row = tile->last_column = PTRDIFF_MIN;
    tile->is_paired = true;
    for (size_t g = 0; g < t->n_segments; g++) {
        const struct conv_segment *s = &t->segment[g];
        const ptrdiff_t last = s->iw0 + (ptrdiff_t)((s->len - 1) * p->stride_w);

        tile->first_row = s->ih0 < tile->first_row ? s->ih0 : tile->first_row;
        tile->last_row = s->ih0 > tile->last_row ? s->ih0 : tile->last_row;
        tile->first_column = s->iw0 < tile->first_column ? s->iw0 : tile->first_column;
        tile->last_column = last > tile->last_column ? last : tile->last_column;
        tile->is_paired &= s->len % 2 == 0;
        for (size_t i = 0; i < s->len; i++)
            tile->in[s->first + i] =
                a->in + (uint64_t)((s->ih0 * (ptrdiff_t)p->w + s->iw0 + (ptrdiff_t)(i * p->stride_w)) *
                                   (ptrdiff_t)sizeof(float));
    }
}

/* Bits of the taps column .. column + n - 1 that lie in a row of the image. */
static inline uint8_t strided_live(ptrdiff_t column, ptrdiff_t n, ptrdiff_t w)
{
    const ptrdiff_t first = column < 0 ? -column : 0, end = column + n > w ? w - column : n;

    return (uint8_t)(first < end ? (1u << end) - (1u << first) : 0);
}

static inline void set_strided_live(const struct conv_problem *p, const struct conv_tile *t, size_t fh, size_t fw,
                                    struct strided_taps *taps)
{
    for (size_t i = 0; i < STRIDED_WIN; i++)
        taps->live[i] = 0;
    for (size_t g = 0; g < t->n_segments; g++) {
        const struct conv_segment *s = &t->segment[g];
        const ptrdiff_t row = s->ih0 + (ptrdiff_t)(fh * p->dilation_h);

        for (size_t i = 0; i < s->len && row >= 0 && row < (ptrdiff_t)p->h; i++)
            taps->live[s->first + i] =
                strided_live(s->iw0 + (ptrdiff_t)(i * p->stride_w + fw), (ptrdiff_t)taps->n_taps, (ptrdiff_t)p->w);
    }
}

static inline bool is_strided_row(const struct conv_problem *p, const struct conv_tile *t)
{
    return t->n_segments == 1 && t->n_win == STRIDED_WIN && p->stride_w == 2 && p->s != 2 && p->s <= STRIDED_ROW_MOST;
}

/* The elements that the windows of a row read; of a row outside the image none. */
static inline void set_strided_row(const struct conv_problem *p, const struct conv_segment *s, ptrdiff_t row,
                                   struct strided_taps *taps)
{
    const ptrdiff_t end = (ptrdiff_t)(2 * (STRIDED_WIN - 1) + p->s), inside = (ptrdiff_t)p->w - s->iw0;
    const bool has_row = s->ih0 + row >= 0 && s->ih0 + row < (ptrdiff_t)p->h;

    taps->n_taps = p->s;
    taps->first = s->iw0 < 0 ? -s->iw0 : 0;
    taps->last = (has_row ? (end < inside ? end : inside) : 0) - 1;
    taps->is_whole = taps->first == 0 && taps->last == end - 1;
}

/* Tells whether taps fw .. fw + n - 1 of a row are on the image for sixteen windows. */
static inline bool strided_whole(const struct conv_problem *p, const struct conv_tile *t,
                                 const struct strided_tile *tile, size_t fh, size_t fw, size_t n)
{
    const ptrdiff_t row = (ptrdiff_t)(fh * p->dilation_h);

    return t->n_win == STRIDED_WIN && tile->first_row + row >= 0 && tile->last_row + row < (ptrdiff_t)p->h &&
           tile->first_column + (ptrdiff_t)fw >= 0 && tile->last_column + (ptrdiff_t)(fw + n) <= (ptrdiff_t)p->w;
}

/* Taps fw, fw + 1, ... of a row, four at most. */
static inline void set_strided_taps(const struct conv_problem *p, const struct conv_tile *t,
                                    const struct strided_tile *tile, size_t fh, size_t fw, struct strided_taps *taps)
{
    taps->n_taps = min_size(p->s, STRIDED_TAPS);
    taps->is_whole = strided_whole(p, t, tile, fh, fw, taps->n_taps);
    taps->is_paired = taps->is_whole && tile->is_paired && taps->n_taps == 2 && p->stride_w == 2;
    if (!taps->is_whole)
        set_strided_live(p, t, fh, fw, taps);
}

/* Makes steps of all channels. */
static inline void step_by_channels(const struct conv_pack_windows_args *a, struct strided_taps *taps)
{
    taps->n_steps = a->n_c;
    taps->in_step = a->p->h * a->p->w * sizeof(float);
    taps->panel_step = (conv_panel_row(a, 1, 0) - conv_panel_row(a, 0, 0)) * sizeof(float);
}

/* Makes steps of n times four taps of the only channel. */
static inline void step_by_taps(size_t n, struct strided_taps *taps)
{
    taps->n_steps = n;
    taps->in_step = STRIDED_TAPS * sizeof(float);
    taps->panel_step = STRIDED_TAPS * STRIDED_WIN * sizeof(float);
}

/* Sets the taps from fw on of a tile. Returns false if there is nothing to do. */
static inline bool set_strided_step(const struct conv_pack_windows_args *a, const struct conv_tile *t,
                                    const struct strided_tile *tile, size_t fh, size_t fw, struct strided_taps *taps)
{
    const struct conv_problem *p = a->p;
    const bool has_steps = a->n_c == 1 && p->s >= 2 * STRIDED_TAPS && strided_whole(p, t, tile, fh, 0, p->s);

    if (!conv_tile_needs(t, p, fh) || (taps->is_row && fw) || (has_steps && fw && fw + STRIDED_TAPS <= p->s))
        return false;
    fw = min_size(fw, p->s > STRIDED_TAPS ? p->s - STRIDED_TAPS : 0);
    taps->from = (fh * p->dilation_h * p->w + fw) * sizeof(float);
    taps->panel = t->panel + (conv_panel_row(a, 0, fh) + fw * STRIDED_WIN) * sizeof(float);
    step_by_channels(a, taps);
    if (taps->is_row)
        set_strided_row(p, t->segment, (ptrdiff_t)(fh * p->dilation_h), taps);
    else
        set_strided_taps(p, t, tile, fh, fw, taps);
    if (has_steps && !fw)
        step_by_taps(p->s / STRIDED_TAPS, taps);
    return true;
}

/* Tiles take turns, channel by channel. */
static inline __attribute__((always_inline)) void strided_turns(struct strided_taps *taps, const bool *is_on, size_t n,
                                                                size_t n_c, strided_fn fn, void *ctx)
{
    for (size_t channel = 0; channel < n_c; channel++) {
        for (size_t t = 0; t < n; t++) {
            if (!is_on[t])
                continue;
            taps[t].n_steps = 1;
            fn(ctx, &taps[t]);
            taps[t].from += taps[t].in_step;
            taps[t].panel += taps[t].panel_step;
        }
    }
}

/* All taps of a call, in order: a tile's channels at once where there is one tile, or channels are few. */
static inline __attribute__((always_inline)) void strided(const struct conv_pack_windows_args *a, strided_fn fn,
                                                          void *ctx)
{
    struct strided_tile tile[CONV_PACK_TILES];
    struct strided_taps taps[CONV_PACK_TILES];
    bool is_on[CONV_PACK_TILES];
    struct conv_tiles tiles;

    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        const bool takes_turns = tiles.n > 1 && a->n_c > STRIDED_FEW_CHANNELS;

        for (size_t t = 0; t < tiles.n; t++) {
            set_strided_tile(a, &tiles.tile[t], &tile[t]);
            taps[t].in = tile[t].in;
            taps[t].is_row = is_strided_row(a->p, &tiles.tile[t]);
        }
        for (size_t fh = 0; fh < a->p->r; fh++) {
            for (size_t fw = 0; fw < a->p->s; fw += STRIDED_TAPS) {
                for (size_t t = 0; t < tiles.n; t++) {
                    is_on[t] = set_strided_step(a, &tiles.tile[t], &tile[t], fh, fw, &taps[t]);
                    if (is_on[t] && !takes_turns)
                        fn(ctx, &taps[t]);
                }
                if (takes_turns)
                    strided_turns(taps, is_on, tiles.n, a->n_c, fn, ctx);
            }
        }
    }
}

void conv_pack_strided_fn__avx2(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a);

#endif
