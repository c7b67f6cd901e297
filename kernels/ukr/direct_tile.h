/*
 * Describes how a direct kernel's call is cut into tiles, and a tile into steps: one description for executing,
 * emitting and counting. Internal to kernels/.
 *
 * A step is a column of a filter's taps, or a tap, on one channel:
 *
 *   filters whose height has instances of its own (3, 5, 7) and whose rows of taps are next to each other: a column of
 *   taps. Its n_taps filter values stay in registers, and each input row is loaded once for all output rows
 *
 *   other filters: a tap. Its filter value is loaded, then an input row per output row
 *
 *     tile: columns of taps, channels, steps of a column
 *       step: filter values; live input rows from the top, each multiplied into the output rows that need it
 */
#ifndef KERNELS_UKR_DIRECT_TILE_H
#define KERNELS_UKR_DIRECT_TILE_H

#include "kernels/shape/sizes.h"
#include "kernels/ukr/direct.h"
#include "kernels/ukr/direct_forms.h"
#include "kernels/ukr/registry.h"

/* Compiled steps: taps of a column, input rows between output rows, vectors of a row. Single taps come first. */
#define CONV_DIRECT_STEPS(X)                                                                                           \
    X(1, 1, 1) X(1, 1, 2) X(3, 1, 1) X(3, 2, 1) X(3, 2, 2) X(5, 1, 1) X(5, 2, 1) X(5, 2, 2) X(7, 1, 1)

enum { CONV_DIRECT_TILE_ROWS = 8, CONV_DIRECT_MAX_VECTORS = 2, CONV_DIRECT_N_STEPS = 9 };

struct conv_direct_step {
    size_t n_taps, rows_apart, n_vectors;
};

static const struct conv_direct_step conv_direct_steps[CONV_DIRECT_N_STEPS] = {
#define STEP(n_taps, rows_apart, n_vectors) { n_taps, rows_apart, n_vectors },
    CONV_DIRECT_STEPS(STEP)
#undef STEP
};
#define CONV_DIRECT_COUNT_STEP(n_taps, rows_apart, n_vectors) +1
_Static_assert(CONV_DIRECT_N_STEPS == 0 CONV_DIRECT_STEPS(CONV_DIRECT_COUNT_STEP), "all of them");

/* Returns the number of a shape's step: a column of taps if the step exists, else a tap. */
static inline size_t conv_direct_step_of(const struct conv_problem *p, size_t lanes)
{
    size_t n_vectors = lanes > 1 ? p->stride_w : 1, i = CONV_DIRECT_N_STEPS - 1;

    while (i >= CONV_DIRECT_MAX_VECTORS &&
           !(p->dilation_h == 1 && p->r == conv_direct_steps[i].n_taps &&
             p->stride_h == conv_direct_steps[i].rows_apart && n_vectors == conv_direct_steps[i].n_vectors))
        i--;
    return i >= CONV_DIRECT_MAX_VECTORS ? i : n_vectors - 1;
}

/* Returns how many input rows a step on a tile of n_rows output rows reads. */
static inline size_t conv_direct_in_rows(struct conv_direct_step s, size_t n_rows)
{
    return (n_rows - 1) * s.rows_apart + s.n_taps;
}

/* Shared by all tiles of a call. */
struct conv_direct_call {
    const struct conv_problem *p;
    size_t step;             /* number in conv_direct_steps */
    size_t n_c;              /* channels of a group */
    size_t steps_per_column; /* of taps: 1, or a step for each tap */
    uint64_t row_step;       /* bytes between two input rows of a step, */
    size_t row_apart;        /* in rows */
    uint64_t tap_step;       /* bytes of input between two steps of a column */
};

static inline struct conv_direct_call conv_direct_call_of(const struct conv_direct *d, const struct conv_direct_args *a)
{
    const struct conv_problem *p = a->p;
    size_t step = conv_direct_step_of(p, d->lanes), n_taps = conv_direct_steps[step].n_taps;
    size_t row_apart = n_taps > 1 ? 1 : p->stride_h;

    return (struct conv_direct_call){
        .p = p,
        .step = step,
        .n_c = a->group_channels,
        .steps_per_column = n_taps > 1 ? 1 : p->r,
        .row_step = row_apart * p->w * sizeof(float),
        .row_apart = row_apart,
        .tap_step = p->dilation_h * p->w * sizeof(float),
    };
}

/* A tile: n_rows by n_columns outputs of a filter. */
struct conv_direct_tile {
    uint64_t in; /* the element of the first channel under the first output's first tap; may lie outside */
    uint64_t filter, out;
    size_t n_rows, n_columns;
    ptrdiff_t row, column; /* of the element in its plane */
};

