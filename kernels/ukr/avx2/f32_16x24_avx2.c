/*
 * 16 windows by 24 filters as four register tiles of 16x6, one after the other, on panels of 6 filters: the windows are
 * in L1 after the first, a call is worth four times the work, and outputs are walked in as few pages as 24 filters
 * have.
 *
 * Tiles of few windows have another register tile: 6 filters side by side in one ymm, one broadcast per window. n
 * windows then take n FMAs a step instead of 6 or 12: 7x7 outputs end in one window, 14x14 in four, 27x27 and 13x13 in
 * nine. Accumulators hold filters side by side, so rows are transposed on the way out, four windows at a time.
 *
 * A single window takes four steps at once: 24 filters are three whole ymm.
 */
#include "kernels/ukr/avx2/f32_16x24_avx2.h"

#if defined(__x86_64__)
#include "kernels/ukr/avx2/x86_tile_avx2.h"

static inline __attribute__((always_inline)) __m128 load_two(const float *in)
{
    return _mm_castsi128_ps(_mm_loadu_si64(in));
}

/* A panel's filters at one step: n_f is 4 or 6. */
static inline __attribute__((always_inline)) __m256 load_weights(const float *filter, const size_t n_f)
{
    __m256 weights = _mm256_zextps128_ps256(_mm_loadu_ps(filter));

    if (n_f > 4)
        weights = _mm256_insertf128_ps(weights, load_two(filter + 4), 1);
    IN_REGISTER(weights);
    return weights;
}

static inline __attribute__((always_inline)) void step(const float *in, const float *filter, const size_t n_f,
                                                       const size_t n_win, __m256 *acc)
{
    __m256 weights = load_weights(filter, n_f);

#pragma GCC unroll 10
    for (size_t i = 0; i < n_win; i++)
        acc[i] = _mm256_fmadd_ps(weights, _mm256_set1_ps(in[i]), acc[i]);
}

/* n windows of a row; one, two and four are whole accesses, which cost less than masked ones. */
static inline __attribute__((always_inline)) void update_row(float *out, __m128 row, const size_t n, bool accumulate)
{
    if (n == 4) {
        _mm_storeu_ps(out, accumulate ? _mm_add_ps(row, _mm_loadu_ps(out)) : row);
    } else if (n == 1) {
        _mm_store_ss(out, accumulate ? _mm_add_ss(row, _mm_load_ss(out)) : row);
    } else if (n == 2) {
        row = accumulate ? _mm_add_ps(row, load_two(out)) : row;
        LOG_WRITE(out, 2 * sizeof(float));
        _mm_storel_pi((__m64 *)out, row);
    } else {
        const __m128i mask = _mm256_castsi256_si128(tile_lanes(n));

        if (accumulate) {
            LOG_READ(out, n * sizeof(float));
            row = _mm_add_ps(row, _mm_maskload_ps(out, mask));
        }
        LOG_WRITE(out, n * sizeof(float));
        _mm_maskstore_ps(out, mask, row);
    }
}

/* The four windows of filters i and i + 4 in rows[i]. */
static inline __attribute__((always_inline)) void transpose(const __m256 acc[GROUP], __m256 rows[GROUP])
{
    __m256 a = _mm256_unpacklo_ps(acc[0], acc[1]), b = _mm256_unpackhi_ps(acc[0], acc[1]);
    __m256 c = _mm256_unpacklo_ps(acc[2], acc[3]), d = _mm256_unpackhi_ps(acc[2], acc[3]);

    rows[0] = _mm256_shuffle_ps(a, c, 0x44);
    rows[1] = _mm256_shuffle_ps(a, c, 0xee);
    rows[2] = _mm256_shuffle_ps(b, d, 0x44);
    rows[3] = _mm256_shuffle_ps(b, d, 0xee);
}

