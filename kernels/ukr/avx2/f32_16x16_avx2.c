/*
 * 16 windows by 16 filters with the filters side by side: two ymm of filters, a broadcast per window, in register tiles
 * of up to six windows (twelve accumulators). A window is an element per step, so windows need not be next to each
 * other: windows of any convolution are read in place (struct conv_taps), nothing is packed, and a tap leaves out the
 * windows for which it lies on padding. A step of n windows is n broadcasts and two filter loads for 2 n FMAs.
 * Accumulators hold filters, rows of the output hold windows: sums are gathered on the stack until all windows of the
 * call are done, and transposed on the way out, eight by eight.
 */
#include "kernels/ukr/avx2/f32_16x16_avx2.h"

#if defined(__x86_64__)
#include "kernels/ukr/avx2/x86_tile_avx2.h"

/* A group: taps of a row (walk_group). */
struct row {
    uint64_t in;   /* bytes from the channel's first tap */
    bool is_whole; /* all taps of all windows are live */
    bool is_dead;  /* none is */
    uint8_t live[WALK_MOST_GROUP];
};

/* A register tile's taps, in the order of the filters. */
struct panel_walk {
    uint64_t in, apart, channel_bytes;
    size_t n_c;
    const struct row *end;
    struct row row[CONV_MAX_TAPS * CONV_MAX_TAPS];
};

/* The lives of a group's taps; whole: the bits of all windows. */
static void set_lives(struct row *row, const struct conv_taps *t, const struct walk_tile *tile, uint32_t whole,
                      size_t fh, size_t fw)
{
    uint32_t all = whole, some = 0;

    for (size_t g = 0; g < tile->group; g++) {
        uint32_t live = (t->row_live[fh] & t->column_live[fw + g]) >> tile->first & whole;

        row->live[g] = (uint8_t)live;
        all &= live;
        some |= live;
    }
    row->is_whole = all == whole;
    row->is_dead = !some;
}

/* Most tiles read no padding: then no tap is looked at. */
static void set_walk(struct panel_walk *w, const struct conv_taps *t, const struct walk_tile *tile)
{
    const uint32_t whole = (1u << tile->n_win) - 1;
    uint32_t columns = whole;
    struct row *row = w->row;

    for (size_t fw = 0; fw < t->s; fw++)
        columns &= t->column_live[fw] >> tile->first;
    w->in = (uint64_t)t->window_bytes[tile->first];
    w->apart = (uint64_t)t->apart_bytes;
    w->channel_bytes = (uint64_t)t->channel_bytes;
    w->n_c = t->n_c;
    for (size_t fh = 0; fh < t->r; fh++) {
        const bool is_whole = columns == whole && (t->row_live[fh] >> tile->first & whole) == whole;

        for (size_t fw = 0; fw < t->s; fw += tile->group, row++) {
            row->in = fh * (uint64_t)t->row_bytes + fw * (uint64_t)t->column_bytes;
            row->is_whole = is_whole;
            row->is_dead = false;
            if (!is_whole)
                set_lives(row, t, tile, whole, fh, fw);
        }
    }
    w->end = row;
}

/* n filters: a constant where the vector is whole, as masked loads are slower. */
static inline __attribute__((always_inline)) __m256 load_filters(const float *filter, size_t n)
{
    __m256 weights;

    if (n == VECTOR) {
        weights = _mm256_loadu_ps(filter);
    } else {
        LOG_READ(filter, n * sizeof(float));
        weights = _mm256_maskload_ps(filter, tile_lanes(n));
    }
    IN_REGISTER(weights);
    return weights;
}

/* The constants of an instance. */
struct part {
    size_t n_win, n_v; /* windows, vectors of filters */
    size_t group;      /* taps of a group */
    bool has_edge;     /* the last vector of filters is not whole */
};

/* A tap of a channel: its element of every live window, times the tap's filters; n_last: of the last ymm. */
static inline __attribute__((always_inline)) void tap(uint64_t in, uint64_t apart, uint32_t live, const float *filter,
                                                      size_t n_last, const struct part p, const bool is_whole,
                                                      __m256 *acc)
{
    __m256 weights[2];

#pragma GCC unroll 2
    for (size_t v = 0; v < p.n_v; v++)
        weights[v] = load_filters(filter + v * VECTOR, v + 1 < p.n_v ? VECTOR : n_last);
#pragma GCC unroll 8
    for (size_t w = 0; w < p.n_win; w++) {
        if (is_whole || __builtin_expect(live >> w & 1, true)) {
            __m256 window = _mm256_set1_ps(*conv_in_ptr(in + w * apart));

            IN_REGISTER(window);
#pragma GCC unroll 2
            for (size_t v = 0; v < p.n_v; v++)
                acc[w * p.n_v + v] = _mm256_fmadd_ps(weights[v], window, acc[w * p.n_v + v]);
        }
    }
}

