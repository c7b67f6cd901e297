/*
 * The micro-kernels on AMX's tiles, of types with several channels in a lane (amx_form.h). Beside tile instructions,
 * the code is plain C and SSE2. The including file defines
 *
 *   DOT(sums, filters, windows)   the product instruction; numbers of tile registers
 *   UKR                           the name of the function
 *
 * A call configures the tile registers, and releases the registers at the end; or, where calls may hold state (args.held),
 * leaves the configuration for the next call: a configuration takes 48 ns. Outside of nests a thread has no tiles, and
 * tiles of anybody else in the thread stay as they are.
 */
#ifndef KERNELS_UKR_LANE_TILE_AMX_H
#define KERNELS_UKR_LANE_TILE_AMX_H

#include <immintrin.h>

#include "kernels/ukr/amx/amx_form.h"
#include "kernels/ukr/x86/x86_mask.h"

#define INLINE static inline __attribute__((always_inline))

typedef int __attribute__((may_alias)) lane_word;

/*
 * The registers: four sums; filters and windows of whole blocks; and filters and windows of the tail, or, without a
 * tail, of the second block of filters and the second panel of windows. gcc pastes the numbers as text.
 */
#define N_SUMS 4
#define FILTERS 4
#define OTHER_FILTERS 5
#define WINDOWS 6
#define OTHER_WINDOWS 7

static void configure(const struct amx_form *form)
{
    struct amx_config c = { .palette = 1 };

    for (int i = 0; i < N_SUMS; i++)
        amx_config_register(&c, i, form->rows, AMX_ROW_BYTES);
    amx_config_register(&c, FILTERS, form->rows, AMX_ROW_BYTES);
    amx_config_register(&c, WINDOWS, AMX_STEPS, AMX_ROW_BYTES);
    amx_config_register(&c, OTHER_FILTERS, form->rows, form->tail ? form->tail * CONV_LANE_BYTES : AMX_ROW_BYTES);
    amx_config_register(&c, OTHER_WINDOWS, form->tail ? form->tail : AMX_STEPS, AMX_ROW_BYTES);
    AMX_CONFIGURE(&c);
}

/* Tells the hooks of instrumented code which rows a tile instruction reads, or writes. */
INLINE void log_read(const lane_word *at, size_t step_bytes, size_t rows, size_t row_bytes)
{
    for (size_t i = 0; i < rows; i++)
        LOG_READ((const char *)at + i * step_bytes, row_bytes);
    (void)at, (void)step_bytes, (void)row_bytes;
}

INLINE void log_write(const lane_word *at, size_t step_bytes, size_t rows, size_t row_bytes)
{
    for (size_t i = 0; i < rows; i++)
        LOG_WRITE((const char *)at + i * step_bytes, row_bytes);
    (void)at, (void)step_bytes, (void)row_bytes;
}

#define LOAD_FILTERS(number, at, form, row_bytes)                                                                      \
    do {                                                                                                               \
        log_read(at, row_bytes, (form)->rows, row_bytes);                                                              \
        _tile_loadd(number, at, row_bytes);                                                                            \
    } while (0)

#define LOAD_WINDOWS(number, at, steps)                                                                                \
    do {                                                                                                               \
        log_read(at, AMX_ROW_BYTES, steps, AMX_ROW_BYTES);                                                             \
        _tile_loadd(number, at, AMX_ROW_BYTES);                                                                        \
    } while (0)

/* Adds the products of a block of `steps` steps to all sums. A block of filters is loaded once more for sums 1. */
#define ADD_BLOCK(filters, windows, steps, form, n_f, n_w, filter, in, in_panel)                                       \
    do {                                                                                                               \
        const size_t row_bytes = (steps)*CONV_LANE_BYTES;                                                              \
                                                                                                                       \
        LOAD_WINDOWS(windows, in, steps);                                                                              \
        LOAD_FILTERS(filters, filter, form, row_bytes);                                                                \
        DOT(0, filters, windows);                                                                                      \
        if ((n_f) == 2) {                                                                                              \
            LOAD_FILTERS(filters, (filter) + (form)->f1 * (steps), form, row_bytes);                                   \
            DOT(2, filters, windows);                                                                                  \
        }                                                                                                              \
        if ((n_w) == 2)                                                                                                \
            LOAD_WINDOWS(windows, (in) + (in_panel), steps);                                                           \
        if ((n_f) == 2 && (n_w) == 2) {                                                                                \
            DOT(3, filters, windows);                                                                                  \
            LOAD_FILTERS(filters, filter, form, row_bytes);                                                            \
        }                                                                                                              \
        if ((n_w) == 2)                                                                                                \
            DOT(1, filters, windows);                                                                                  \
    } while (0)

