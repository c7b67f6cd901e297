/*
 * The body of Winograd's transforms, which differ in their vectors only. The including file defines before:
 *
 *   VECTOR, LANES                  its type, its floats
 *   zero, add, subtract, multiply_add
 *   broadcast(x)                   a constant in all lanes
 *   load, store                    all lanes
 *   load_part(p, part)             the lanes of a conv_winograd_part that is not empty; zero elsewhere
 *   store_first(p, n, x)           the first n lanes, n < LANES
 *   store_from(p, n, x)            on the stack: the lanes from n on, n < LANES or LANES is 1
 *   even, odd                      every second element of two vectors
 *   zip_low, zip_high              elements of two vectors by turns: the first LANES, the last LANES
 *   IN_REGISTER                    keeps a loaded vector from being loaded again (x86_mask.h)
 *
 * winograd_tile.h has the order of everything. A vector of columns is turned into vectors of tiles by even and odd, and
 * back by the zips; m is a constant of an instance. Internal to kernels/ukr.
 */
#ifndef KERNELS_UKR_WINOGRAD_TMPL_H
#define KERNELS_UKR_WINOGRAD_TMPL_H

#include "kernels/ukr/winograd_tile.h"

enum { MAX_E = CONV_WINOGRAD_MAX_E, MAX_M = CONV_WINOGRAD_MAX_M, ROOM = MAX_M * CONV_MAX_WIN + 4 * 16 };

#define INLINE static inline __attribute__((always_inline))

/* ---- the matrices ---- */

/* B' from the left. */
INLINE void transform_in(VECTOR *d, const size_t m)
{
    if (m == 2) {
        const VECTOR y0 = subtract(d[0], d[2]), y1 = add(d[1], d[2]), y2 = subtract(d[2], d[1]);

        d[3] = subtract(d[1], d[3]);
        d[0] = y0;
        d[1] = y1;
        d[2] = y2;
    } else {
        const VECTOR four = broadcast(4), minus_four = broadcast(-4), minus_five = broadcast(-5), two = broadcast(2);
        const VECTOR even = multiply_add(minus_four, d[2], d[4]), odd = multiply_add(minus_four, d[1], d[3]);
        const VECTOR near = subtract(d[4], d[2]), far = subtract(d[3], d[1]);
        const VECTOR y0 = multiply_add(four, d[0], multiply_add(minus_five, d[2], d[4]));

        d[5] = multiply_add(four, d[1], multiply_add(minus_five, d[3], d[5]));
        d[0] = y0;
        d[1] = add(even, odd);
        d[2] = subtract(even, odd);
        d[3] = multiply_add(two, far, near);
        d[4] = multiply_add(broadcast(-2), far, near);
    }
}

/* A' from the left: e rows become m. */
INLINE void transform_out(const VECTOR *x, VECTOR *y, const size_t m)
{
    const VECTOR sum = add(x[1], x[2]), difference = subtract(x[1], x[2]);

    if (m == 2) {
        y[0] = add(x[0], sum);
        y[1] = subtract(difference, x[3]);
    } else {
        const VECTOR sum2 = add(x[3], x[4]), difference2 = subtract(x[3], x[4]);

        y[0] = add(add(x[0], sum), sum2);
        y[1] = multiply_add(broadcast(2), difference2, difference);
        y[2] = multiply_add(broadcast(4), sum2, sum);
        y[3] = add(multiply_add(broadcast(8), difference2, difference), x[5]);
    }
}

/* ---- the input ---- */

/*
 * A channel's tiles after the first pass: row i holds the m columns of each tile, side by side; `next` the columns that
 * follow a tile's m, at the place of the tile. Where tiles are neighbours, next is the row itself, m elements on.
 */
struct columns {
    float here[MAX_E][ROOM], next[MAX_E][ROOM];
};

INLINE VECTOR load_columns(const float *row, struct conv_winograd_part part)
{
    VECTOR x = part.end - part.first == LANES ? load(row) : load_part(row, part);

    IN_REGISTER(x);
    return x;
}

INLINE void first_pass(const struct conv_problem *p, const float *plane, const struct conv_winograd_segment *s,
                       struct columns *x, bool has_next, const size_t m)
{
    const size_t e = m + 2, n = m * s->n + 2, at = m * s->first;

    for (size_t c = 0; c < n; c += LANES) {
        const ptrdiff_t column = s->iw + (ptrdiff_t)c;
        const struct conv_winograd_part part = conv_winograd_part_of(column, min_size(n - c, LANES), p->w);
        VECTOR d[MAX_E];

#pragma GCC unroll 6
        for (size_t i = 0; i < e; i++)
            d[i] = part.end && conv_winograd_is_live(s, i, p)
                       ? load_columns(plane + (s->ih + (ptrdiff_t)i) * (ptrdiff_t)p->w + column, part)
                       : zero();
        transform_in(d, m);
#pragma GCC unroll 6
        for (size_t i = 0; i < e; i++) {
            store(&x->here[i][at + c], d[i]);
            if (has_next && c >= m)
                store(&x->next[i][at + c - m], d[i]);
            else if (has_next && LANES > m)
                store_from(&x->next[i][at + c] - m, m, d[i]);
        }
    }
}

