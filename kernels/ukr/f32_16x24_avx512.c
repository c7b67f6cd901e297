/*
 * The paper's x86 tile: 16 windows in one zmm, 24 filters in 24 accumulators. One step is one load of the windows and
 * 24 broadcasts; on two FMA ports it takes 12 cycles and 12.5 load slots. Every filter count has an instance of its
 * own, so that edge tiles do no wasted work; partial windows are masked.
 */
#include "kernels/ukr/ukr_table.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86_mask.h"
#include "kernels/ukr/x86_prefetch.h"

#define N_WIN 16
#define N_F 24

static inline __attribute__((always_inline)) void store_tile(float *out, const __m512 acc[N_F], const size_t n_f,
                                                             size_t ld_out, const bool accumulate)
{
#pragma GCC unroll 24
    for (size_t f = 0; f < n_f; f++, out += ld_out)
        _mm512_storeu_ps(out, accumulate ? _mm512_add_ps(acc[f], _mm512_loadu_ps(out)) : acc[f]);
}

static inline __attribute__((always_inline)) void store_part(float *out, const __m512 acc[N_F], const size_t n_f,
                                                             size_t ld_out, const bool accumulate, size_t n_win)
{
    __mmask16 mask = (__mmask16)((1u << n_win) - 1);

#pragma GCC unroll 24
    for (size_t f = 0; f < n_f; f++, out += ld_out) {
        __m512 row = acc[f];

        if (accumulate) {
            LOG_READ(out, n_win * sizeof(float));
            row = _mm512_add_ps(row, _mm512_maskz_loadu_ps(mask, out));
        }
        LOG_WRITE(out, n_win * sizeof(float));
        _mm512_mask_storeu_ps(out, mask, row);
    }
}

static inline __attribute__((always_inline)) void tile(const struct conv_ukr_args *a, const size_t n_f)
{
    const float *in = conv_in_ptr(a->in);
    const float *filter = conv_in_ptr(a->filter);
    float *out = conv_out_ptr(a->out);
    __mmask16 read = (__mmask16)(a->ld_in ? (1u << a->n_win) - 1 : 0xffff);
    size_t ld_in = a->ld_in ? a->ld_in : N_WIN, n_steps = ukr_prefetch_steps(a), k = a->k;
    __m512 acc[N_F];

#pragma GCC unroll 24
    for (size_t f = 0; f < n_f; f++)
        acc[f] = _mm512_setzero_ps();
    for (size_t t = 0; t < k; t++) {
        __m512 windows = _mm512_maskz_loadu_ps(read, in);

        LOG_READ(in, a->ld_in ? a->n_win * sizeof(float) : sizeof windows);
        IN_REGISTER(windows);
#pragma GCC unroll 24
        for (size_t f = 0; f < n_f; f++)
            acc[f] = _mm512_fmadd_ps(windows, _mm512_set1_ps(filter[f]), acc[f]);
        in += ld_in;
        filter += n_f;
        ukr_prefetch(a, n_steps, t);
    }
    if (a->n_win < N_WIN && a->accumulate)
        store_part(out, acc, n_f, a->ld_out, true, a->n_win);
    else if (a->n_win < N_WIN)
        store_part(out, acc, n_f, a->ld_out, false, a->n_win);
    else if (a->accumulate)
        store_tile(out, acc, n_f, a->ld_out, true);
    else
        store_tile(out, acc, n_f, a->ld_out, false);
}

#define INSTANCE(n)                                                                                                    \
    static void tile_##n(const struct conv_ukr_args *a)                                                                \
    {                                                                                                                  \
        tile(a, n);                                                                                                    \
    }

/* clang-format off */
INSTANCE(1) INSTANCE(2) INSTANCE(3) INSTANCE(4) INSTANCE(5) INSTANCE(6)
INSTANCE(7) INSTANCE(8) INSTANCE(9) INSTANCE(10) INSTANCE(11) INSTANCE(12)
INSTANCE(13) INSTANCE(14) INSTANCE(15) INSTANCE(16) INSTANCE(17) INSTANCE(18)
INSTANCE(19) INSTANCE(20) INSTANCE(21) INSTANCE(22) INSTANCE(23) INSTANCE(24)

static const conv_ukr_fn instance[N_F] = {
    tile_1,  tile_2,  tile_3,  tile_4,  tile_5,  tile_6,  tile_7,  tile_8,  tile_9,  tile_10, tile_11, tile_12,
    tile_13, tile_14, tile_15, tile_16, tile_17, tile_18, tile_19, tile_20, tile_21, tile_22, tile_23, tile_24,
};
/* clang-format on */

static void conv_f32_ukr_16x24__avx512(const struct conv_ukr_args *a)
{
    instance[a->n_f - 1](a);
}

#define FN conv_f32_ukr_16x24__avx512
#else
#define FN NULL
#endif

static size_t step_fmas(size_t n_win, size_t n_f)
{
    (void)n_win;
    return n_f;
}

static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    conv_emit_broadcast_loop(u, a, 64, 1, sink);
    conv_emit_tile_update(a, 64, sink);
}

const struct conv_ukr conv_ukr_avx512[1] = {
    { .name = "f32_16x24__avx512",
      .isa = CPU_ISA_AVX512,
      .n_win = 16,
      .n_f = 24,
      .win_granule = 16,
      .f_panel = 24,
      .reads_in_place = true,
      .prefetches = true,
      .step_fmas = step_fmas,
      .fn = FN,
      .emit = emit },
};