/* As ADD_BLOCK, of a whole block where there is no tail: filters and windows have two registers each. */
#define ADD_WHOLE_BLOCK(form, n_f, n_w, filter, in, in_panel)                                                          \
    do {                                                                                                               \
        LOAD_WINDOWS(WINDOWS, in, AMX_STEPS);                                                                          \
        LOAD_FILTERS(FILTERS, filter, form, AMX_ROW_BYTES);                                                            \
        DOT(0, FILTERS, WINDOWS);                                                                                      \
        if ((n_f) == 2) {                                                                                              \
            LOAD_FILTERS(OTHER_FILTERS, (filter) + (form)->f1 * AMX_STEPS, form, AMX_ROW_BYTES);                       \
            DOT(2, OTHER_FILTERS, WINDOWS);                                                                            \
        }                                                                                                              \
        if ((n_w) == 2) {                                                                                              \
            LOAD_WINDOWS(OTHER_WINDOWS, (in) + (in_panel), AMX_STEPS);                                                 \
            DOT(1, FILTERS, OTHER_WINDOWS);                                                                            \
        }                                                                                                              \
        if ((n_f) == 2 && (n_w) == 2)                                                                                  \
            DOT(3, OTHER_FILTERS, OTHER_WINDOWS);                                                                      \
    } while (0)

/* A place of sums: rows of `out`, n windows wide. */
struct sums {
    lane_word *out;
    size_t ld_out, rows, n;
};

INLINE struct sums sums_at(const struct conv_ukr_args *a, const struct amx_form *form, size_t f, size_t w)
{
    return (struct sums){ .out = (lane_word *)(uintptr_t)a->out + f * form->f1 * a->ld_out + w * AMX_WINDOWS,
                          .ld_out = a->ld_out,
                          .rows = form->rows,
                          .n = amx_windows(a, w) };
}

/* Puts what the outputs hold into a buffer. */
static void start_in_buffer(const struct sums *s, lane_word buffer[AMX_ROWS][AMX_WINDOWS])
{
    for (size_t f = 0; f < s->rows; f++) {
        const lane_word *out = s->out + f * s->ld_out;
        size_t i = 0;

        IN_ORDER();
        for (; i + AMX_PIECE <= s->n; i += AMX_PIECE) {
            _mm_store_si128((__m128i *)&buffer[f][i], _mm_loadu_si128((const __m128i *)(out + i)));
            IN_ORDER();
        }
        for (; i < s->n; i++) {
            buffer[f][i] = out[i];
            IN_ORDER();
        }
    }
}

static void store_from_buffer(const struct sums *s, lane_word buffer[AMX_ROWS][AMX_WINDOWS])
{
    IN_ORDER();
    for (size_t f = 0; f < s->rows; f++) {
        lane_word *out = s->out + f * s->ld_out;
        size_t i = 0;

        for (; i + AMX_PIECE <= s->n; i += AMX_PIECE) {
            _mm_storeu_si128((__m128i *)(out + i), _mm_load_si128((const __m128i *)&buffer[f][i]));
            IN_ORDER();
        }
        for (; i < s->n; i++) {
            out[i] = buffer[f][i];
            IN_ORDER();
        }
    }
}

