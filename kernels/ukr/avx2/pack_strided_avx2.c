/* Packing of windows that stride, with AVX2: four taps of eight windows are four ymm. Descriptor: pack_strided.c. */
#include "kernels/ukr/pack_strided.h"

#if defined(__x86_64__)
#include "kernels/ukr/avx2/x86_shift_avx2.h"
#include "kernels/ukr/x86/x86_mask.h"

enum { LANES = 8 };

/* The windows of all channels. */
struct windows {
    const uint64_t *in;
    uint8_t live[STRIDED_WIN];
    __m128i mask[STRIDED_WIN]; /* of the live taps */
};

static inline __attribute__((always_inline)) void set_windows(struct windows *w, const struct strided_taps *taps,
                                                              const size_t n, const bool is_whole)
{
    const __m128i bit = _mm_setr_epi32(1, 2, 4, 8);

    w->in = taps->in;
    for (size_t i = 0; i < STRIDED_WIN; i++) {
        w->live[i] = (uint8_t)(is_whole ? (1u << n) - 1 : taps->live[i]);
        w->mask[i] = _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32(w->live[i]), bit), bit);
    }
}

/* The live taps of n, zeros elsewhere. */
static inline __attribute__((always_inline)) __m128 load(const struct windows *w, uint64_t from, size_t window,
                                                         const size_t n, const bool is_whole)
{
    const float *at = conv_in_ptr(w->in[window] + from);

    IN_ORDER();
    if (is_whole && n == 4)
        return _mm_loadu_ps(at);
    if (is_whole && n == 2)
        return _mm_castsi128_ps(_mm_loadu_si64(at));
    if (!is_whole && !w->live[window])
        return _mm_setzero_ps();
    if (n == 1)
        return _mm_load_ss(at);
    LOG_READ(at + __builtin_ctz(w->live[window]), (size_t)__builtin_popcount(w->live[window]) * sizeof(float));
    return _mm_maskload_ps(at, w->mask[is_whole ? 0 : window]);
}

static inline __attribute__((always_inline)) __m256 halves(__m128 low, __m128 high)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

/* Windows `window` and window + 4. */
static inline __attribute__((always_inline)) __m256 load_two(const struct windows *of, uint64_t from, size_t window,
                                                             const size_t n, const bool is_whole)
{
    const __m128 low = load(of, from, window, n, is_whole);

    return halves(low, load(of, from, window + 4, n, is_whole));
}

/* Two taps of `window` and window + 1. */
static inline __attribute__((always_inline)) __m128 load_pair(const struct windows *of, uint64_t from, size_t window,
                                                              const bool is_whole, const bool is_paired)
{
    __m128 first;

    if (is_paired)
        return load(of, from, window, 4, true);
    first = load(of, from, window, 2, is_whole);
    return _mm_movelh_ps(first, load(of, from, window + 1, 2, is_whole));
}

static inline __attribute__((always_inline)) __m256 load_pairs(const struct windows *of, uint64_t from, size_t window,
                                                               const bool is_whole, const bool is_paired)
{
    const __m128 low = load_pair(of, from, window, is_whole, is_paired);

    return halves(low, load_pair(of, from, window + 4, is_whole, is_paired));
}

static inline __attribute__((always_inline)) void store(float *panel, __m256 x)
{
    _mm256_storeu_ps(panel, x);
    IN_ORDER();
}

/* Eight windows of three or four taps. */
static inline __attribute__((always_inline)) void pack_half(const struct windows *of, uint64_t from, size_t window,
                                                            float *panel, const size_t n, const bool is_whole)
{
    const __m256 a = load_two(of, from, window, n, is_whole), b = load_two(of, from, window + 1, n, is_whole);
    const __m256 c = load_two(of, from, window + 2, n, is_whole), d = load_two(of, from, window + 3, n, is_whole);
    const __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    const __m256 ab2 = _mm256_unpackhi_ps(a, b), cd2 = _mm256_unpackhi_ps(c, d);

    store(panel, _mm256_shuffle_ps(ab, cd, 0x44));
    store(panel + STRIDED_WIN, _mm256_shuffle_ps(ab, cd, 0xee));
    store(panel + 2 * STRIDED_WIN, _mm256_shuffle_ps(ab2, cd2, 0x44));
    if (n == 4)
        store(panel + 3 * STRIDED_WIN, _mm256_shuffle_ps(ab2, cd2, 0xee));
}

