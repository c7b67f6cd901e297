/*
 * The body of the direct kernels, which differ in their vectors only. The including file defines before:
 *
 *   VECTOR, LANES                a vector's type and floats
 *   LANE_MASK, lane_mask(part)   lanes of a conv_direct_part
 *   zero, multiply_add
 *   broadcast, load, store       an element to all lanes; all lanes
 *   load_part, store_first       of a conv_direct_part that is not empty, and its mask; of the first n lanes
 *   even, ordered                every second element of two vectors, in some order; ordered undoes the order
 *   KEEPS_WINDOWS                whether registers hold all windows of a step, so that multiply-adds can go tap by tap
 *   IN_REGISTER                  keeps a loaded vector from being loaded again (x86_mask.h)
 *
 * direct_tile.h has the order of everything. All counts of a step are constants of an instance. Internal to
 * kernels/ukr.
 */
#ifndef KERNELS_UKR_DIRECT_TMPL_H
#define KERNELS_UKR_DIRECT_TMPL_H

#include "kernels/ukr/ukr.h"
#include "kernels/ukr/direct_tile.h"

enum { MAX_TAPS = 7, MAX_IN_ROWS = (CONV_DIRECT_TILE_ROWS - 1) * 2 + MAX_TAPS };

/* Keeps the compiler from taking the bits apart beforehand: there are no registers for the parts. */
#define TEST_HERE(bits) __asm__("" : "+r"(bits))

/* The parts of a step's vectors that lie in the input's rows, where a vector is not whole. */
struct parts {
    struct conv_direct_part part[2];
    LANE_MASK mask[2];
};

static inline __attribute__((always_inline)) struct parts parts_of(ptrdiff_t column, size_t width, const size_t n)
{
    struct parts x;

#pragma GCC unroll 2
    for (size_t i = 0; i < n; i++) {
        x.part[i] = conv_direct_part_of(column + (ptrdiff_t)(i * LANES), LANES, width);
        x.mask[i] = lane_mask(x.part[i]);
    }
    return x;
}

static inline __attribute__((always_inline)) VECTOR load_vector(uint64_t at, const struct parts *parts, const size_t i)
{
    at += i * sizeof(VECTOR);
    return parts ? load_part(conv_in_ptr(at), parts->part[i], parts->mask[i]) : load(conv_in_ptr(at));
}

/* A row of windows under a tap. */
static inline __attribute__((always_inline)) VECTOR load_windows(uint64_t at, const struct parts *parts,
                                                                 const size_t n_vectors)
{
    VECTOR x = load_vector(at, parts, 0);

    IN_REGISTER(x);
    if (n_vectors == 2) {
        VECTOR y = load_vector(at, parts, 1);

        IN_REGISTER(y);
        x = even(x, y);
    }
    return x;
}

/* Adds an input row to the output rows that need the row. */
static inline __attribute__((always_inline)) void add_row(VECTOR windows, const VECTOR *weight, const size_t i,
                                                          const struct conv_direct_step s, const size_t n_rows,
                                                          VECTOR *acc)
{
#pragma GCC unroll 7
    for (size_t tap = 0; tap < s.n_taps; tap++) {
        if (i >= tap && (i - tap) % s.rows_apart == 0 && (i - tap) / s.rows_apart < n_rows)
            acc[(i - tap) / s.rows_apart] = multiply_add(weight[tap], windows, acc[(i - tap) / s.rows_apart]);
    }
}

/* As add_row, tap by tap: n_rows multiply-adds in a row do not wait for each other. */
static inline __attribute__((always_inline)) void
add_taps(const VECTOR *windows, const VECTOR *weight, const struct conv_direct_step s, const size_t n_rows, VECTOR *acc)
{
#pragma GCC unroll 7
    for (size_t tap = 0; tap < s.n_taps; tap++) {
#pragma GCC unroll 8
        for (size_t i = 0; i < n_rows; i++)
            acc[i] = multiply_add(weight[tap], windows[i * s.rows_apart + tap], acc[i]);
    }
}

/* A step: filter values, then every live input row times its filter values. */
static inline __attribute__((always_inline)) void step(const struct conv_direct_call *call, uint64_t filter,
                                                       uint64_t in, uint32_t live, const bool all_live,
                                                       const struct parts *parts, const struct conv_direct_step s,
                                                       const size_t n_rows, VECTOR *acc)
{
    const uint64_t row_step = call->row_step;
    VECTOR weight[MAX_TAPS], windows[MAX_IN_ROWS];

    TEST_HERE(live);
#pragma GCC unroll 7
    for (size_t i = 0; i < s.n_taps; i++) {
        weight[i] = broadcast(conv_in_ptr(filter) + i * call->p->s);
        IN_REGISTER(weight[i]);
    }
#pragma GCC unroll 32
    for (size_t i = 0; i < conv_direct_in_rows(s, n_rows); i++, in += row_step) {
        windows[i] = zero();
        if (all_live || live & 1u << i) {
            windows[i] = load_windows(in, parts, s.n_vectors);
            if (!KEEPS_WINDOWS)
                add_row(windows[i], weight, i, s, n_rows, acc);
        }
    }
    if (KEEPS_WINDOWS)
        add_taps(windows, weight, s, n_rows, acc);
}

