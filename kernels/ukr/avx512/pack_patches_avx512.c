/* Packing of patches with AVX-512: four taps of sixteen windows are four zmm. Descriptor: pack_patches.c. */
#include "kernels/ukr/pack_patches.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86/x86_mask.h"

/* The first n taps; 0 behind the last window. */
static inline __attribute__((always_inline)) __m128 load(const struct patch *patch, size_t window, const size_t n,
                                                         const bool is_full)
{
    const float *at;

    IN_ORDER();
    if (!is_full && window >= patch->n_win)
        return _mm_setzero_ps();
    at = conv_in_ptr(patch->in[window]);
    if (n == PATCH_TAPS)
        return _mm_loadu_ps(at);
    LOG_READ(at, n * sizeof(float));
    return _mm_maskz_loadu_ps((__mmask8)((1u << n) - 1), at);
}

static inline __attribute__((always_inline)) __m512 load_windows(const struct patch *patch, size_t j, const size_t n,
                                                                 const bool is_full)
{
    __m512 x = _mm512_castps128_ps512(load(patch, j, n, is_full));

    x = _mm512_insertf32x4(x, load(patch, j + 4, n, is_full), 1);
    x = _mm512_insertf32x4(x, load(patch, j + 8, n, is_full), 2);
    return _mm512_insertf32x4(x, load(patch, j + 12, n, is_full), 3);
}

static inline __m512 low_pairs(__m512 a, __m512 b)
{
    return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

static inline __m512 high_pairs(__m512 a, __m512 b)
{
    return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

static inline __attribute__((always_inline)) void pack_taps(const struct patch *patch, const size_t n,
                                                            const bool is_full)
{
    const __m512 a = load_windows(patch, 0, n, is_full), b = load_windows(patch, 1, n, is_full);
    const __m512 c = load_windows(patch, 2, n, is_full), d = load_windows(patch, 3, n, is_full);
    const __m512 ab = _mm512_unpacklo_ps(a, b), cd = _mm512_unpacklo_ps(c, d);
    const __m512 ab2 = _mm512_unpackhi_ps(a, b), cd2 = _mm512_unpackhi_ps(c, d);
    float *panel = conv_out_ptr(patch->panel);

    _mm512_storeu_ps(panel, low_pairs(ab, cd));
    if (n > 1)
        _mm512_storeu_ps(panel + PATCH_WIN, high_pairs(ab, cd));
    if (n > 2)
        _mm512_storeu_ps(panel + 2 * PATCH_WIN, low_pairs(ab2, cd2));
    if (n > 3)
        _mm512_storeu_ps(panel + 3 * PATCH_WIN, high_pairs(ab2, cd2));
}

static inline void pack_patch(void *ctx, const struct patch *patch)
{
    bool is_full = patch->n_win == PATCH_WIN;

    (void)ctx;
    if (is_full && patch->n_taps == PATCH_TAPS)
        pack_taps(patch, 4, true);
    else if (patch->n_taps == PATCH_TAPS)
        pack_taps(patch, 4, false);
    else if (patch->n_taps == 3)
        pack_taps(patch, 3, false);
    else if (patch->n_taps == 2)
        pack_taps(patch, 2, false);
    else
        pack_taps(patch, 1, false);
}

void conv_pack_patches_fn__avx512(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a)
{
    (void)self;
    patches(a, pack_patch, NULL);
}
#endif
