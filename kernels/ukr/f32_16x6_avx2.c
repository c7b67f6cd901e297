/*
 * 16 windows in two ymm, 6 filters: 12 accumulators, two windows, one broadcast, of 16 registers. Partial windows are
 * masked; a tile of at most 8 windows skips the second half's output, not its arithmetic.
 */
#include "kernels/ukr/ukr_table.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86_mask.h"
#include "kernels/ukr/x86_prefetch.h"

#define N_WIN 16
#define N_F 6

/* Lanes [0, n) set; n may exceed 8 or be negative. */
static inline __m256i lanes(long n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline void store_half(float *out, __m256 acc, long n, bool accumulate)
{
    if (n >= 8) {
        _mm256_storeu_ps(out, accumulate ? _mm256_add_ps(acc, _mm256_loadu_ps(out)) : acc);
        return;
    }
    if (n <= 0)
        return;
    if (accumulate) {
        LOG_READ(out, (size_t)n * sizeof(float));
        acc = _mm256_add_ps(acc, _mm256_maskload_ps(out, lanes(n)));
    }
    LOG_WRITE(out, (size_t)n * sizeof(float));
    _mm256_maskstore_ps(out, lanes(n), acc);
}

static inline __attribute__((always_inline)) void tile(const struct conv_ukr_args *a, const size_t n_f)
{
    const float *in = conv_in_ptr(a->in);
    const float *filter = conv_in_ptr(a->filter);
    float *out = conv_out_ptr(a->out);
    __m256 low[N_F], high[N_F];
    size_t n_steps = ukr_prefetch_steps(a);

#pragma GCC unroll 6
    for (size_t f = 0; f < n_f; f++)
        low[f] = high[f] = _mm256_setzero_ps();
    for (size_t t = 0; t < a->k; t++) {
        __m256 win_low = _mm256_loadu_ps(in);
        __m256 win_high = _mm256_loadu_ps(in + 8);

        IN_REGISTER(win_low);
        IN_REGISTER(win_high);
#pragma GCC unroll 6
        for (size_t f = 0; f < n_f; f++) {
            __m256 weight = _mm256_set1_ps(filter[f]);

            low[f] = _mm256_fmadd_ps(win_low, weight, low[f]);
            high[f] = _mm256_fmadd_ps(win_high, weight, high[f]);
        }
        in += N_WIN;
        filter += n_f;
        ukr_prefetch(a, n_steps, t);
    }
#pragma GCC unroll 6
    for (size_t f = 0; f < n_f; f++) {
        store_half(out + f * a->ld_out, low[f], (long)a->n_win, a->accumulate);
        store_half(out + f * a->ld_out + 8, high[f], (long)a->n_win - 8, a->accumulate);
    }
}

#define INSTANCE(n)                                                                                                    \
    static void tile_##n(const struct conv_ukr_args *a)                                                                \
    {                                                                                                                  \
        tile(a, n);                                                                                                    \
    }

/* clang-format off */
INSTANCE(1) INSTANCE(2) INSTANCE(3) INSTANCE(4) INSTANCE(5) INSTANCE(6)

static const conv_ukr_instance_fn instance[N_F] = { tile_1, tile_2, tile_3, tile_4, tile_5, tile_6 };
/* clang-format on */

static void conv_f32_ukr_16x6__avx2(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    (void)u;
    instance[a->n_f - 1](a);
}

#define FN conv_f32_ukr_16x6__avx2
#else
#define FN NULL
#endif

static size_t step_fmas(size_t n_win, size_t n_f)
{
    (void)n_win;
    return 2 * n_f;
}

static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    conv_emit_broadcast_loop(u, a, 32, 2, sink);
    conv_emit_tile_update(a, 32, sink);
}

const struct conv_ukr conv_ukr_avx2[1] = {
    { .name = "f32_16x6__avx2",
      .isa = CPU_ISA_AVX2,
      .n_win = 16,
      .n_f = 6,
      .win_granule = 16,
      .f_panel = 6,
      .prefetches = true,
      .step_fmas = step_fmas,
      .fn = FN,
      .emit = emit },
};
