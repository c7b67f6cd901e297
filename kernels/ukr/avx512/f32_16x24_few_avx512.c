/*
 * The 16x24 tile with another kernel for tiles of few windows, on 16x24's panels: 24 filters in a zmm and a ymm, a
 * broadcast per window. A tile of n windows then takes 2 n FMAs a step instead of 24: 7x7 outputs end in a tile of one
 * window, 14x14 outputs in a tile of four. Accumulators hold filters side by side, so rows are transposed on the way
 * out, four windows at a time.
 */
#include "kernels/ukr/avx512/f32_16x24_few_avx512.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86/x86_mask.h"
#include "kernels/ukr/x86/x86_prefetch.h"

#define N_WIN 16
#define N_F 24
#define MAX_SETS 4

struct weights {
    __m512 low;
    __m256 high;
};

static inline __attribute__((always_inline)) struct weights load_weights(const float *filter, size_t n_f,
                                                                         const bool has_high)
{
    __mmask16 low = (__mmask16)(has_high ? 0xffff : (1u << n_f) - 1);
    __mmask8 high = (__mmask8)(has_high ? (1u << (n_f - 16)) - 1 : 0);
    struct weights w = { _mm512_maskz_loadu_ps(low, filter), _mm256_setzero_ps() };

    LOG_READ(filter, (has_high ? 16 : n_f) * sizeof(float));
    if (has_high) {
        LOG_READ(filter + 16, (n_f - 16) * sizeof(float));
        w.high = _mm256_maskz_loadu_ps(high, filter + 16);
    }
    IN_REGISTER(w.low);
    IN_REGISTER(w.high);
    return w;
}

static inline __attribute__((always_inline)) void step(const float *in, const float *filter, size_t n_f,
                                                       const size_t n_win, const bool has_high, struct weights *acc)
{
    struct weights w = load_weights(filter, n_f, has_high);

#pragma GCC unroll 12
    for (size_t i = 0; i < n_win; i++) {
        __m512 window = _mm512_set1_ps(in[i]);

        IN_REGISTER(window);
        acc[i].low = _mm512_fmadd_ps(w.low, window, acc[i].low);
        if (has_high)
            acc[i].high = _mm256_fmadd_ps(w.high, _mm512_castps512_ps256(window), acc[i].high);
    }
}

static inline void update_row(float *out, __m128 row, size_t n, bool accumulate)
{
    __mmask8 mask = (__mmask8)((1u << n) - 1);

    if (n == GROUP) {
        _mm_storeu_ps(out, accumulate ? _mm_add_ps(row, _mm_loadu_ps(out)) : row);
        return;
    }
    if (accumulate) {
        LOG_READ(out, n * sizeof(float));
        row = _mm_add_ps(row, _mm_maskz_loadu_ps(mask, out));
    }
    LOG_WRITE(out, n * sizeof(float));
    _mm_mask_storeu_ps(out, mask, row);
}

/* 4x4 blocks: filter f of the four windows lands at rows[f % 4][f / 4 * 4]. */
static inline __attribute__((always_inline)) void transpose(const struct weights acc[GROUP], float rows[GROUP][N_F])
{
    __m512 a = _mm512_unpacklo_ps(acc[0].low, acc[1].low), b = _mm512_unpackhi_ps(acc[0].low, acc[1].low);
    __m512 c = _mm512_unpacklo_ps(acc[2].low, acc[3].low), d = _mm512_unpackhi_ps(acc[2].low, acc[3].low);
    __m256 e = _mm256_unpacklo_ps(acc[0].high, acc[1].high), f = _mm256_unpackhi_ps(acc[0].high, acc[1].high);
    __m256 g = _mm256_unpacklo_ps(acc[2].high, acc[3].high), h = _mm256_unpackhi_ps(acc[2].high, acc[3].high);

    _mm512_storeu_ps(rows[0], _mm512_shuffle_ps(a, c, 0x44));
    _mm512_storeu_ps(rows[1], _mm512_shuffle_ps(a, c, 0xee));
    _mm512_storeu_ps(rows[2], _mm512_shuffle_ps(b, d, 0x44));
    _mm512_storeu_ps(rows[3], _mm512_shuffle_ps(b, d, 0xee));
    _mm256_storeu_ps(rows[0] + 16, _mm256_shuffle_ps(e, g, 0x44));
    _mm256_storeu_ps(rows[1] + 16, _mm256_shuffle_ps(e, g, 0xee));
    _mm256_storeu_ps(rows[2] + 16, _mm256_shuffle_ps(f, h, 0x44));
    _mm256_storeu_ps(rows[3] + 16, _mm256_shuffle_ps(f, h, 0xee));
}