/* Returns the rows that exist: bit i is input row first + i * apart. */
static inline uint32_t conv_direct_live(ptrdiff_t first, size_t apart, size_t n, size_t height)
{
    uint32_t bits = 0;

    if (first >= 0 && first + (ptrdiff_t)((n - 1) * apart) < (ptrdiff_t)height)
        return (1u << n) - 1;
    if (apart == 1) {
        ptrdiff_t begin = first < 0 ? -first : 0, end = (ptrdiff_t)height - first;

        end = end < (ptrdiff_t)n ? end : (ptrdiff_t)n;
        return begin < end ? (1u << end) - (1u << begin) : 0;
    }
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t row = first + (ptrdiff_t)(i * apart);

        bits |= (uint32_t)(row >= 0 && row < (ptrdiff_t)height) << i;
    }
    return bits;
}

/* The part of a vector of `lanes` input columns from `column` on that lies in the row: [first, end), empty if equal. */
struct conv_direct_part {
    int first, end;
};

static inline struct conv_direct_part conv_direct_part_of(ptrdiff_t column, size_t lanes, size_t width)
{
    ptrdiff_t first = column < 0 ? -column : 0, end = (ptrdiff_t)width - column;

    if (end > (ptrdiff_t)lanes)
        end = (ptrdiff_t)lanes;
    return first < end ? (struct conv_direct_part){ (int)first, (int)end } : (struct conv_direct_part){ 0, 0 };
}

/* Tells whether all rows of the tile's windows exist, and hold all vectors: `span` columns from each tap's first on. */
static inline bool conv_direct_is_inside(const struct conv_problem *p, const struct conv_direct_tile *t, size_t span)
{
    size_t last_row = (t->n_rows - 1) * p->stride_h + (p->r - 1) * p->dilation_h;

    return t->column >= 0 && (size_t)t->column + (p->s - 1) * p->dilation_w + span <= p->w && t->row >= 0 &&
           (size_t)t->row + last_row < p->h;
}

typedef void (*conv_direct_tile_fn)(void *ctx, const struct conv_direct_call *call, const struct conv_direct_tile *t);

/* The blocks of columns of a filter's tile of rows. */
static inline __attribute__((always_inline)) void conv_direct_columns(const struct conv_direct_call *call,
                                                                      struct conv_direct_tile *t, size_t lanes,
                                                                      conv_direct_tile_fn fn, void *ctx)
{
    const struct conv_problem *p = call->p;
    uint64_t in = t->in, out = t->out;

    t->n_columns = p->q < lanes ? p->q : lanes;
    for (size_t x = 0, next; x < p->q; x = next) {
        size_t first = x + t->n_columns <= p->q ? x : p->q - t->n_columns;

        next = first + t->n_columns;
        t->column = (ptrdiff_t)(first * p->stride_w) - (ptrdiff_t)p->pad_left;
        t->in = in + (uint64_t)t->column * sizeof(float);
        t->out = out + first * sizeof(float);
        fn(ctx, call, t);
    }
}

/* All tiles of a call, in order. */
static inline __attribute__((always_inline)) void
conv_direct_tiles(const struct conv_direct *d, const struct conv_direct_args *a, conv_direct_tile_fn fn, void *ctx)
{
    const struct conv_direct_call call = conv_direct_call_of(d, a);
    const struct conv_problem *p = a->p;
    size_t n_tiles = ceil_div(a->n_rows, CONV_DIRECT_TILE_ROWS), height = ceil_div(a->n_rows, n_tiles);
    size_t group_bytes = a->group_channels * p->h * p->w * sizeof(float), of_group = 0;
    struct conv_direct_args f = *a; /* the filter's */

    for (size_t i = 0; i < a->n_f; i++) {
        for (size_t y = 0; y < a->n_rows; y += height) {
            struct conv_direct_tile t = { .filter = f.filter, .out = f.out + y * p->q * sizeof(float) };

            t.n_rows = a->n_rows - y < height ? a->n_rows - y : height;
            t.row = (ptrdiff_t)((a->row0 + y) * p->stride_h) - (ptrdiff_t)p->pad_top;
            t.in = f.in + (uint64_t)t.row * p->w * sizeof(float);
            conv_direct_columns(&call, &t, d->lanes, fn, ctx);
        }
        f.filter += a->group_channels * p->r * p->s * sizeof(float);
        f.out += p->p * p->q * sizeof(float);
        if (++of_group == a->group_filters) {
            of_group = 0;
            f.in += group_bytes;
        }
    }
}

#endif