static inline __attribute__((always_inline)) void pack_half_of_two(const struct windows *of, uint64_t from,
                                                                   size_t window, float *panel, const bool is_whole,
                                                                   const bool is_paired)
{
    const __m256 a = load_pairs(of, from, window, is_whole, is_paired);
    const __m256 b = load_pairs(of, from, window + 2, is_whole, is_paired);

    store(panel, _mm256_shuffle_ps(a, b, 0x88));
    store(panel + STRIDED_WIN, _mm256_shuffle_ps(a, b, 0xdd));
}

/* One tap of `window` and the three windows behind. */
static inline __attribute__((always_inline)) __m128 load_four(const struct windows *of, uint64_t from, size_t window,
                                                              const bool is_whole)
{
    __m128 x = load(of, from, window, 1, is_whole);

    x = _mm_insert_ps(x, load(of, from, window + 1, 1, is_whole), 0x10);
    x = _mm_insert_ps(x, load(of, from, window + 2, 1, is_whole), 0x20);
    return _mm_insert_ps(x, load(of, from, window + 3, 1, is_whole), 0x30);
}

/* Eight windows of a tap. */
static inline __attribute__((always_inline)) void pack_half_of_one(const struct windows *of, uint64_t from,
                                                                   size_t window, float *panel, const bool is_whole)
{
    const __m128 low = load_four(of, from, window, is_whole);

    store(panel, halves(low, load_four(of, from, window + 4, is_whole)));
}

static inline __attribute__((always_inline)) void pack_taps(const struct strided_taps *taps, const size_t n,
                                                            const bool is_whole, const bool is_paired)
{
    const uint64_t in_step = taps->in_step, panel_step = taps->panel_step;
    uint64_t from = taps->from, panel = taps->panel;
    struct windows of;

    set_windows(&of, taps, n, is_whole);
    for (size_t c = taps->n_steps; c; c--, from += in_step, panel += panel_step) {
#pragma GCC unroll 2
        for (size_t w = 0; w < STRIDED_WIN; w += LANES) {
            if (n == 1)
                pack_half_of_one(&of, from, w, conv_out_ptr(panel) + w, is_whole);
            else if (n == 2)
                pack_half_of_two(&of, from, w, conv_out_ptr(panel) + w, is_whole, is_paired);
            else
                pack_half(&of, from, w, conv_out_ptr(panel) + w, n, is_whole);
        }
    }
}

enum { ROW_VECTORS = 5 };

/* The elements of a row that are loaded, by vectors. */
struct elements {
    uint8_t first[ROW_VECTORS], n[ROW_VECTORS];
    __m256i mask[ROW_VECTORS];
};

static inline __attribute__((always_inline)) void set_elements(struct elements *e, ptrdiff_t first, ptrdiff_t last)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

#pragma GCC unroll 5
    for (size_t i = 0; i < ROW_VECTORS; i++, first -= LANES, last -= LANES) {
        const ptrdiff_t from = first > 0 ? first : 0, end = last < LANES ? last + 1 : LANES;

        e->first[i] = (uint8_t)from;
        e->n[i] = (uint8_t)(from < end ? end - from : 0);
        e->mask[i] = _mm256_and_si256(_mm256_cmpgt_epi32(lane, _mm256_set1_epi32((int)from - 1)),
                                      _mm256_cmpgt_epi32(_mm256_set1_epi32((int)end), lane));
    }
}

