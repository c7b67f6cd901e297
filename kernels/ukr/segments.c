#include "kernels/ukr/pack.h"

#include <assert.h>

static size_t cut(const struct conv_problem *p, size_t win0, size_t n_win, struct conv_segment *segment)
{
    size_t n = 0;

    for (size_t i = 0; i < n_win;) {
        size_t row = (win0 + i) / p->q;
        size_t column = (win0 + i) % p->q;
        size_t len = p->q - column < n_win - i ? p->q - column : n_win - i;

        segment[n++] = (struct conv_segment){
            .first = i,
            .len = len,
            .ih0 = (ptrdiff_t)(row * p->stride_h) - (ptrdiff_t)p->pad_top,
            .iw0 = (ptrdiff_t)(column * p->stride_w) - (ptrdiff_t)p->pad_left,
        };
        i += len;
    }
    return n;
}

static struct conv_dead_rows dead_rows(const struct conv_pack_windows_args *a, size_t window)
{
    size_t first, left;

    if (!a->live_win)
        return (struct conv_dead_rows){ 0 };
    first = window / a->live_win * a->live_win;
    left = a->n_win - first;
    return conv_dead_rows(a->p, a->win0 + first, left < a->live_win ? left : a->live_win);
}

size_t conv_tiles_at(const struct conv_pack_windows_args *a, size_t first, struct conv_tiles *tiles)
{
    size_t n_win = 0;

    assert(a->width >= 1 && a->width <= CONV_MAX_WIN && a->live_win % a->width == 0);
    assert(first % a->width == 0 || first >= a->n_win);
    for (tiles->n = 0; tiles->n < CONV_PACK_TILES && first + n_win < a->n_win; tiles->n++) {
        struct conv_tile *t = &tiles->tile[tiles->n];
        size_t left = a->n_win - first - n_win;

        t->n_win = left < a->width ? left : a->width;
        t->panel = a->panel + (first + n_win) / a->width * a->panel_step * sizeof(float);
        t->dead = dead_rows(a, first + n_win);
        t->n_segments = cut(a->p, a->win0 + first + n_win, t->n_win, t->segment);
        n_win += t->n_win;
    }
    return n_win;
}