/* The taps of a row. */
static inline __attribute__((always_inline)) void row_of(const struct row *row, uint64_t in, uint64_t apart,
                                                         const float *filter, size_t n_f, const struct part p,
                                                         __m256 *acc)
{
    const size_t n_last = n_f - (p.n_v - 1) * VECTOR;

    if (__builtin_expect(row->is_whole, true)) {
#pragma GCC unroll 7
        for (size_t g = 0; g < p.group; g++)
            tap(in + g * sizeof(float), apart, 0, filter + g * n_f, n_last, p, true, acc);
    } else if (!row->is_dead) {
#pragma GCC unroll 1
        for (size_t g = 0; g < p.group; g++) {
            if (row->live[g] == (1u << p.n_win) - 1)
                tap(in + g * sizeof(float), apart, 0, filter + g * n_f, n_last, p, true, acc);
            else if (row->live[g])
                tap(in + g * sizeof(float), apart, row->live[g], filter + g * n_f, n_last, p, false, acc);
        }
    }
}

/* A register tile into sums[window][N_F]. */
static inline __attribute__((always_inline)) void part_of(const struct conv_ukr_args *a, const struct panel_walk *walk,
                                                          bool asks_ahead, float *sums, const struct part p)
{
    const float *filter = conv_in_ptr(a->filter);
    const size_t n_f = p.has_edge ? a->n_f : p.n_v * VECTOR;
    const uint64_t apart = walk->apart;
    struct ukr_asks asks = asks_ahead ? ukr_asks_of(a) : ukr_no_asks();
    uint64_t in = a->in + walk->in;
    __m256 acc[ACCUMULATORS];

#pragma GCC unroll 12
    for (size_t i = 0; i < p.n_win * p.n_v; i++)
        acc[i] = _mm256_setzero_ps();
    for (size_t c = walk->n_c; c; c--, in += walk->channel_bytes) {
        for (const struct row *row = walk->row; row != walk->end; row++, filter += p.group * n_f) {
            row_of(row, in + row->in, apart, filter, n_f, p, acc);
            ukr_ask_block(&asks, p.group);
        }
    }
#pragma GCC unroll 8
    for (size_t w = 0; w < p.n_win; w++) {
#pragma GCC unroll 2
        for (size_t v = 0; v < p.n_v; v++)
            _mm256_store_ps(sums + w * N_F + v * VECTOR, acc[w * p.n_v + v]);
    }
}

typedef void (*part_fn)(const struct conv_ukr_args *a, const struct panel_walk *walk, bool asks_ahead, float *sums);

#define PART(name, n, n_v_, group_, edge)                                                                              \
    static void name##_##n##x##n_v_(const struct conv_ukr_args *a, const struct panel_walk *walk, bool asks_ahead,     \
                                    float *sums)                                                                       \
    {                                                                                                                  \
        part_of(a, walk, asks_ahead, sums,                                                                             \
                (struct part){ .n_win = n, .n_v = n_v_, .group = group_, .has_edge = edge });                          \
    }
#define PARTS(n, n_v)                                                                                                  \
    PART(edge, n, n_v, 1, true)                                                                                        \
    PART(one, n, n_v, 1, false)                                                                                        \
    PART(three, n, n_v, 3, false)                                                                                      \
    PART(five, n, n_v, 5, false)                                                                                       \
    PART(seven, n, n_v, 7, false)

/* By half the taps of a group; the last instance is for filters that are no whole vectors. */
#define BY_GROUP(n, n_v)                                                                                               \
    {                                                                                                                  \
        one_##n##x##n_v, three_##n##x##n_v, five_##n##x##n_v, seven_##n##x##n_v, edge_##n##x##n_v                      \
    }

/* clang-format off */
PARTS(1, 1) PARTS(2, 1) PARTS(3, 1) PARTS(4, 1) PARTS(5, 1) PARTS(6, 1) PARTS(7, 1) PARTS(8, 1)
PARTS(1, 2) PARTS(2, 2) PARTS(3, 2) PARTS(4, 2) PARTS(5, 2) PARTS(6, 2)