/* Vector i of a row of n elements. */
static inline __attribute__((always_inline)) __m256 load_elements(const struct elements *e, const float *at, size_t i,
                                                                  const size_t n, const bool is_whole)
{
    IN_ORDER();
    at += i * LANES;
    if (is_whole && (i + 1) * LANES <= n)
        return _mm256_loadu_ps(at);
    if (!e->n[i])
        return _mm256_setzero_ps();
    LOG_READ(at + e->first[i], e->n[i] * sizeof(float));
    return _mm256_maskload_ps(at, e->mask[i]);
}

/* Every second element of two neighbours, from the first (0x88) or the second (0xdd) on. */
static inline __attribute__((always_inline)) __m256 every_second(__m256 x, __m256 y, const int from)
{
    const __m256 both = from == 0x88 ? _mm256_shuffle_ps(x, y, 0x88) : _mm256_shuffle_ps(x, y, 0xdd);

    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(both), 0xd8));
}

/* n taps of a row. */
static inline __attribute__((always_inline)) void pack_row(const struct strided_taps *taps, const size_t n,
                                                           const bool is_whole)
{
    const uint64_t in_step = taps->in_step, panel_step = taps->panel_step;
    uint64_t at = taps->in[0] + taps->from, panel = taps->panel;
    struct elements e;

    set_elements(&e, is_whole ? 0 : taps->first, is_whole ? 2 * (STRIDED_WIN - 1) + (ptrdiff_t)n - 1 : taps->last);
    for (size_t c = taps->n_steps; c; c--, at += in_step, panel += panel_step) {
        float *row = conv_out_ptr(panel);
        __m256 x[ROW_VECTORS + 1], parted[2][3];

#pragma GCC unroll 5
        for (size_t i = 0; i < ROW_VECTORS; i++)
            x[i] = load_elements(&e, conv_in_ptr(at), i, 2 * (STRIDED_WIN - 1) + n, is_whole);
        IN_ORDER();
        x[ROW_VECTORS] = _mm256_setzero_ps();
#pragma GCC unroll 3
        for (size_t i = 0; i < 3; i++) {
            parted[0][i] = every_second(x[2 * i], x[2 * i + 1], 0x88);
            parted[1][i] = every_second(x[2 * i], x[2 * i + 1], 0xdd);
        }
#pragma GCC unroll 7
        for (size_t t = 0; t < n; t++) {
            store(row + t * STRIDED_WIN, shifted_by(parted[t % 2][0], parted[t % 2][1], t / 2));
            store(row + t * STRIDED_WIN + LANES, shifted_by(parted[t % 2][1], parted[t % 2][2], t / 2));
        }
    }
}

static inline __attribute__((always_inline)) void pack_row_n(const struct strided_taps *taps, const size_t n)
{
    if (taps->is_whole)
        pack_row(taps, n, true);
    else
        pack_row(taps, n, false);
}

static void pack_rows(const struct strided_taps *taps)
{
    if (taps->n_taps == 1)
        pack_row_n(taps, 1);
    else if (taps->n_taps == 3)
        pack_row_n(taps, 3);
    else if (taps->n_taps == 4)
        pack_row_n(taps, 4);
    else if (taps->n_taps == 5)
        pack_row_n(taps, 5);
    else if (taps->n_taps == 6)
        pack_row_n(taps, 6);
    else
        pack_row_n(taps, 7);
}

static inline __attribute__((always_inline)) void pack_n(const struct strided_taps *taps, const size_t n)
{
    if (taps->is_whole)
        pack_taps(taps, n, true, false);
    else
        pack_taps(taps, n, false, false);
}

static inline void pack(void *ctx, const struct strided_taps *taps)
{
    (void)ctx;
    if (taps->is_row)
        pack_rows(taps);
    else if (taps->is_paired)
        pack_taps(taps, 2, true, true);
    else if (taps->n_taps == 4)
        pack_n(taps, 4);
    else if (taps->n_taps == 3)
        pack_n(taps, 3);
    else if (taps->n_taps == 2)
        pack_n(taps, 2);
    else
        pack_n(taps, 1);
}

void conv_pack_strided_fn__avx2(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a)
{
    (void)self;
    strided(a, pack, NULL);
}
#endif
