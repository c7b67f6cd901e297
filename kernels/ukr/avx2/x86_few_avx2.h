/*
 * The register tile of the AVX2 micro-kernels for few windows: the four or six filters of a panel side by side in a
 * ymm, a broadcast and an accumulator per window. Rows of the output hold windows, so sums are transposed on the way
 * out, four windows at a time. Internal to kernels/ukr.
 */
#ifndef KERNELS_UKR_X86_FEW_AVX2_H
#define KERNELS_UKR_X86_FEW_AVX2_H

#include "kernels/ukr/avx2/f32_16x24_avx2.h"
#include "kernels/ukr/avx2/x86_tile_avx2.h"

static inline __attribute__((always_inline)) __m128 few_load_two(const float *in)
{
    return _mm_castsi128_ps(_mm_loadu_si64(in));
}

/* A panel's filters at a step: n_f is 4 or 6. */
static inline __attribute__((always_inline)) __m256 few_weights(const float *filter, const size_t n_f)
{
    __m256 weights = _mm256_zextps128_ps256(_mm_loadu_ps(filter));

    if (n_f > 4)
        weights = _mm256_insertf128_ps(weights, few_load_two(filter + 4), 1);
    IN_REGISTER(weights);
    return weights;
}

static inline __attribute__((always_inline)) void few_step(const float *in, const float *filter, const size_t n_f,
                                                           const size_t n_win, __m256 *acc)
{
    __m256 weights = few_weights(filter, n_f);

#pragma GCC unroll 10
    for (size_t i = 0; i < n_win; i++)
        acc[i] = _mm256_fmadd_ps(weights, _mm256_set1_ps(in[i]), acc[i]);
}

/* n windows of a row; one, two and four windows are whole accesses, which cost less than masked accesses. */
static inline __attribute__((always_inline)) void few_update_row(float *out, __m128 row, const size_t n,
                                                                 bool accumulate)
{
    if (n == 4) {
        _mm_storeu_ps(out, accumulate ? _mm_add_ps(row, _mm_loadu_ps(out)) : row);
    } else if (n == 1) {
        _mm_store_ss(out, accumulate ? _mm_add_ss(row, _mm_load_ss(out)) : row);
    } else if (n == 2) {
        row = accumulate ? _mm_add_ps(row, few_load_two(out)) : row;
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
static inline __attribute__((always_inline)) void few_transpose(const __m256 acc[GROUP], __m256 rows[GROUP])
{
    __m256 a = _mm256_unpacklo_ps(acc[0], acc[1]), b = _mm256_unpackhi_ps(acc[0], acc[1]);
    __m256 c = _mm256_unpacklo_ps(acc[2], acc[3]), d = _mm256_unpackhi_ps(acc[2], acc[3]);

    rows[0] = _mm256_shuffle_ps(a, c, 0x44);
    rows[1] = _mm256_shuffle_ps(a, c, 0xee);
    rows[2] = _mm256_shuffle_ps(b, d, 0x44);
    rows[3] = _mm256_shuffle_ps(b, d, 0xee);
}

static inline __attribute__((always_inline)) void few_write_out(float *out, size_t ld_out, bool accumulate,
                                                                const __m256 *acc, const size_t n_win, const size_t n_f)
{
#pragma GCC unroll 3
    for (size_t i = 0; i < n_win; i += GROUP) {
        const size_t n = n_win - i < GROUP ? n_win - i : GROUP;
        float *row = out + i;
        __m256 rows[GROUP];

        few_transpose(acc + i, rows);
#pragma GCC unroll 6
        for (size_t f = 0; f < n_f; f++, row += ld_out)
            few_update_row(row, f < GROUP ? _mm256_castps256_ps128(rows[f]) : _mm256_extractf128_ps(rows[f - GROUP], 1),
                           n, accumulate);
    }
}

/* Four windows, in both halves of a ymm. */
static inline __attribute__((always_inline)) __m256 pairs_windows(const float *in)
{
    __m256 windows;

    LOG_READ(in, GROUP * sizeof(float));
    windows = _mm256_broadcast_ps((const __m128 *)in);
    IN_REGISTER(windows);
    return windows;
}

/* Two filters, each in half a ymm. */
static inline __attribute__((always_inline)) __m256 pairs_weights(const float *filter)
{
    const __m256i halves = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);

    LOG_READ(filter, 2 * sizeof(float));
    return _mm256_permutevar_ps(_mm256_castpd_ps(_mm256_broadcast_sd((const double *)filter)), halves);
}

static inline __attribute__((always_inline)) void pairs_step(const float *in, const float *filter, const size_t n_f,
                                                             __m256 *acc)
{
    __m256 windows = pairs_windows(in);

#pragma GCC unroll 3
    for (size_t i = 0; i < n_f / 2; i++)
        acc[i] = _mm256_fmadd_ps(windows, pairs_weights(filter + 2 * i), acc[i]);
}

static inline __attribute__((always_inline)) void pairs_write_out(float *out, size_t ld_out, bool accumulate,
                                                                  const __m256 *acc, const size_t n_f)
{
#pragma GCC unroll 6
    for (size_t f = 0; f < n_f; f++, out += ld_out)
        few_update_row(out, f % 2 ? _mm256_extractf128_ps(acc[f / 2], 1) : _mm256_castps256_ps128(acc[f / 2]), GROUP,
                       accumulate);
}

#endif
