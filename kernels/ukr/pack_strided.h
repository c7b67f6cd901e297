/*
 * Packing of windows that stride, by transposing. Vector-based packing (pack_vbp.h) loads a span for every tap of a
 * stride of 2, and has no spans for wider strides. Of each window, four taps side by side are a load here; the taps of
 * the windows of a vector are transposed in registers:
 *
 *     rows of taps
 *       taps, four at a time; the last four may be packed before in part; fewer if a row has fewer
 *         channels: a load for each window, then a row of the panel for each tap
 *
 * Several tiles take turns, channel by channel unless channels are few. Two taps of windows that do not overlap are a load for two windows.
 * Windows of one row of outputs, two columns apart, are loaded as a row, whose even and odd elements are parted: row t
 * of the panel is the even or the odd elements from element t on. Taps on padding are left out of the loads. Internal to
 * kernels/ukr.
 */
#ifndef KERNELS_UKR_PACK_STRIDED_H
#define KERNELS_UKR_PACK_STRIDED_H

#include "kernels/ukr/pack.h"

enum { STRIDED_WIN = 16, STRIDED_TAPS = 4, STRIDED_ROW_LEAST = 3, STRIDED_ROW_MOST = 7, STRIDED_FEW_CHANNELS = 4 };

/* Shared by all channels of a tile. */
struct strided_tile {
    uint64_t in[STRIDED_WIN];                                 /* the first tap of each window; may lie on padding */
    ptrdiff_t first_row, last_row, first_column, last_column; /* of the first taps */
    bool is_paired;                                           /* windows 2 i and 2 i + 1 are of a row */
};

/* n_taps taps side by side, of n_c channels. */
struct strided_taps {
    const uint64_t *in; /* of the tile's windows */
    uint64_t from;      /* bytes from a window's first tap, of the first channel */
    size_t n_taps;
    bool is_row;           /* all taps of a row, of sixteen windows two columns apart: */
    ptrdiff_t first, last; /* the elements to load from the first tap on; none if last < first */
    uint64_t panel;        /* the row of the first tap */
    size_t n_c;
    uint64_t plane_bytes, channel_bytes; /* between two channels of the input, and of the panel */
    bool is_whole;                       /* sixteen windows, no tap on padding */
    bool is_paired;                      /* whole, and the two taps of windows 2 i and 2 i + 1 are side by side */
    uint8_t live[STRIDED_WIN];           /* not whole: the taps to load, a bit each */
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

    return first < end ? (uint8_t)((1u << end) - (1u << first)) : 0;
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
    return t->n_segments == 1 && t->n_win == STRIDED_WIN && p->stride_w == 2 && p->s >= STRIDED_ROW_LEAST &&
           p->s <= STRIDED_ROW_MOST;
}

/* The elements that the windows of a row read; of a row outside the image none. */
static inline void set_strided_row(const struct conv_problem *p, const struct conv_segment *s, ptrdiff_t row,
                                   struct strided_taps *taps)
{
    const ptrdiff_t end = (ptrdiff_t)(2 * (STRIDED_WIN - 1) + p->s), inside = (ptrdiff_t)p->w - s->iw0;
    const bool has_row = s->ih0 + row >= 0 && s->ih0 + row < (ptrdiff_t)p->h;

    taps->is_row = true;
    taps->n_taps = p->s;
    taps->first = s->iw0 < 0 ? -s->iw0 : 0;
    taps->last = (has_row ? (end < inside ? end : inside) : 0) - 1;
    taps->is_whole = taps->first == 0 && taps->last == end - 1;
}

/* Taps fw, fw + 1, ... of a row, four at most. */
static inline void set_strided_taps(const struct conv_problem *p, const struct conv_tile *t,
                                    const struct strided_tile *tile, size_t fh, size_t fw, struct strided_taps *taps)
{
    const ptrdiff_t row = (ptrdiff_t)(fh * p->dilation_h);

    taps->is_row = false;
    taps->n_taps = min_size(p->s, STRIDED_TAPS);
    taps->is_whole = t->n_win == STRIDED_WIN && tile->first_row + row >= 0 && tile->last_row + row < (ptrdiff_t)p->h &&
                     tile->first_column + (ptrdiff_t)fw >= 0 &&
                     tile->last_column + (ptrdiff_t)(fw + taps->n_taps) <= (ptrdiff_t)p->w;
    taps->is_paired = taps->is_whole && tile->is_paired && taps->n_taps == 2 && p->stride_w == 2;
    if (!taps->is_whole)
        set_strided_live(p, t, fh, fw, taps);
}

/* All taps of a row, of n_c channels. */
static inline __attribute__((always_inline)) void strided_row(const struct conv_pack_windows_args *a,
                                                              const struct conv_tile *t,
                                                              const struct strided_tile *tile, size_t channel,
                                                              size_t n_c, size_t fh, strided_fn fn, void *ctx)
{
    const struct conv_problem *p = a->p;
    const uint64_t from = (channel * p->h + fh * p->dilation_h) * p->w * sizeof(float);
    const uint64_t panel = t->panel + conv_panel_row(a, channel, fh) * sizeof(float);
    struct strided_taps taps;

    taps.in = tile->in;
    taps.from = from;
    taps.panel = panel;
    taps.n_c = n_c;
    taps.plane_bytes = p->h * p->w * sizeof(float);
    taps.channel_bytes = (conv_panel_row(a, 1, 0) - conv_panel_row(a, 0, 0)) * sizeof(float);
    if (is_strided_row(p, t)) {
        set_strided_row(p, t->segment, (ptrdiff_t)(fh * p->dilation_h), &taps);
        fn(ctx, &taps);
        return;
    }
    for (size_t fw = 0; fw < p->s; fw += STRIDED_TAPS) {
        const size_t start = min_size(fw, p->s > STRIDED_TAPS ? p->s - STRIDED_TAPS : 0);

        taps.from = from + start * sizeof(float);
        taps.panel = panel + start * STRIDED_WIN * sizeof(float);
        set_strided_taps(p, t, tile, fh, start, &taps);
        fn(ctx, &taps);
    }
}

/* All taps of a call, in order. */
static inline __attribute__((always_inline)) void strided(const struct conv_pack_windows_args *a, strided_fn fn,
                                                          void *ctx)
{
    struct strided_tile tile[CONV_PACK_TILES];
    struct conv_tiles tiles;

    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        const size_t n_c = tiles.n == 1 || a->n_c <= STRIDED_FEW_CHANNELS ? a->n_c : 1;

        for (size_t t = 0; t < tiles.n; t++)
            set_strided_tile(a, &tiles.tile[t], &tile[t]);
        for (size_t channel = 0; channel < a->n_c; channel += n_c)
            for (size_t fh = 0; fh < a->p->r; fh++)
                for (size_t t = 0; t < tiles.n; t++)
                    if (conv_tile_needs(&tiles.tile[t], a->p, fh))
                        strided_row(a, &tiles.tile[t], &tile[t], channel, n_c, fh, fn, ctx);
    }
}

void conv_pack_strided_fn__avx2(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a);

#endif