static inline __attribute__((always_inline)) void write_out(const struct conv_ukr_args *a, const __m256 *acc,
                                                            const size_t n_win, const size_t n_f)
{
#pragma GCC unroll 3
    for (size_t i = 0; i < n_win; i += GROUP) {
        const size_t n = n_win - i < GROUP ? n_win - i : GROUP;
        float *out = conv_out_ptr(a->out) + i;
        __m256 rows[GROUP];

        transpose(acc + i, rows);
#pragma GCC unroll 6
        for (size_t f = 0; f < n_f; f++, out += a->ld_out)
            update_row(out, f < GROUP ? _mm256_castps256_ps128(rows[f]) : _mm256_extractf128_ps(rows[f - GROUP], 1), n,
                       a->accumulate);
    }
}

/* n_sets steps run into accumulators of their own, as in x86_tile_avx2.h. */
static inline __attribute__((always_inline)) void few(const struct conv_ukr_args *a, const size_t n_win,
                                                      const size_t n_f, const size_t n_sets)
{
    const float *in = conv_in_ptr(a->in);
    const float *filter = conv_in_ptr(a->filter);
    size_t ld_in = a->ld_in ? a->ld_in : TILE_PANEL;
    size_t t = 0, n_steps = ukr_prefetch_steps(a);
    __m256 acc[TILE_ACCUMULATORS];

#pragma GCC unroll 12
    for (size_t i = 0; i < TILE_ACCUMULATORS; i++)
        acc[i] = _mm256_setzero_ps();
    for (; t + n_sets <= a->k; t += n_sets) {
#pragma GCC unroll 8
        for (size_t s = 0; s < n_sets; s++, in += ld_in, filter += n_f) {
            step(in, filter, n_f, n_win, acc + s * n_win);
            ukr_prefetch(a, n_steps, t + s);
        }
    }
    for (; n_sets > 1 && t < a->k; t++, in += ld_in, filter += n_f) {
        step(in, filter, n_f, n_win, acc);
        ukr_prefetch(a, n_steps, t);
    }
    tile_add_sets(acc, n_win, n_sets);
    write_out(a, acc, n_win, n_f);
}

/* Lane i of the three is filter i % 6 of step i / 6. */
static inline __attribute__((always_inline)) void block(const float *in, size_t ld_in, const float *filter,
                                                        __m256 acc[3])
{
    __m256 window[BLOCK], weights[3];

#pragma GCC unroll 4
    for (size_t s = 0; s < BLOCK; s++) {
        window[s] = _mm256_set1_ps(in[s * ld_in]);
        IN_REGISTER(window[s]);
    }
#pragma GCC unroll 3
    for (size_t i = 0; i < 3; i++) {
        weights[i] = _mm256_loadu_ps(filter + i * TILE_VECTOR);
        IN_REGISTER(weights[i]);
    }
    acc[0] = _mm256_fmadd_ps(weights[0], _mm256_blend_ps(window[0], window[1], 0xc0), acc[0]);
    acc[1] = _mm256_fmadd_ps(weights[1], _mm256_blend_ps(window[1], window[2], 0xf0), acc[1]);
    acc[2] = _mm256_fmadd_ps(weights[2], _mm256_blend_ps(window[2], window[3], 0xfc), acc[2]);
}

/* The sums of the lanes of each of the six filters. */
static inline __attribute__((always_inline)) __m256 add_steps(const __m256 acc[3])
{
    float lanes[BLOCK * F_PANEL + 2] = { 0 }; /* what the last load reads past them goes to lanes of no filter */
    __m256 sum = _mm256_setzero_ps();

    for (size_t i = 0; i < 3; i++)
        _mm256_storeu_ps(lanes + i * TILE_VECTOR, acc[i]);
    for (size_t s = 0; s < BLOCK; s++)
        sum = _mm256_add_ps(sum, _mm256_loadu_ps(lanes + s * F_PANEL));
    return sum;
}

