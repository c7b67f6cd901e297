/*
 * 16x24 that reads windows in place, tap by tap, on 16x24's packed filters: of convolutions whose output rows are as
 * wide as their input rows (CONV_WALK_SAME), where a tap's elements of neighbouring windows are neighbours too, across
 * the end of a row. A vector of elements is one load. At the ends of rows some lanes lie on padding: there the load is
 * masked. Taps that only read padding are left out. Few windows take a broadcast each, as in 16x24.
 *
 * The place, live windows and masks of a tile's taps are worked out once per call: they are equal for all channels and
 * filters.
 */
#include "kernels/ukr/avx2/f32_16x24_avx2.h"

#if defined(__x86_64__)
#include "kernels/ukr/avx2/x86_few_avx2.h"

enum { MOST_TAPS = CONV_MAX_TAPS * CONV_MAX_TAPS };

/* A tap, for all channels. */
struct tap {
    uint32_t live;   /* windows, a bit each */
    __m256i mask[2]; /* of the windows' vectors; not set where the taps of the row are whole */
};

/* A group: taps of a row (tap_group). */
struct row {
    uint64_t at; /* bytes from the channel's first tap */
    const struct tap *tap;
    bool is_whole;         /* all taps of all windows, and whole vectors of windows */
    bool has_whole_middle; /* the second of three taps is */
    bool is_dead;          /* no tap of any window */
};

/* A call's taps, in the order of the filters. */
struct panel_walk {
    size_t n_c;
    uint64_t channel_bytes;
    const struct row *end;
    struct row row[MOST_TAPS];
    struct tap tap[MOST_TAPS];
};

static __m256i lanes_of(uint32_t bits)
{
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);

    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), lane), lane);
}

static void set_row(struct row *row, struct tap *tap, const struct conv_ukr_args *a, size_t fh, size_t fw, size_t group)
{
    const struct conv_taps *t = a->taps;
    uint32_t all = (1u << a->n_win) - 1, some = 0;

    row->at = fh * (uint64_t)t->row_bytes + fw * (uint64_t)t->column_bytes;
    row->tap = tap;
    row->is_whole = a->n_win % TILE_VECTOR == 0;
    for (size_t g = 0; g < group; g++) {
        tap[g].live = t->row_live[fh] & t->column_live[fw + g];
        row->is_whole &= tap[g].live == all;
        some |= tap[g].live;
    }
    row->is_dead = !some;
    row->has_whole_middle = a->n_win % TILE_VECTOR == 0 && group == 3 && tap[1].live == all;
    for (size_t g = 0; g < group && !row->is_whole; g++) {
        tap[g].mask[0] = lanes_of(tap[g].live);
        tap[g].mask[1] = lanes_of(tap[g].live >> TILE_VECTOR);
    }
}

static void set_walk(struct panel_walk *w, const struct conv_ukr_args *a)
{
    const struct conv_taps *t = a->taps;
    const size_t group = tap_group(t);
    struct row *row = w->row;
    struct tap *tap = w->tap;

    w->n_c = t->n_c;
    w->channel_bytes = (uint64_t)t->channel_bytes;
    for (size_t fh = 0; fh < t->r; fh++) {
        for (size_t fw = 0; fw < t->s; fw += group, row++, tap += group)
            set_row(row, tap, a, fh, fw, group);
    }
    w->end = row;
}

/* Reads from the first to the last live window of eight. */
static inline void log_live(const float *at, uint32_t live)
{
    live &= (1u << TILE_VECTOR) - 1;
    if (live)
        LOG_READ(at + __builtin_ctz(live), (size_t)(32 - __builtin_ctz(live) - __builtin_clz(live)) * sizeof(float));
    (void)at;
}

static inline __attribute__((always_inline)) void masked_step(const struct tap *p, const float *in, const float *filter,
                                                              const size_t n_v, const size_t n_f, __m256 *acc)
{
    __m256 windows[3];

#pragma GCC unroll 2
    for (size_t v = 0; v < n_v; v++) {
        log_live(in + v * TILE_VECTOR, p->live >> v * TILE_VECTOR);
        windows[v] = _mm256_maskload_ps(in + v * TILE_VECTOR, p->mask[v]);
        IN_REGISTER(windows[v]);
    }
    tile_multiply(windows, filter, n_v, n_f, acc);
}