static inline __attribute__((always_inline)) void store_rows(const struct conv_direct_call *call,
                                                             const struct conv_direct_tile *t, const VECTOR *acc,
                                                             const size_t n_vectors, const size_t n_rows)
{
    uint64_t out = t->out;

#pragma GCC unroll 8
    for (size_t i = 0; i < n_rows; i++, out += call->p->q * sizeof(float)) {
        VECTOR row = n_vectors == 2 ? ordered(acc[i]) : acc[i];

        if (t->n_columns < LANES)
            store_first(conv_out_ptr(out), t->n_columns, row);
        else
            store(conv_out_ptr(out), row);
    }
}

/* The steps of a column of taps on a channel. */
static inline __attribute__((always_inline)) void
column(const struct conv_direct_call *call, const struct conv_direct_tile *t, uint64_t filter, uint64_t in,
       uint32_t live, const struct parts *parts, const struct conv_direct_step s, const size_t n_rows, VECTOR *acc)
{
    const struct conv_problem *p = call->p;

    if (s.n_taps > 1) {
        step(call, filter, in, live, !parts, parts, s, n_rows, acc);
        return;
    }
    for (size_t fh = 0; fh < p->r; fh++, in += call->tap_step, filter += p->s * sizeof(float)) {
        ptrdiff_t row = t->row + (ptrdiff_t)(fh * p->dilation_h);

        if (parts)
            live = conv_direct_live(row, call->row_apart, n_rows, p->h);
        step(call, filter, in, live, !parts, parts, s, n_rows, acc);
    }
}

static inline __attribute__((always_inline)) void tile_body(const struct conv_direct_call *call,
                                                            const struct conv_direct_tile *t, const bool is_inside,
                                                            const struct conv_direct_step s, const size_t n_rows)
{
    const struct conv_problem *p = call->p;
    const size_t plane = p->h * p->w * sizeof(float), taps = p->r * p->s * sizeof(float);
    uint32_t live = conv_direct_live(t->row, call->row_apart, conv_direct_in_rows(s, n_rows), p->h);
    VECTOR acc[CONV_DIRECT_TILE_ROWS];

#pragma GCC unroll 8
    for (size_t i = 0; i < n_rows; i++)
        acc[i] = zero();
    for (size_t fw = 0; fw < p->s; fw++) {
        ptrdiff_t x = (ptrdiff_t)(fw * p->dilation_w);
        uint64_t in = t->in + (uint64_t)x * sizeof(float), filter = t->filter + fw * sizeof(float);
        struct parts parts;

        if (!is_inside)
            parts = parts_of(t->column + x, p->w, s.n_vectors);
        for (size_t c = 0; c < call->n_c; c++, in += plane, filter += taps)
            column(call, t, filter, in, live, is_inside ? NULL : &parts, s, n_rows, acc);
    }
    store_rows(call, t, acc, s.n_vectors, n_rows);
}

static inline __attribute__((always_inline)) void tile(const struct conv_direct_call *call,
                                                       const struct conv_direct_tile *t,
                                                       const struct conv_direct_step s, const size_t n_rows)
{
    if (conv_direct_is_inside(call->p, t, s.n_vectors * LANES))
        tile_body(call, t, true, s, n_rows);
    else
        tile_body(call, t, false, s, n_rows);
}

typedef void (*tile_fn)(const struct conv_direct_call *call, const struct conv_direct_tile *t);

/* Portable kernels, of single lanes, have no step of two vectors (conv_direct_step_of). */
#define ROWS(n_taps, rows_apart, n_vectors, n_rows)                                                                    \
    static void tile_##n_taps##rows_apart##n_vectors##_##n_rows(const struct conv_direct_call *call,                   \
                                                                const struct conv_direct_tile *t)                      \
    {                                                                                                                  \
        if (n_vectors <= LANES)                                                                                        \
            tile(call, t, (struct conv_direct_step){ n_taps, rows_apart, n_vectors }, n_rows);                         \
    }
#define STEP_INSTANCES(n_taps, rows_apart, n_vectors)                                                                  \
    ROWS(n_taps, rows_apart, n_vectors, 1)                                                                             \
    ROWS(n_taps, rows_apart, n_vectors, 2)                                                                             \
    ROWS(n_taps, rows_apart, n_vectors, 3)                                                                             \
    ROWS(n_taps, rows_apart, n_vectors, 4)                                                                             \
    ROWS(n_taps, rows_apart, n_vectors, 5)                                                                             \
    ROWS(n_taps, rows_apart, n_vectors, 6)                                                                             \
    ROWS(n_taps, rows_apart, n_vectors, 7)                                                                             \
    ROWS(n_taps, rows_apart, n_vectors, 8)
#define STEP_NAMES(n_taps, rows_apart, n_vectors)                                                                      \
    { tile_##n_taps##rows_apart##n_vectors##_1, tile_##n_taps##rows_apart##n_vectors##_2,                              \
      tile_##n_taps##rows_apart##n_vectors##_3, tile_##n_taps##rows_apart##n_vectors##_4,                              \
      tile_##n_taps##rows_apart##n_vectors##_5, tile_##n_taps##rows_apart##n_vectors##_6,                              \
      tile_##n_taps##rows_apart##n_vectors##_7, tile_##n_taps##rows_apart##n_vectors##_8 },

CONV_DIRECT_STEPS(STEP_INSTANCES)

static const tile_fn instance[CONV_DIRECT_N_STEPS][CONV_DIRECT_TILE_ROWS] = { CONV_DIRECT_STEPS(STEP_NAMES) };

static void run_tile(void *ctx, const struct conv_direct_call *call, const struct conv_direct_tile *t)
{
    (void)ctx;
    instance[call->step][t->n_rows - 1](call, t);
}

#endif