#define START(number, a, form, f, w)                                                                                   \
    do {                                                                                                               \
        const struct sums s = sums_at(a, form, f, w);                                                                  \
                                                                                                                       \
        if ((a)->accumulate && s.n < AMX_WINDOWS) {                                                                    \
            _Alignas(64) lane_word buffer[AMX_ROWS][AMX_WINDOWS] = { { 0 } };                                          \
                                                                                                                       \
            start_in_buffer(&s, buffer);                                                                               \
            _tile_loadd(number, buffer, AMX_ROW_BYTES);                                                                \
            IN_ORDER();                                                                                                \
        } else if ((a)->accumulate) {                                                                                  \
            log_read(s.out, s.ld_out *CONV_LANE_BYTES, s.rows, AMX_ROW_BYTES);                                         \
            _tile_loadd(number, s.out, s.ld_out *CONV_LANE_BYTES);                                                     \
        } else {                                                                                                       \
            _tile_zero(number);                                                                                        \
        }                                                                                                              \
    } while (0)

#define STORE(number, a, form, f, w)                                                                                   \
    do {                                                                                                               \
        const struct sums s = sums_at(a, form, f, w);                                                                  \
                                                                                                                       \
        if (s.n < AMX_WINDOWS) {                                                                                       \
            _Alignas(64) lane_word buffer[AMX_ROWS][AMX_WINDOWS];                                                      \
                                                                                                                       \
            _tile_stored(number, buffer, AMX_ROW_BYTES);                                                               \
            store_from_buffer(&s, buffer);                                                                             \
        } else {                                                                                                       \
            log_write(s.out, s.ld_out *CONV_LANE_BYTES, s.rows, AMX_ROW_BYTES);                                        \
            _tile_stored(number, s.out, s.ld_out *CONV_LANE_BYTES);                                                    \
        }                                                                                                              \
    } while (0)

/* Does DO(number, a, form, f, w) for all sums. */
#define FOR_EACH_SUM(DO, a, form, n_f, n_w)                                                                            \
    do {                                                                                                               \
        DO(0, a, form, 0, 0);                                                                                          \
        if ((n_w) == 2)                                                                                                \
            DO(1, a, form, 0, 1);                                                                                      \
        if ((n_f) == 2)                                                                                                \
            DO(2, a, form, 1, 0);                                                                                      \
        if ((n_f) == 2 && (n_w) == 2)                                                                                  \
            DO(3, a, form, 1, 1);                                                                                      \
    } while (0)

INLINE void one_tile(const struct conv_ukr_args *a, const struct amx_form *form, const size_t n_f, const size_t n_w)
{
    const lane_word *in = (const lane_word *)(uintptr_t)a->in, *filter = (const lane_word *)(uintptr_t)a->filter;
    const size_t in_panel = conv_ukr_in_step(a, AMX_WINDOWS), block = AMX_STEPS * a->n_f;

    FOR_EACH_SUM(START, a, form, n_f, n_w);
    for (size_t b = form->n_blocks; b; b--) {
        if (form->tail)
            ADD_BLOCK(FILTERS, WINDOWS, AMX_STEPS, form, n_f, n_w, filter, in, in_panel);
        else
            ADD_WHOLE_BLOCK(form, n_f, n_w, filter, in, in_panel);
        filter += block;
        in += AMX_STEPS * AMX_WINDOWS;
    }
    if (form->tail)
        ADD_BLOCK(OTHER_FILTERS, OTHER_WINDOWS, form->tail, form, n_f, n_w, filter, in, in_panel);
    FOR_EACH_SUM(STORE, a, form, n_f, n_w);
}

void UKR(const struct conv_ukr *u, const struct conv_ukr_args *args)
{
    const struct amx_form form = amx_form_of(args);
    const uint64_t shape = amx_form_shape(&form);
    struct conv_ukr_args a = *args;

    (void)u;
    if (!a.held || *a.held != shape)
        configure(&form);
    for (size_t left = max_size(a.n_tiles, 1); left; left--) {
        if (form.n_f == 2 && form.n_w == 2)
            one_tile(&a, &form, 2, 2);
        else if (form.n_f == 2)
            one_tile(&a, &form, 2, 1);
        else if (form.n_w == 2)
            one_tile(&a, &form, 1, 2);
        else
            one_tile(&a, &form, 1, 1);
        conv_ukr_next_tile(&a);
    }
    if (a.held)
        *a.held = shape;
    else
        _tile_release();
}

#endif
