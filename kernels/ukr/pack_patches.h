/*
 * Packing of windows that stride by more than two columns and never meet padding: patches above all, whose windows do not
 * overlap. Vector-based packing (pack_vbp.h) has no spans for wide strides. Of each window, four taps side by side are a
 * load; sixteen windows' taps are transposed in registers:
 *
 *     channels
 *       rows of taps
 *         tiles
 *           taps, four at a time, the last taps may be fewer: a load for each window, then a row of the panel for each tap
 *
 * Windows j, j + 4, j + 8 and j + 12 are in vector j. Internal to kernels/ukr.
 */
#ifndef KERNELS_UKR_PACK_PATCHES_H
#define KERNELS_UKR_PACK_PATCHES_H

#include "kernels/ukr/pack.h"

enum { PATCH_WIN = 16, PATCH_TAPS = 4 };

/* Taps fw .. fw + n_taps - 1 of a row of a channel. */
struct patch {
    uint64_t in[PATCH_WIN]; /* the first tap of each window */
    size_t n_win, n_taps;
    uint64_t panel; /* the row of the first tap */
};

typedef void (*patch_fn)(void *ctx, const struct patch *patch);

static inline void patch_windows(const struct conv_pack_windows_args *a, const struct conv_tile *t, uint64_t *in)
{
    const struct conv_problem *p = a->p;

    for (size_t g = 0; g < t->n_segments; g++) {
        const struct conv_segment *s = &t->segment[g];

        for (size_t i = 0; i < s->len; i++)
            in[s->first + i] = a->in + ((size_t)s->ih0 * p->w + (size_t)s->iw0 + i * p->stride_w) * sizeof(float);
    }
}

/* All taps of a row of a channel. */
static inline __attribute__((always_inline)) void patch_row(const struct conv_pack_windows_args *a,
                                                            const struct conv_tile *t, const uint64_t *in,
                                                            size_t channel, size_t fh, patch_fn fn, void *ctx)
{
    const struct conv_problem *p = a->p;
    size_t from = (channel * p->h + fh * p->dilation_h) * p->w * sizeof(float);
    struct patch patch = { .n_win = t->n_win, .panel = t->panel + conv_panel_row(a, channel, fh) * sizeof(float) };

    for (size_t fw = 0; fw < p->s; fw += PATCH_TAPS) {
        for (size_t i = 0; i < t->n_win; i++)
            patch.in[i] = in[i] + from + fw * sizeof(float);
        patch.n_taps = min_size(p->s - fw, PATCH_TAPS);
        fn(ctx, &patch);
        patch.panel += PATCH_TAPS * PATCH_WIN * sizeof(float);
    }
}

/* All patches of a call, in order. */
static inline __attribute__((always_inline)) void patches(const struct conv_pack_windows_args *a, patch_fn fn,
                                                          void *ctx)
{
    uint64_t in[CONV_PACK_TILES][PATCH_WIN];
    struct conv_tiles tiles;

    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        for (size_t t = 0; t < tiles.n; t++)
            patch_windows(a, &tiles.tile[t], in[t]);
        for (size_t channel = 0; channel < a->n_c; channel++)
            for (size_t fh = 0; fh < a->p->r; fh++)
                for (size_t t = 0; t < tiles.n; t++)
                    if (conv_tile_needs(&tiles.tile[t], a->p, fh))
                        patch_row(a, &tiles.tile[t], in[t], channel, fh, fn, ctx);
    }
}

void conv_pack_patches_fn__avx512(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a);

#endif
