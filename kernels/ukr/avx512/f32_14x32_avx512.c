/*
 * 14 windows by 32 filters with the filters side by side: two zmm of filters, a broadcast per window, 28 accumulators.
 * A window is an element per step, so windows need not be next to each other: windows of any convolution are read in
 * place (struct conv_taps), nothing is packed, and a tap leaves out the windows for which it lies on padding. Windows
 * side by side, with a stride of 1 or 2, or in two rows of 7, have their places in the instructions; elsewhere each
 * window costs a load of its offset, and two load ports have no time for the load. Up to 16 filters take one zmm. A
 * step of n windows is n broadcasts and one or two filter loads for n or 2 n FMAs. Accumulators hold filters, rows of
 * the output hold windows: 16x16 blocks are transposed on the way out.
 */
#include "kernels/ukr/avx512/f32_14x32_avx512.h"

#if defined(__x86_64__)
#include "kernels/ukr/walk.h"
#include "kernels/ukr/x86/x86_mask.h"
#include "kernels/ukr/x86/x86_prefetch.h"

/* Lanes of the last zmm of filters: a constant where the vector is whole, because masked loads are slower. */
static inline __attribute__((always_inline)) __m512 load_filters(const float *filter, size_t n)
{
    if (n == VECTOR)
        return _mm512_loadu_ps(filter);
    LOG_READ(filter, n * sizeof(float));
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), filter);
}

/*
 * The places of the windows: anywhere, by a table, which costs a load per window; or places that instructions can name.
 * In two rows, the second half of the windows starts `second` after the first half.
 */
enum spacing { ANYWHERE, NEIGHBOURS, EVERY_SECOND, TWO_ROWS, N_SPACINGS };

static inline __attribute__((always_inline)) uint64_t offset(const struct conv_taps *taps, const enum spacing spacing,
                                                             const size_t n_win, size_t w, uint64_t second)
{
    if (spacing == NEIGHBOURS)
        return w * sizeof(float);
    if (spacing == EVERY_SECOND)
        return 2 * w * sizeof(float);
    if (spacing == TWO_ROWS)
        return w < n_win / 2 ? w * sizeof(float) : second + (w - n_win / 2) * sizeof(float);
    return (uint64_t)taps->window_bytes[w];
}

/* A tap of a channel: its element of every live window, times the tap's filters; n_last: of the last zmm. */
static inline __attribute__((always_inline)) void tap(const struct conv_taps *taps, uint64_t in, uint32_t live,
                                                      const float *filter, size_t n_last, const size_t n_win,
                                                      const size_t n_v, const enum spacing spacing, uint64_t second,
                                                      __m512 *acc)
{
    __m512 weights[2];

#pragma GCC unroll 2
    for (size_t v = 0; v < n_v; v++) {
        weights[v] = load_filters(filter + v * VECTOR, v + 1 < n_v ? VECTOR : n_last);
        IN_REGISTER(weights[v]);
    }
#pragma GCC unroll 14
    for (size_t w = 0; w < n_win; w++) {
        if (__builtin_expect(live >> w & 1, true)) {
            __m512 window = _mm512_set1_ps(*conv_in_ptr(in + offset(taps, spacing, n_win, w, second)));

            IN_REGISTER(window);
#pragma GCC unroll 2
            for (size_t v = 0; v < n_v; v++)
                acc[w * n_v + v] = _mm512_fmadd_ps(weights[v], window, acc[w * n_v + v]);
        }
    }
}

static inline __m512 pair(__m512 a, __m512 b, const bool is_high)
{
    __m512d x = _mm512_castps_pd(a), y = _mm512_castps_pd(b);

    return _mm512_castpd_ps(is_high ? _mm512_unpackhi_pd(x, y) : _mm512_unpacklo_pd(x, y));
}