static inline __attribute__((always_inline)) void few_live_step(const struct tap *p, const float *in,
                                                                const float *filter, const size_t n_win,
                                                                const size_t n_f, __m256 *acc)
{
    __m256 weights = few_weights(filter, n_f);

#pragma GCC unroll 10
    for (size_t i = 0; i < n_win; i++) {
        if (p->live >> i & 1)
            acc[i] = _mm256_fmadd_ps(weights, _mm256_set1_ps(in[i]), acc[i]);
    }
}

/* The place of a panel of filters. */
struct position {
    uint64_t in;
    const float *filter;
    float *out;
    bool asks; /* prefetches */
};

/* A tap of a row with dead windows. */
static inline __attribute__((always_inline)) void edge_step(const struct row *row, const size_t g, const float *in,
                                                            const float *filter, const size_t n, const size_t n_f,
                                                            const bool is_few, const bool is_whole, __m256 *acc)
{
    if (is_few)
        few_live_step(row->tap + g, in + g, filter + g * n_f, n, n_f, acc);
    else if (is_whole)
        tile_step(in + g, filter + g * n_f, n, n_f, NULL, acc);
    else
        masked_step(row->tap + g, in + g, filter + g * n_f, n, n_f, acc);
}

/* A row's taps add to n_sets sets of accumulators in turn. */
static inline __attribute__((always_inline)) void row_of(const struct row *row, const float *in, const float *filter,
                                                         const size_t n, const size_t n_f, const size_t group,
                                                         const size_t n_sets, const bool is_few, __m256 *acc)
{
    const size_t n_acc = is_few ? n : n * n_f;

    if (!is_few && __builtin_expect(row->is_whole, true)) {
#pragma GCC unroll 5
        for (size_t g = 0; g < group; g++)
            tile_step(in + g, filter + g * n_f, n, n_f, NULL, acc + g % n_sets * n_acc);
    } else if (!is_few && group == 3 && row->has_whole_middle) {
#pragma GCC unroll 3
        for (size_t g = 0; g < group; g++)
            edge_step(row, g, in, filter, n, n_f, is_few, g == 1, acc + g % n_sets * n_acc);
    } else if (!row->is_dead) {
#pragma GCC unroll 5
        for (size_t g = 0; g < group; g++)
            edge_step(row, g, in, filter, n, n_f, is_few, false, acc + g % n_sets * n_acc);
    }
}

/*
 * A panel. is_few: n is windows, each with an accumulator of its own; else vectors. Fewer than eight accumulators would
 * wait for each FMA to end, as in x86_tile_avx2.h: taps of a row have accumulators of their own.
 */
static inline __attribute__((always_inline)) void panel_of(const struct conv_ukr_args *a, const struct panel_walk *w,
                                                           const struct position *at, const size_t n, const size_t n_f,
                                                           const size_t group, const bool is_few)
{
    const size_t n_acc = is_few ? n : n * n_f, most = (TILE_VECTOR + n_acc - 1) / n_acc;
    const size_t n_sets = n_acc >= TILE_VECTOR || group == 1 ? 1 : most > 3 ? 3 : most;
    struct ukr_asks asks = at->asks ? ukr_asks_of(a) : ukr_no_asks();
    const float *filter = at->filter;
    uint64_t in = at->in;
    __m256 acc[TILE_ACCUMULATORS];

#pragma GCC unroll 12
    for (size_t i = 0; i < TILE_ACCUMULATORS; i++)
        acc[i] = _mm256_setzero_ps();
    for (size_t c = w->n_c; c; c--, in += w->channel_bytes) {
        for (const struct row *row = w->row; row != w->end; row++, filter += group * n_f) {
            row_of(row, conv_in_ptr(in + row->at), filter, n, n_f, group, n_sets, is_few, acc);
            ukr_ask_block(&asks, group);
        }
    }
    tile_add_sets(acc, n_acc, n_sets);
    if (is_few)
        few_write_out(at->out, a->ld_out, a->accumulate, acc, n, n_f);
    else
        store_tile(at->out, a->ld_out, acc, n, n_f, a->accumulate, tile_last(a));
}

typedef void (*panel_fn)(const struct conv_ukr_args *a, const struct panel_walk *w, const struct position *at);

