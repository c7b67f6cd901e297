/*
 * Vector-based packing with AVX2: a span is three ymm of 8 elements, each half of a panel row a permutation of two
 * neighbours and a blend. Shifts of up to 8 elements.
 */
#include "kernels/ukr/pack_vbp.h"
#include "kernels/ukr/ukr_table.h"

enum { MAX_SHIFT = 8 };

#if defined(__x86_64__)
#include "kernels/ukr/x86_mask.h"

enum { LANES = 8, N_PIECES = 3 };

struct live_span {
    uint64_t base; /* address of element 0 in channel 0's plane */
    uint32_t valid, positions;
    __m256 x[N_PIECES];
};

/* A vector mask from eight bits. */
static inline __m256i lanes(uint32_t mask)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);

    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)mask), bit), bit);
}

static inline __m256 load(uint64_t address, uint32_t mask)
{
    if (!mask)
        return _mm256_setzero_ps();
    LOG_READ(conv_in_ptr(address) + __builtin_ctz(mask), (size_t)__builtin_popcount(mask) * sizeof(float));
    return _mm256_maskload_ps(conv_in_ptr(address), lanes(mask));
}

static inline __m256 shifted(__m256 x, __m256 y, __m256i index)
{
    __m256 from_y = _mm256_castsi256_ps(_mm256_cmpgt_epi32(index, _mm256_set1_epi32(LANES - 1)));

    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(x, index), _mm256_permutevar8x32_ps(y, index), from_y);
}

static inline void store_rows(const struct live_span *live, size_t n, size_t n_rows, size_t dilation, float *panel)
{
    const __m256i iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    for (size_t fw = 0; fw < n_rows; fw++) {
        __m256i index = _mm256_add_epi32(iota, _mm256_set1_epi32((int)(fw * dilation)));

        for (size_t half = 0; half < VBP_WIN / LANES; half++, panel += LANES) {
            __m256 row = _mm256_setzero_ps();

            for (size_t g = 0; g < n; g++)
                row = _mm256_blendv_ps(row, shifted(live[g].x[half], live[g].x[half + 1], index),
                                       _mm256_castsi256_ps(lanes(live[g].positions >> (LANES * half) & 0xff)));
            _mm256_storeu_ps(panel, row);
        }
    }
}

static size_t live_spans(const struct conv_pack_windows_args *a, const struct conv_segment *segment, size_t n_segments,
                         size_t fh, struct live_span *live)
{
    struct vbp_span span[CONV_MAX_WIN];
    size_t n = vbp_spans(a, segment, n_segments, fh, span);

    for (size_t g = 0; g < n; g++) {
        live[g].base = a->in + (uint64_t)(span[g].offset * (int64_t)sizeof(float));
        live[g].valid = span[g].valid;
        live[g].positions = span[g].positions;
    }
    return n;
}

static void conv_pack_windows__avx2(const struct conv_pack_windows_args *a)
{
    const struct conv_problem *p = a->p;
    struct conv_segment segment[CONV_MAX_WIN];
    struct live_span live[VBP_WIN];
    size_t n_segments = conv_segments(p, a->win0, a->n_win, segment);
    uint64_t plane_bytes = p->h * p->w * sizeof(float);

    for (size_t fh = 0; fh < p->r; fh++) {
        float *panel = conv_out_ptr(a->panel) + fh * p->s * VBP_WIN;
        size_t n = live_spans(a, segment, n_segments, fh, live);

        for (size_t c = 0; c < a->n_c; c++, panel += p->r * p->s * VBP_WIN) {
            for (size_t g = 0; g < n; g++) {
                for (size_t i = 0; i < N_PIECES; i++)
                    live[g].x[i] = load(live[g].base + c * plane_bytes + i * LANES * sizeof(float),
                                        live[g].valid >> (LANES * i) & 0xff);
            }
            store_rows(live, n, p->s, p->dilation_w, panel);
        }
    }
}

#define FN conv_pack_windows__avx2
#else
#define FN NULL
#endif

static void emit(const struct conv_pack_windows_args *a, struct sim_sink *sink)
{
    vbp_emit(a, 32, sink);
}

static bool can_pack(const struct conv_problem *p)
{
    return vbp_suits(p, MAX_SHIFT);
}

const struct conv_pack_windows conv_pack_windows_avx2 = {
    .name = "pack_windows__avx2",
    .isa = CPU_ISA_AVX2,
    .width = VBP_WIN,
    .fn = FN,
    .emit = emit,
    .can_pack = can_pack,
};
