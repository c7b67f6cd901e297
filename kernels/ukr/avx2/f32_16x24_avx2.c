/*
 * 16 windows by 24 filters as four register tiles of 16x6, one after the other, on panels of 6 filters: the windows are
 * in L1 after the first tile, a call is worth four times the work, and outputs are walked in as few pages as 24 filters
 * have.
 *
 * Tiles of few windows have another register tile: 6 filters side by side in a ymm, a broadcast per window. n windows
 * then take n FMAs a step instead of 6 or 12: 7x7 outputs end in one window, 14x14 in four, 27x27 and 13x13 in nine.
 * Accumulators hold filters side by side, so rows are transposed on the way out, four windows at a time.
 *
 * A single window takes four steps at once: 24 filters are three whole ymm. Four windows are half a ymm: filters come
 * in pairs, and three FMAs a step are six filters.
 */
#include "kernels/ukr/avx2/f32_16x24_avx2.h"

#if defined(__x86_64__)
#include "kernels/ukr/avx2/x86_few_avx2.h"

/* n_sets steps run into accumulators of their own, as in x86_tile_avx2.h. */
static inline __attribute__((always_inline)) void few(const struct conv_ukr_args *a, const size_t n_win,
                                                      const size_t n_f, const size_t n_sets)
{
    const float *in = conv_in_ptr(a->in);
    const float *filter = conv_in_ptr(a->filter);
    size_t ld_in = a->ld_in ? a->ld_in : TILE_PANEL;
    struct ukr_asks asks = ukr_asks_of(a);
    size_t t = 0;
    __m256 acc[TILE_ACCUMULATORS];

#pragma GCC unroll 12
    for (size_t i = 0; i < TILE_ACCUMULATORS; i++)
        acc[i] = _mm256_setzero_ps();
    for (; t + n_sets <= a->k; t += n_sets) {
#pragma GCC unroll 8
        for (size_t s = 0; s < n_sets; s++, in += ld_in, filter += n_f) {
            few_step(in, filter, n_f, n_win, acc + s * n_win);
            ukr_ask(&asks);
        }
    }
    for (; n_sets > 1 && t < a->k; t++, in += ld_in, filter += n_f) {
        few_step(in, filter, n_f, n_win, acc);
        ukr_ask(&asks);
    }
    tile_add_sets(acc, n_win, n_sets);
    few_write_out(conv_out_ptr(a->out), a->ld_out, a->accumulate, acc, n_win, n_f);
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
    float lanes[BLOCK * F_PANEL + 2] = { 0 }; /* the last load reads past the filters, into lanes of no filter */
    __m256 sum = _mm256_setzero_ps();

    for (size_t i = 0; i < 3; i++)
        _mm256_storeu_ps(lanes + i * TILE_VECTOR, acc[i]);
    for (size_t s = 0; s < BLOCK; s++)
        sum = _mm256_add_ps(sum, _mm256_loadu_ps(lanes + s * F_PANEL));
    return sum;
}

/* A window, six filters; blocks in two sets of accumulators, then the rest of k. */
static void one_1x6(const struct conv_ukr_args *a)
{
    const float *in = conv_in_ptr(a->in);
    const float *filter = conv_in_ptr(a->filter);
    size_t ld_in = a->ld_in ? a->ld_in : TILE_PANEL;
    struct ukr_asks asks = ukr_asks_of(a);
    size_t t = 0;
    __m256 acc[6], sum[GROUP];

    for (size_t i = 0; i < 6; i++)
        acc[i] = _mm256_setzero_ps();
    for (; t + 2 * BLOCK <= a->k; t += 2 * BLOCK) {
        block(in, ld_in, filter, acc);
        ukr_ask_block(&asks, BLOCK);
        block(in + BLOCK * ld_in, ld_in, filter + BLOCK * F_PANEL, acc + 3);
        ukr_ask_block(&asks, BLOCK);
        in += 2 * BLOCK * ld_in;
        filter += 2 * BLOCK * F_PANEL;
    }
    if (t + BLOCK <= a->k) {
        block(in, ld_in, filter, acc);
        ukr_ask_block(&asks, BLOCK);
        t += BLOCK;
        in += BLOCK * ld_in;
        filter += BLOCK * F_PANEL;
    }
    tile_add_sets(acc, 3, 2);
    sum[0] = add_steps(acc);
    sum[1] = sum[2] = sum[3] = _mm256_setzero_ps();
    for (; t < a->k; t++, in += ld_in, filter += F_PANEL) {
        few_step(in, filter, F_PANEL, 1, sum);
        ukr_ask(&asks);
    }
    few_write_out(conv_out_ptr(a->out), a->ld_out, a->accumulate, sum, 1, F_PANEL);
}