/* Columns of tiles: m vectors of columns in the order of the row become m vectors of tiles. */
INLINE void load_tiles(const float *row, VECTOR *x, const size_t m)
{
    const VECTOR a = load(row), b = load(row + LANES);

    if (m == 2) {
        x[0] = even(a, b);
        x[1] = odd(a, b);
    } else {
        const VECTOR c = load(row + 2 * LANES), d = load(row + 3 * LANES);
        const VECTOR even_low = even(a, b), even_high = even(c, d), odd_low = odd(a, b), odd_high = odd(c, d);

        x[0] = even(even_low, even_high);
        x[1] = even(odd_low, odd_high);
        x[2] = odd(even_low, even_high);
        x[3] = odd(odd_low, odd_high);
    }
}

INLINE void second_pass(const float *here, const float *next, float *panel, size_t product_step, const size_t m)
{
    const size_t e = m + 2;
    VECTOR x[2 * MAX_M];

    load_tiles(here, x, m);
    load_tiles(next, x + m, m);
    transform_in(x, m);
#pragma GCC unroll 6
    for (size_t b = 0; b < e; b++)
        store(panel + b * product_step, x[b]);
}

INLINE void transform_input(const struct conv_winograd_args *a, const size_t m)
{
    const size_t e = m + 2, plane = a->p->h * a->p->w;
    struct conv_winograd_segment s[CONV_MAX_WIN];
    const size_t n = conv_winograd_cut(a, m, s);
    struct columns x;

    memset(&x, 0, sizeof x);
    for (size_t c = 0; c < a->n_planes; c++) {
        float *panel = conv_out_ptr(a->panel) + c * a->width;

        for (size_t i = 0; i < n; i++)
            first_pass(a->p, conv_in_ptr(a->planes) + c * plane, &s[i], &x, n > 1, m);
        for (size_t i = 0; i < e; i++, panel += e * a->product_step) {
            const float *next = n > 1 ? x.next[i] : x.here[i] + m;

            for (size_t t = 0; t < a->width; t += LANES)
                second_pass(x.here[i] + m * t, next + m * t, panel + t, a->product_step, m);
        }
    }
}

/* ---- the output ---- */

/* Writes m vectors of tiles as m vectors of columns. */
INLINE void store_tiles(float *row, const VECTOR *y, const size_t m)
{
    if (m == 2) {
        store(row, zip_low(y[0], y[1]));
        store(row + LANES, zip_high(y[0], y[1]));
    } else {
        const VECTOR even_low = zip_low(y[0], y[2]), even_high = zip_high(y[0], y[2]);
        const VECTOR odd_low = zip_low(y[1], y[3]), odd_high = zip_high(y[1], y[3]);

        store(row, zip_low(even_low, odd_low));
        store(row + LANES, zip_high(even_low, odd_low));
        store(row + 2 * LANES, zip_low(even_high, odd_high));
        store(row + 3 * LANES, zip_high(even_high, odd_high));
    }
}

INLINE void transform_tiles(const float *panel, size_t product_step, float rows[MAX_M][ROOM], size_t at, const size_t m)
{
    const size_t e = m + 2;
    VECTOR y[MAX_M][MAX_E];

#pragma GCC unroll 6
    for (size_t b = 0; b < e; b++) {
        VECTOR x[MAX_E], column[MAX_M];

#pragma GCC unroll 6
        for (size_t i = 0; i < e; i++) {
            x[i] = load(panel + (i * e + b) * product_step);
            IN_REGISTER(x[i]);
        }
        transform_out(x, column, m);
#pragma GCC unroll 4
        for (size_t i = 0; i < m; i++)
            y[i][b] = column[i];
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < m; i++) {
        VECTOR row[MAX_M];

        transform_out(y[i], row, m);
        store_tiles(&rows[i][at], row, m);
    }
}

INLINE void store_segment(const struct conv_winograd_segment *s, size_t q, float *plane, float rows[MAX_M][ROOM],
                          const size_t m)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        float *out = plane + (s->row + i) * q + s->column;
        const float *row = &rows[i][m * s->first];
        size_t c = 0;

        for (; c + LANES <= s->n_columns; c += LANES)
            store(out + c, load(row + c));
        if (LANES > 1 && c < s->n_columns)
            store_first(out + c, s->n_columns - c, load(row + c));
    }
}

INLINE void transform_output(const struct conv_winograd_args *a, const size_t m)
{
    const size_t plane = a->p->p * a->p->q;
    struct conv_winograd_segment s[CONV_MAX_WIN];
    const size_t n = conv_winograd_cut(a, m, s);
    float rows[MAX_M][ROOM];

    for (size_t f = 0; f < a->n_planes; f++) {
        for (size_t t = 0; t < a->n_tiles; t += LANES)
            transform_tiles(conv_in_ptr(a->panel) + f * a->width + t, a->product_step, rows, m * t, m);
        for (size_t i = 0; i < n; i++)
            store_segment(&s[i], a->p->q, conv_out_ptr(a->planes) + f * plane, rows, m);
    }
}

/* The functions of the registry. */
#define CONV_WINOGRAD_FUNCTIONS(isa)                                                                                   \
    void conv_winograd_in_2__##isa(const struct conv_winograd_args *a)                                                 \
    {                                                                                                                  \
        transform_input(a, 2);                                                                                         \
    }                                                                                                                  \
    void conv_winograd_in_4__##isa(const struct conv_winograd_args *a)                                                 \
    {                                                                                                                  \
        transform_input(a, 4);                                                                                         \
    }                                                                                                                  \
    void conv_winograd_out_2__##isa(const struct conv_winograd_args *a)                                                \
    {                                                                                                                  \
        transform_output(a, 2);                                                                                        \
    }                                                                                                                  \
    void conv_winograd_out_4__##isa(const struct conv_winograd_args *a)                                                \
    {                                                                                                                  \
        transform_output(a, 4);                                                                                        \
    }

#endif
