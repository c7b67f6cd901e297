/* Packing of windows that stride, with AVX2: four taps of eight windows are four ymm. Descriptor: pack_strided.c. */
#include "kernels/ukr/pack_strided.h"

#if defined(__x86_64__)
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

/* Eight windows. */
static inline __attribute__((always_inline)) void pack_half(const struct strided_taps *taps, uint64_t from,
                                                            size_t window, float *panel, const size_t n,
                                                            const bool is_whole)
{
    const __m256 a = load_two(taps, from, window, n, is_whole), b = load_two(taps, from, window + 1, n, is_whole);
    const __m256 c = load_two(taps, from, window + 2, n, is_whole), d = load_two(taps, from, window + 3, n, is_whole);
    const __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    const __m256 ab2 = _mm256_unpackhi_ps(a, b), cd2 = _mm256_unpackhi_ps(c, d);

    store(panel, _mm256_shuffle_ps(ab, cd, 0x44));
    if (n > 1)
        store(panel + STRIDED_WIN, _mm256_shuffle_ps(ab, cd, 0xee));
    if (n > 2)
        store(panel + 2 * STRIDED_WIN, _mm256_shuffle_ps(ab2, cd2, 0x44));
    if (n > 3)
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
    if (taps->is_paired)
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