/* Four windows; n_sets as above. */
static inline __attribute__((always_inline)) void pairs(const struct conv_ukr_args *a, const size_t n_f,
                                                        const size_t n_sets)
{
    const float *in = conv_in_ptr(a->in);
    const float *filter = conv_in_ptr(a->filter);
    const size_t ld_in = a->ld_in ? a->ld_in : TILE_PANEL, n_acc = n_f / 2;
    struct ukr_asks asks = ukr_asks_of(a);
    size_t t = 0;
    __m256 acc[TILE_ACCUMULATORS];

#pragma GCC unroll 12
    for (size_t i = 0; i < TILE_ACCUMULATORS; i++)
        acc[i] = _mm256_setzero_ps();
    for (; t + n_sets <= a->k; t += n_sets) {
#pragma GCC unroll 4
        for (size_t s = 0; s < n_sets; s++, in += ld_in, filter += n_f) {
            pairs_step(in, filter, n_f, acc + s * n_acc);
            ukr_ask(&asks);
        }
    }
    for (; t < a->k; t++, in += ld_in, filter += n_f) {
        pairs_step(in, filter, n_f, acc);
        ukr_ask(&asks);
    }
    tile_add_sets(acc, n_acc, n_sets);
    pairs_write_out(conv_out_ptr(a->out), a->ld_out, a->accumulate, acc, n_f);
}

static void pairs_4x4(const struct conv_ukr_args *a)
{
    pairs(a, 4, 4);
}

static void pairs_4x6(const struct conv_ukr_args *a)
{
    pairs(a, 6, 4);
}

#define FEW(n_win, n_f, n_sets)                                                                                        \
    static void few_##n_win##x##n_f(const struct conv_ukr_args *a)                                                     \
    {                                                                                                                  \
        few(a, n_win, n_f, n_sets);                                                                                    \
    }

/* clang-format off */
FEW(1, 4, 8) FEW(2, 4, 4) FEW(3, 4, 3)
FEW(2, 6, 4) FEW(3, 6, 3) FEW(9, 6, 1)
    /* clang-format on */

    /* By filters and windows less one: the pairs for which is_pairs or is_few holds. */
    static const conv_ukr_instance_fn instance[2][9] = {
        { few_1x4, few_2x4, few_3x4, pairs_4x4 },
        { one_1x6, few_2x6, few_3x6, pairs_4x6, [8] = few_9x6 },
    };

static void move(struct conv_ukr_args *a, size_t n)
{
    a->filter += n * (uint64_t)a->filter_tile;
    a->out += n * (uint64_t)a->out_tile;
}

/* n panels of n_f filters, one after the other: tiles of 16x6. *a moves on, except for its prefetches. */
static void panels(struct conv_ukr_args *a, size_t n, size_t n_f)
{
    a->n_f = n_f;
    a->n_tiles = n;
    a->filter_tile = (int64_t)(n_f * a->k * sizeof(float));
    a->out_tile = (int64_t)(n_f * a->ld_out * sizeof(float));
    if (!has_few_windows(a->n_win, n_f)) {
        conv_ukr_16x6__avx2.fn(&conv_ukr_16x6__avx2, a);
        move(a, n);
        return;
    }
    for (; n; n--, move(a, 1))
        instance[n_f > 4][a->n_win - 1](a);
}

/* A tile of n_f filters. The first panel prefetches. */
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