/* One window, six filters; blocks in two sets of accumulators, then what is left of k. */
static void one_1x6(const struct conv_ukr_args *a)
{
    const float *in = conv_in_ptr(a->in);
    const float *filter = conv_in_ptr(a->filter);
    size_t ld_in = a->ld_in ? a->ld_in : TILE_PANEL;
    size_t t = 0, n_steps = ukr_prefetch_steps(a);
    __m256 acc[6], sum[GROUP];

    for (size_t i = 0; i < 6; i++)
        acc[i] = _mm256_setzero_ps();
    for (; t + 2 * BLOCK <= a->k; t += 2 * BLOCK) {
        block(in, ld_in, filter, acc);
        ukr_prefetch_block(a, n_steps, t, BLOCK);
        block(in + BLOCK * ld_in, ld_in, filter + BLOCK * F_PANEL, acc + 3);
        ukr_prefetch_block(a, n_steps, t + BLOCK, BLOCK);
        in += 2 * BLOCK * ld_in;
        filter += 2 * BLOCK * F_PANEL;
    }
    if (t + BLOCK <= a->k) {
        block(in, ld_in, filter, acc);
        ukr_prefetch_block(a, n_steps, t, BLOCK);
        t += BLOCK;
        in += BLOCK * ld_in;
        filter += BLOCK * F_PANEL;
    }
    tile_add_sets(acc, 3, 2);
    sum[0] = add_steps(acc);
    sum[1] = sum[2] = sum[3] = _mm256_setzero_ps();
    for (; t < a->k; t++, in += ld_in, filter += F_PANEL) {
        step(in, filter, F_PANEL, 1, sum);
        ukr_prefetch(a, n_steps, t);
    }
    write_out(a, sum, 1, F_PANEL);
}

#define FEW(n_win, n_f, n_sets)                                                                                        \
    static void few_##n_win##x##n_f(const struct conv_ukr_args *a)                                                     \
    {                                                                                                                  \
        few(a, n_win, n_f, n_sets);                                                                                    \
    }

/* clang-format off */
FEW(1, 4, 8) FEW(2, 4, 4) FEW(3, 4, 3)
FEW(2, 6, 4) FEW(3, 6, 3) FEW(4, 6, 2) FEW(9, 6, 1)
    /* clang-format on */

    /* By filters and windows less one: what is_few lets through. */
    static const conv_ukr_instance_fn instance[2][9] = {
        { few_1x4, few_2x4, few_3x4 },
        { one_1x6, few_2x6, few_3x6, few_4x6, [8] = few_9x6 },
    };

static void move(struct conv_ukr_args *a, size_t n)
{
    a->filter += n * (uint64_t)a->filter_tile;
    a->out += n * (uint64_t)a->out_tile;
}

/* n panels of n_f filters, one after the other: tiles of 16x6. *a moves on behind them, but for what it prefetches. */
static void panels(struct conv_ukr_args *a, size_t n, size_t n_f)
{
    a->n_f = n_f;
    a->n_tiles = n;
    a->filter_tile = (int64_t)(n_f * a->k * sizeof(float));
    a->out_tile = (int64_t)(n_f * a->ld_out * sizeof(float));
    if (!is_few(a->n_win, n_f)) {
        conv_ukr_16x6__avx2.fn(&conv_ukr_16x6__avx2, a);
        move(a, n);
        return;
    }
    for (; n; n--, move(a, 1))
        instance[n_f > 4][a->n_win - 1](a);
}

/* One tile of n_f filters. What is prefetched is the first panel's. */
static void one_tile(struct conv_ukr_args *a, size_t n_f)
{
    size_t n = n_f / F_PANEL, edge = n_f % F_PANEL;

    if (n && a->ahead) {
        panels(a, 1, F_PANEL);
        n--;
        a->ahead = NULL;
    }
    if (n)
        panels(a, n, F_PANEL);
    if (edge)
        panels(a, 1, edge);
}

void conv_f32_ukr_16x24__avx2(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    struct conv_ukr_args tile = *a;
    uint64_t in = a->in, filter = a->filter, out = a->out;

    (void)u;
    tile.in_tile = 0;
    for (size_t left = max_size(a->n_tiles, 1);;) {
        tile.in = in;
        tile.filter = filter;
        tile.out = out;
        tile.ahead = a->ahead;
        one_tile(&tile, a->n_f);
        if (!--left)
            return;
        in += (uint64_t)a->in_tile;
        filter += (uint64_t)a->filter_tile;
        out += (uint64_t)a->out_tile;
        if (a->ahead)
            conv_ahead_next_tile(a->ahead);
    }
}
#endif