/* Element i of row j becomes element j of row i. */
static inline __attribute__((always_inline)) void transpose(__m512 row[VECTOR])
{
    __m512 t[VECTOR];

#pragma GCC unroll 8
    for (size_t i = 0; i < VECTOR; i += 2) {
        t[i] = _mm512_unpacklo_ps(row[i], row[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(row[i], row[i + 1]);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < VECTOR; i += 4) { /* row[i + j]: column j of every quarter, of rows i .. i + 3 */
        row[i] = pair(t[i], t[i + 2], false);
        row[i + 1] = pair(t[i], t[i + 2], true);
        row[i + 2] = pair(t[i + 1], t[i + 3], false);
        row[i + 3] = pair(t[i + 1], t[i + 3], true);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_f32x4(row[i], row[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_f32x4(row[i], row[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_f32x4(row[i + 8], row[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_f32x4(row[i + 8], row[i + 12], 0xdd);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        row[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
        row[i + 4] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88);
        row[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
        row[i + 12] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xdd);
    }
}

static inline void update_row(float *out, __m512 row, size_t n, bool accumulate)
{
    __mmask16 mask = (__mmask16)((1u << n) - 1);

    if (accumulate) {
        LOG_READ(out, n * sizeof(float));
        row = _mm512_add_ps(row, _mm512_maskz_loadu_ps(mask, out));
    }
    LOG_WRITE(out, n * sizeof(float));
    _mm512_mask_storeu_ps(out, mask, row);
}

static inline __attribute__((always_inline)) void write_rows(const struct conv_ukr_args *a, __m512 row[VECTOR],
                                                             const size_t n_win, size_t f0, size_t n_f)
{
    float *out = conv_out_ptr(a->out) + f0 * a->ld_out;

    transpose(row);
#pragma GCC unroll 16
    for (size_t f = 0; f < VECTOR; f++, out += a->ld_out) {
        if (f >= n_f)
            return;
        update_row(out, row[f], n_win, a->accumulate);
    }
}

/* The taps of a group of channels. A short loop's end is mispredicted, at the cost of 1.5 steps: one long loop. */
enum { GROUP_STEPS = 64, GROUPS = 8, MAX_GROUP = CONV_MAX_TAPS * CONV_MAX_TAPS };

struct group {
    size_t n, n_channels; /* steps */
    bool is_whole;        /* no tap meets padding */
    uint64_t offset[MAX_GROUP];
    uint32_t live[MAX_GROUP];
};

static void list_taps(const struct conv_taps *taps, uint32_t whole, struct group *g)
{
    size_t k = taps->n_c * taps->r * taps->s;
    uint32_t live = whole;

    g->n = 0;
    g->n_channels = max_size(1, min_size(GROUP_STEPS, k / GROUPS) / (taps->r * taps->s));
    for (size_t c = 0; c < g->n_channels; c++) {
        for (size_t fh = 0; fh < taps->r; fh++) {
            uint64_t row = c * (uint64_t)taps->channel_bytes + fh * (uint64_t)taps->row_bytes;

            for (size_t fw = 0; fw < taps->s; fw++, row += (uint64_t)taps->column_bytes) {
                g->offset[g->n] = row;
                g->live[g->n] = taps->row_live[fh] & taps->column_live[fw];
                live &= g->live[g->n++];
                IN_ORDER(); /* one by one: vectors of windows take longer to put together */
            }
        }
    }
    g->is_whole = live == whole;
}

/* Bits of the first, or of the last window of each row of a tile. */
static inline uint32_t row_ends(const enum spacing spacing, const size_t n_win, const bool is_last)
{
    size_t n = spacing == TWO_ROWS ? n_win / 2 : n_win;
    uint32_t end = 1u << (is_last ? n - 1 : 0);

    return spacing == TWO_ROWS ? end | end << n : end;
}

static inline __attribute__((always_inline)) void sum_taps(const struct conv_ukr_args *a, const struct conv_taps *taps,
                                                           const size_t n_win, const size_t n_v, size_t n_f,
                                                           const enum spacing spacing, __m512 *acc)
{
    const uint32_t whole = (1u << n_win) - 1;
    const uint32_t no_first = whole & ~row_ends(spacing, n_win, false);
    const uint32_t no_last = whole & ~row_ends(spacing, n_win, true);
    const bool has_places = spacing != ANYWHERE; /* row ends on padding have instructions of their own */
    const uint64_t second = (uint64_t)taps->window_bytes[n_win / 2];
    const float *filter = conv_in_ptr(a->filter);
    size_t n_last = n_f - (n_v - 1) * VECTOR;
    struct ukr_asks asks = ukr_asks_of(a);
    uint64_t group_in = a->in;
    struct group g;

    list_taps(taps, whole, &g);
    for (size_t t = 0; t < a->k; group_in += g.n_channels * (uint64_t)taps->channel_bytes) {
        size_t n = min_size(g.n, a->k - t);

        if (g.is_whole && !asks.n_steps) { /* nothing to ask: the loop is a sixteenth faster */
            for (size_t i = 0; i < n; i++, filter += n_f)
                tap(taps, group_in + g.offset[i], whole, filter, n_last, n_win, n_v, spacing, second, acc);
            t += n;
            continue;
        }
        for (size_t i = 0; i < n; i++, filter += n_f, t++) {
            uint64_t in = group_in + g.offset[i];
            uint32_t live = g.live[i];

            if (live == whole)
                tap(taps, in, whole, filter, n_last, n_win, n_v, spacing, second, acc);
            else if (has_places && live == no_first)
                tap(taps, in, no_first, filter, n_last, n_win, n_v, spacing, second, acc);
            else if (has_places && live == no_last)
                tap(taps, in, no_last, filter, n_last, n_win, n_v, spacing, second, acc);
            else if (live)
                tap(taps, in, live, filter, n_last, n_win, n_v, spacing, second, acc);
            ukr_ask(&asks);
        }
    }
}

static inline __attribute__((always_inline)) void tile(const struct conv_ukr_args *a, const struct conv_taps *taps,
                                                       const size_t n_win, const size_t n_v, const bool has_edge,
                                                       const enum spacing spacing)
{
    size_t n_f = has_edge ? a->n_f : n_v * VECTOR;
    __m512 acc[N_WIN * 2];

#pragma GCC unroll 28
    for (size_t i = 0; i < n_win * n_v; i++)
        acc[i] = _mm512_setzero_ps();
    sum_taps(a, taps, n_win, n_v, n_f, spacing, acc);
#pragma GCC unroll 2
    for (size_t v = 0; v < n_v; v++) {
        __m512 row[VECTOR];

#pragma GCC unroll 16
        for (size_t w = 0; w < VECTOR; w++)
            row[w] = w < n_win ? acc[w * n_v + v] : _mm512_setzero_ps();
        write_rows(a, row, n_win, v * VECTOR, n_f - v * VECTOR);
    }
}

typedef void (*taps_fn)(const struct conv_ukr_args *a, const struct conv_taps *taps);

#define FN(name, n_win, n_v, has_edge, spacing)                                                                        \
    static void name(const struct conv_ukr_args *a, const struct conv_taps *taps)                                      \
    {                                                                                                                  \
        tile(a, taps, n_win, n_v, has_edge, spacing);                                                                  \
    }

#define INSTANCE(n)                                                                                                    \
    FN(one_##n, n, 1, false, ANYWHERE)                                                                                 \
    FN(two_##n, n, 2, false, ANYWHERE)                                                                                 \
    FN(one_edge_##n, n, 1, true, ANYWHERE)                                                                             \
    FN(two_edge_##n, n, 2, true, ANYWHERE)

#define INSTANCES(n)                                                                                                   \
    {                                                                                                                  \
        { one_##n, one_edge_##n },                                                                                     \
        {                                                                                                              \
            two_##n, two_edge_##n                                                                                      \
        }                                                                                                              \
    }

#define ROW(n)                                                                                                         \
    FN(one_neighbours_##n, n, 1, false, NEIGHBOURS)                                                                    \
    FN(two_neighbours_##n, n, 2, false, NEIGHBOURS)                                                                    \
    FN(one_second_##n, n, 1, false, EVERY_SECOND)                                                                      \
    FN(two_second_##n, n, 2, false, EVERY_SECOND)

#define ROWS(n)                                                                                                        \
    {                                                                                                                  \
        [NEIGHBOURS] = { one_neighbours_##n, two_neighbours_##n }, [EVERY_SECOND] = { one_second_##n, two_second_##n } \
    }

/* clang-format off */
INSTANCE(1) INSTANCE(2) INSTANCE(3) INSTANCE(4) INSTANCE(5) INSTANCE(6) INSTANCE(7)
INSTANCE(8) INSTANCE(9) INSTANCE(10) INSTANCE(11) INSTANCE(12) INSTANCE(13) INSTANCE(14)
ROW(7) ROW(8) ROW(9) ROW(10) ROW(11) ROW(12) ROW(13) ROW(14)
FN(one_rows_14, 14, 1, false, TWO_ROWS)
FN(two_rows_14, 14, 2, false, TWO_ROWS)

static const taps_fn instance[N_WIN][2][2] = {
    INSTANCES(1), INSTANCES(2), INSTANCES(3), INSTANCES(4), INSTANCES(5), INSTANCES(6), INSTANCES(7),
    INSTANCES(8), INSTANCES(9), INSTANCES(10), INSTANCES(11), INSTANCES(12), INSTANCES(13), INSTANCES(14),
};

/* Instances for whole vectors of filters whose windows lie in simple places. */
static const taps_fn simple[N_WIN][N_SPACINGS][2] = {
    [6] = ROWS(7), [7] = ROWS(8), [8] = ROWS(9), [9] = ROWS(10), [10] = ROWS(11), [11] = ROWS(12), [12] = ROWS(13),
    [13] = { [NEIGHBOURS] = { one_neighbours_14, two_neighbours_14 }, [EVERY_SECOND] = { one_second_14, two_second_14 },
             [TWO_ROWS] = { one_rows_14, two_rows_14 } },
};
/* clang-format on */

static enum spacing spacing_of(const struct conv_ukr_args *a, const struct conv_taps *t)
{
    if (t->row_windows == a->n_win)
        return t->apart_bytes == sizeof(float)       ? NEIGHBOURS
               : t->apart_bytes == 2 * sizeof(float) ? EVERY_SECOND
                                                     : ANYWHERE;
    return t->row_windows * 2 == a->n_win && t->apart_bytes == sizeof(float) ? TWO_ROWS : ANYWHERE;
}

static void run(const struct conv_ukr_args *a, const struct conv_taps *taps)
{
    size_t n = a->n_win - 1, v = vectors(a->n_f) - 1, edge = a->n_f % VECTOR != 0;
    taps_fn fn = edge ? NULL : simple[n][spacing_of(a, taps)][v];

    (fn ? fn : instance[n][v][edge])(a, taps);
}

void conv_f32_ukr_14x32__avx512(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    if (a->taps) {
        run(a, a->taps);
    } else {
        const struct conv_taps single = walk_single_tap(u, a);

        run(a, &single);
    }
}
#endif
