/* Packing of windows that stride, with AVX2: four taps of eight windows are four ymm. Descriptor: pack_strided.c. */
#include "kernels/ukr/pack_strided.h"

#if defined(__x86_64__)
#include "kernels/ukr/avx2/x86_shift_avx2.h"
#include "kernels/ukr/x86/x86_mask.h"

enum { LANES = 8 };

/* The live taps of n, zeros elsewhere. */
static inline __attribute__((always_inline)) __m128 load(const struct strided_taps *taps, uint64_t from, size_t window,
                                                         const size_t n, const bool is_whole)
{
    const float *at = conv_in_ptr(taps->in[window] + from);
    const __m128i bit = _mm_setr_epi32(1, 2, 4, 8);
    const uint32_t live = is_whole ? (1u << n) - 1 : taps->live[window];

    IN_ORDER();
    if (is_whole && n == 4)
        return _mm_loadu_ps(at);
    if (is_whole && n == 2)
        return _mm_castsi128_ps(_mm_loadu_si64(at));
    if (!live)
        return _mm_setzero_ps();
    LOG_READ(at + __builtin_ctz(live), (size_t)__builtin_popcount(live) * sizeof(float));
    return _mm_maskload_ps(at, _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32((int)live), bit), bit));
}

static inline __attribute__((always_inline)) __m256 halves(__m128 low, __m128 high)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

/* Windows `window` and window + 4. */
static inline __attribute__((always_inline)) __m256 load_two(const struct strided_taps *taps, uint64_t from,
                                                             size_t window, const size_t n, const bool is_whole)
{
    const __m128 low = load(taps, from, window, n, is_whole);

    return halves(low, load(taps, from, window + 4, n, is_whole));
}

/* Two taps of `window` and window + 1. */
static inline __attribute__((always_inline)) __m128 load_pair(const struct strided_taps *taps, uint64_t from,
                                                              size_t window, const bool is_whole, const bool is_paired)
{
    __m128 first;

    if (is_paired)
        return load(taps, from, window, 4, true);
    first = load(taps, from, window, 2, is_whole);
    return _mm_movelh_ps(first, load(taps, from, window + 1, 2, is_whole));
}

static inline __attribute__((always_inline)) __m256 load_pairs(const struct strided_taps *taps, uint64_t from,
                                                               size_t window, const bool is_whole, const bool is_paired)
{
    const __m128 low = load_pair(taps, from, window, is_whole, is_paired);

    return halves(low, load_pair(taps, from, window + 4, is_whole, is_paired));
}

static inline __attribute__((always_inline)) void store(float *panel, __m256 x)
{
    _mm256_storeu_ps(panel, x);
    IN_ORDER();
}

/* Eight windows of three or four taps. */
static inline __attribute__((always_inline)) void pack_half(const struct strided_taps *taps, uint64_t from,
                                                            size_t window, float *panel, const size_t n,
                                                            const bool is_whole)
{
    const __m256 a = load_two(taps, from, window, n, is_whole), b = load_two(taps, from, window + 1, n, is_whole);
    const __m256 c = load_two(taps, from, window + 2, n, is_whole), d = load_two(taps, from, window + 3, n, is_whole);
    const __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    const __m256 ab2 = _mm256_unpackhi_ps(a, b), cd2 = _mm256_unpackhi_ps(c, d);

    store(panel, _mm256_shuffle_ps(ab, cd, 0x44));
    store(panel + STRIDED_WIN, _mm256_shuffle_ps(ab, cd, 0xee));
    store(panel + 2 * STRIDED_WIN, _mm256_shuffle_ps(ab2, cd2, 0x44));
    if (n == 4)
        store(panel + 3 * STRIDED_WIN, _mm256_shuffle_ps(ab2, cd2, 0xee));
}

static inline __attribute__((always_inline)) void pack_half_of_two(const struct strided_taps *taps, uint64_t from,
                                                                   size_t window, float *panel, const bool is_whole,
                                                                   const bool is_paired)
{
    const __m256 a = load_pairs(taps, from, window, is_whole, is_paired);
    const __m256 b = load_pairs(taps, from, window + 2, is_whole, is_paired);

    store(panel, _mm256_shuffle_ps(a, b, 0x88));
    store(panel + STRIDED_WIN, _mm256_shuffle_ps(a, b, 0xdd));
}

static inline __attribute__((always_inline)) void pack_taps(const struct strided_taps *taps, const size_t n,
                                                            const bool is_whole, const bool is_paired)
{
    uint64_t from = taps->from, panel = taps->panel;

    for (size_t c = taps->n_c; c; c--, from += taps->plane_bytes, panel += taps->channel_bytes) {
#pragma GCC unroll 2
        for (size_t w = 0; w < STRIDED_WIN; w += LANES) {
            if (n == 2)
                pack_half_of_two(taps, from, w, conv_out_ptr(panel) + w, is_whole, is_paired);
            else
                pack_half(taps, from, w, conv_out_ptr(panel) + w, n, is_whole);
        }
    }
}

/* Elements i .. i + 7 of a row of n. */
static inline __attribute__((always_inline)) __m256 load_elements(const struct strided_taps *taps, uint64_t from,
                                                                  ptrdiff_t i, const ptrdiff_t n, const bool is_whole)
{
    const float *at = conv_in_ptr(taps->in[0] + from) + i;
    const ptrdiff_t most = i + LANES < n ? i + LANES - 1 : n - 1;
    const ptrdiff_t first = is_whole || i > taps->first ? i : taps->first;
    const ptrdiff_t last = is_whole || most < taps->last ? most : taps->last;
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i left = _mm256_set1_epi32((int)(first - i - 1)), right = _mm256_set1_epi32((int)(last - i + 1));

    if (is_whole && most == i + LANES - 1)
        return _mm256_loadu_ps(at);
    if (first > last)
        return _mm256_setzero_ps();
    LOG_READ(at + first - i, (size_t)(last - first + 1) * sizeof(float));
    return _mm256_maskload_ps(at, _mm256_and_si256(_mm256_cmpgt_epi32(lane, left), _mm256_cmpgt_epi32(right, lane)));
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
    uint64_t from = taps->from, panel = taps->panel;

    for (size_t c = taps->n_c; c; c--, from += taps->plane_bytes, panel += taps->channel_bytes) {
        float *row = conv_out_ptr(panel);
        __m256 x[6], parted[2][3];

#pragma GCC unroll 5
        for (size_t i = 0; i < 5; i++) {
            x[i] = load_elements(taps, from, (ptrdiff_t)(i * LANES), 2 * (STRIDED_WIN - 1) + (ptrdiff_t)n, is_whole);
            IN_ORDER();
        }
        x[5] = _mm256_setzero_ps();
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
    if (taps->n_taps == 3)
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
    else
        pack_n(taps, 2);
}

void conv_pack_strided_fn__avx2(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a)
{
    (void)self;
    strided(a, pack, NULL);
}
#endif