static inline __attribute__((always_inline)) void write_out(const struct conv_ukr_args *a, const struct weights *acc,
                                                            const size_t n_win)
{
#pragma GCC unroll 3
    for (size_t i = 0; i < n_win; i += GROUP) {
        size_t n = n_win - i < GROUP ? n_win - i : GROUP;
        float *out = conv_out_ptr(a->out) + i;
        float rows[GROUP][N_F];

        transpose(acc + i, rows);
        for (size_t f = 0; f < a->n_f; f++, out += a->ld_out)
            update_row(out, _mm_loadu_ps(&rows[f % GROUP][f / GROUP * GROUP]), n, a->accumulate);
    }
}

/* n_sets steps run into accumulators of their own: a few windows alone would wait for each FMA to end. */
static inline __attribute__((always_inline)) void few(const struct conv_ukr_args *a, const size_t n_win,
                                                      const bool has_high, const size_t n_sets)
{
    const float *in = conv_in_ptr(a->in);
    const float *filter = conv_in_ptr(a->filter);
    struct weights acc[MAX_SETS][FEW_WIN];
    size_t ld_in = a->ld_in ? a->ld_in : N_WIN;
    struct ukr_asks asks = ukr_asks_of(a);
    size_t t = 0, n_f = a->n_f;

#pragma GCC unroll 4
    for (size_t s = 0; s < n_sets; s++) {
#pragma GCC unroll 12
        for (size_t i = 0; i < (n_win + GROUP - 1) / GROUP * GROUP; i++)
            acc[s][i] = (struct weights){ _mm512_setzero_ps(), _mm256_setzero_ps() };
    }
    for (; t + n_sets <= a->k; t += n_sets, in += n_sets * ld_in, filter += n_sets * n_f) {
#pragma GCC unroll 4
        for (size_t s = 0; s < n_sets; s++) {
            step(in + s * ld_in, filter + s * n_f, n_f, n_win, has_high, acc[s]);
            ukr_ask(&asks);
        }
    }
    for (; t < a->k; t++, in += ld_in, filter += n_f) {
        step(in, filter, n_f, n_win, has_high, acc[0]);
        ukr_ask(&asks);
    }
#pragma GCC unroll 4
    for (size_t s = 1; s < n_sets; s++) {
#pragma GCC unroll 12
        for (size_t i = 0; i < n_win; i++) {
            acc[0][i].low = _mm512_add_ps(acc[0][i].low, acc[s][i].low);
            acc[0][i].high = _mm256_add_ps(acc[0][i].high, acc[s][i].high);
        }
    }
    write_out(a, acc[0], n_win);
}

#define INSTANCE(n, n_sets)                                                                                            \
    static void low_##n(const struct conv_ukr_args *a)                                                                 \
    {                                                                                                                  \
        few(a, n, false, n_sets);                                                                                      \
    }                                                                                                                  \
    static void both_##n(const struct conv_ukr_args *a)                                                                \
    {                                                                                                                  \
        few(a, n, true, n_sets);                                                                                       \
    }

/* clang-format off */
INSTANCE(1, 4) INSTANCE(2, 3) INSTANCE(3, 2) INSTANCE(4, 2) INSTANCE(5, 1) INSTANCE(6, 1)
INSTANCE(7, 1) INSTANCE(8, 1) INSTANCE(9, 1) INSTANCE(10, 1) INSTANCE(11, 1) INSTANCE(12, 1)

static const conv_ukr_instance_fn instance[FEW_WIN][2] = {
    { low_1, both_1 }, { low_2, both_2 }, { low_3, both_3 }, { low_4, both_4 },
    { low_5, both_5 }, { low_6, both_6 }, { low_7, both_7 }, { low_8, both_8 },
    { low_9, both_9 }, { low_10, both_10 }, { low_11, both_11 }, { low_12, both_12 },
};
/* clang-format on */

static void one_tile(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    (void)u;
    instance[a->n_win - 1][vectors(a->n_f) - 1](a);
}

void conv_f32_ukr_16x24_few__avx512(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    struct conv_ukr_args tile = *a;

    if (is_few(a->n_win, a->n_f))
        conv_ukr_each_tile(u, one_tile, &tile);
    else
        conv_ukr_16x24__avx512.fn(&conv_ukr_16x24__avx512, a);
}
#endif