#define PANEL(name, n, n_f, group, is_few)                                                                             \
    static void name##_##n##x##n_f##_##group(const struct conv_ukr_args *a, const struct panel_walk *w,                \
                                             const struct position *at)                                                \
    {                                                                                                                  \
        panel_of(a, w, at, n, n_f, group, is_few);                                                                     \
    }
#define PANELS(name, n, n_f, is_few)                                                                                   \
    PANEL(name, n, n_f, 1, is_few) PANEL(name, n, n_f, 3, is_few) PANEL(name, n, n_f, 5, is_few)

/* By the taps of a group. */
#define BY_GROUP(name)                                                                                                 \
    {                                                                                                                  \
        name##_1, name##_3, name##_5                                                                                   \
    }

/* clang-format off */
PANELS(wide, 1, 1, false) PANELS(wide, 1, 2, false) PANELS(wide, 1, 3, false)
PANELS(wide, 1, 4, false) PANELS(wide, 1, 5, false) PANELS(wide, 1, 6, false)
PANELS(wide, 2, 1, false) PANELS(wide, 2, 2, false) PANELS(wide, 2, 3, false)
PANELS(wide, 2, 4, false) PANELS(wide, 2, 5, false) PANELS(wide, 2, 6, false)
PANELS(few, 1, 4, true) PANELS(few, 2, 4, true) PANELS(few, 3, 4, true)
PANELS(few, 1, 6, true) PANELS(few, 2, 6, true) PANELS(few, 3, 6, true) PANELS(few, 4, 6, true) PANELS(few, 9, 6, true)

static const panel_fn wide[2][F_PANEL][3] = {
    { BY_GROUP(wide_1x1), BY_GROUP(wide_1x2), BY_GROUP(wide_1x3),
      BY_GROUP(wide_1x4), BY_GROUP(wide_1x5), BY_GROUP(wide_1x6) },
    { BY_GROUP(wide_2x1), BY_GROUP(wide_2x2), BY_GROUP(wide_2x3),
      BY_GROUP(wide_2x4), BY_GROUP(wide_2x5), BY_GROUP(wide_2x6) },
};

/* By filters and windows less one: the pairs for which is_few holds. */
static const panel_fn few[2][9][3] = {
    { BY_GROUP(few_1x4), BY_GROUP(few_2x4), BY_GROUP(few_3x4) },
    { BY_GROUP(few_1x6), BY_GROUP(few_2x6), BY_GROUP(few_3x6), BY_GROUP(few_4x6), [8] = BY_GROUP(few_9x6) },
};
/* clang-format on */

static panel_fn panel_for(const struct conv_ukr_args *a, size_t n_f)
{
    size_t n_win = a->n_win, group = tap_group(a->taps) / 2;

    return is_few(n_win, n_f) ? few[n_f > 4][n_win - 1][group] : wide[n_win > TILE_VECTOR][n_f - 1][group];
}

/* A tile of filters, panel by panel. The first panel prefetches. */
static void one_tile(const struct conv_ukr_args *a, const struct panel_walk *w, struct position at)
{
    const size_t edge = a->n_f % F_PANEL;
    const panel_fn whole = panel_for(a, F_PANEL);

    at.asks = true;
    for (size_t n = a->n_f / F_PANEL; n; n--) {
        whole(a, w, &at);
        at.filter += F_PANEL * a->k;
        at.out += F_PANEL * a->ld_out;
        at.asks = false;
    }
    if (edge)
        panel_for(a, edge)(a, w, &at);
}

static void walk(const struct conv_ukr_args *a)
{
    struct position at = { .in = a->in, .filter = conv_in_ptr(a->filter), .out = conv_out_ptr(a->out) };
    struct panel_walk w;

    set_walk(&w, a);
    for (size_t left = max_size(a->n_tiles, 1);;) {
        one_tile(a, &w, at);
        if (!--left)
            return;
        at.in += (uint64_t)a->in_tile;
        at.filter += a->filter_tile / (int64_t)sizeof(float);
        at.out += a->out_tile / (int64_t)sizeof(float);
        if (a->ahead)
            conv_ahead_next_tile(a->ahead);
    }
}

void conv_f32_ukr_16x24_taps__avx2(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    (void)u;
    if (a->taps)
        walk(a);
    else
        conv_ukr_16x24__avx2.fn(&conv_ukr_16x24__avx2, a);
}
#endif