enum { EDGE = WALK_MOST_GROUP / 2 + 1 };

/* By vectors of filters, and windows. */
static const part_fn instance[2][VECTOR][EDGE + 1] = {
    { BY_GROUP(1, 1), BY_GROUP(2, 1), BY_GROUP(3, 1), BY_GROUP(4, 1),
      BY_GROUP(5, 1), BY_GROUP(6, 1), BY_GROUP(7, 1), BY_GROUP(8, 1) },
    { BY_GROUP(1, 2), BY_GROUP(2, 2), BY_GROUP(3, 2), BY_GROUP(4, 2), BY_GROUP(5, 2), BY_GROUP(6, 2) },
};
/* clang-format on */

/* Element i of row j becomes element j of row i. */
static inline __attribute__((always_inline)) void transpose(__m256 row[VECTOR])
{
    __m256 t[VECTOR];

#pragma GCC unroll 4
    for (size_t i = 0; i < VECTOR; i += 2) {
        t[i] = _mm256_unpacklo_ps(row[i], row[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(row[i], row[i + 1]);
    }
#pragma GCC unroll 2
    for (size_t i = 0; i < VECTOR; i += 4) { /* row[i + j]: column j of each half, of rows i .. i + 3 */
        row[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        row[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        row[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        row[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        t[i] = _mm256_permute2f128_ps(row[i], row[i + 4], 0x20);
        t[i + 4] = _mm256_permute2f128_ps(row[i], row[i + 4], 0x31);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < VECTOR; i++)
        row[i] = t[i];
}

/* Up to eight windows of up to eight filters. */
static void update_block(const float *sums, float *out, size_t ld_out, size_t n_win, size_t n_f, bool accumulate)
{
    __m256 row[VECTOR];

#pragma GCC unroll 8
    for (size_t w = 0; w < VECTOR; w++)
        row[w] = _mm256_load_ps(sums + w * N_F);
    transpose(row);
#pragma GCC unroll 8
    for (size_t f = 0; f < VECTOR; f++, out += ld_out) {
        if (f == n_f)
            return;
        if (n_win == VECTOR)
            store_row(out, row[f], accumulate);
        else
            store_part(out, row[f], accumulate, n_win);
    }
}

static void update(const struct conv_ukr_args *a, const float *sums)
{
    for (size_t f = 0; f < a->n_f; f += VECTOR) {
        for (size_t w = 0; w < a->n_win; w += VECTOR)
            update_block(sums + w * N_F + f, conv_out_ptr(a->out) + f * a->ld_out + w, a->ld_out,
                         min_size(VECTOR, a->n_win - w), min_size(VECTOR, a->n_f - f), a->accumulate);
    }
}

/* A call's register tiles; all tiles of the call's filters have these taps. */
struct parts {
    size_t n;
    struct walk_tile tile[N_WIN];
    struct panel_walk walk[N_WIN];
    part_fn fn[N_WIN];
};

static void set_parts(struct parts *p, const struct conv_ukr_args *a, const struct conv_taps *taps)
{
    p->n = 0;
    for (size_t w = 0; w < a->n_win; w += p->tile[p->n++].n_win) {
        struct walk_tile *tile = &p->tile[p->n];

        *tile = part_at(a, taps, w);
        set_walk(&p->walk[p->n], taps, tile);
        p->fn[p->n] = instance[vectors(a->n_f) - 1][tile->n_win - 1][a->n_f % VECTOR ? EDGE : tile->group / 2];
    }
}

/* The tiles of a call. The first part prefetches. */
static void run(const struct conv_ukr_args *args, const struct conv_taps *taps)
{
    __attribute__((aligned(32))) float sums[N_WIN * N_F] = { 0 };
    struct conv_ukr_args a = *args;
    struct parts p;

    set_parts(&p, &a, taps);
    for (size_t n = max_size(a.n_tiles, 1); n; n--, conv_ukr_next_tile(&a)) {
        for (size_t i = 0; i < p.n; i++)
            p.fn[i](&a, &p.walk[i], !i, sums + p.tile[i].first * N_F);
        update(&a, sums);
    }
}

void conv_f32_ukr_16x16__avx2(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    if (a->taps) {
        run(a, a->taps);
    } else {
        const struct conv_taps single = walk_single_tap(u, a);

        run(a, &single);
    }
}
#endif
