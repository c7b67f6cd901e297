/*
 * Vector-based packing with AVX2: a span is up to four ymm of 8 elements, each half of a panel row a permutation of two
 * neighbours and a blend.
 */
#include "kernels/ukr/pack_vbp.h"
#include "kernels/ukr/ukr_table.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86_mask.h"

enum { LANES = 8, N_PIECES = 4 };

struct live_span {
    uint64_t base;             /* address of element 0 in channel 0's plane */
    uint32_t valid, positions; /* elements to load; positions of the tile */
};

/* A tile's spans for one filter row. */
struct live_tile {
    size_t n;
    float *panel; /* of channel 0 */
    struct live_span span[VBP_WIN];
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

/* The panel rows of one channel and group of columns: shifts of the spans, put together. */
static inline void pack_channel(const struct live_tile *live, const struct conv_problem *p, uint64_t plane,
                                __m256i lane, size_t n_rows, float *panel)
{
    __m256 x[VBP_WIN][N_PIECES];

    for (size_t g = 0; g < live->n; g++) {
        for (size_t i = 0; i < N_PIECES; i++)
            x[g][i] =
                load(live->span[g].base + plane + i * LANES * sizeof(float), live->span[g].valid >> (LANES * i) & 0xff);
    }
    for (size_t fw = 0; fw < n_rows; fw++) {
        __m256i index = _mm256_add_epi32(lane, _mm256_set1_epi32((int)(fw * p->dilation_w)));

        for (size_t half = 0; half < VBP_WIN / LANES; half++, panel += LANES) {
            __m256 row = _mm256_setzero_ps();

            for (size_t g = 0; g < live->n; g++)
                row = _mm256_blendv_ps(row, shifted(x[g][half * p->stride_w], x[g][half * p->stride_w + 1], index),
                                       _mm256_castsi256_ps(lanes(live->span[g].positions >> (LANES * half) & 0xff)));
            _mm256_storeu_ps(panel, row);
        }
    }
}

static void set_live(const struct conv_pack_windows_args *a, const struct conv_tile *t, struct vbp_columns c,
                     struct live_tile *live)
{
    struct vbp_span span[VBP_WIN];

    live->n = vbp_spans(a->p, t, c, span);
    live->panel = conv_out_ptr(t->panel) + (c.fh * a->p->s + c.fw0) * VBP_WIN;
    for (size_t g = 0; g < live->n; g++) {
        live->span[g].base = a->in + (uint64_t)(span[g].offset * (int64_t)sizeof(float));
        live->span[g].valid = span[g].valid;
        live->span[g].positions = span[g].positions;
    }
}

static void pack_columns(const struct conv_pack_windows_args *a, const struct conv_tiles *tiles,
                         struct vbp_columns columns)
{
    const struct conv_problem *p = a->p;
    uint64_t plane_bytes = p->h * p->w * sizeof(float);
    size_t channel_step = p->r * p->s * VBP_WIN;
    struct live_tile live[CONV_PACK_TILES];
    const __m256i iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i lane = _mm256_mullo_epi32(iota, _mm256_set1_epi32((int)p->stride_w));

    for (size_t t = 0; t < tiles->n; t++)
        set_live(a, &tiles->tile[t], columns, &live[t]);
    for (size_t c = 0; c < a->n_c; c++) {
        for (size_t t = 0; t < tiles->n; t++)
            pack_channel(&live[t], p, c * plane_bytes, lane, columns.n, live[t].panel + c * channel_step);
    }
}

static void conv_pack_windows__avx2(const struct conv_pack_windows_args *a)
{
    vbp_pack(a, LANES, pack_columns);
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
    return vbp_suits(p);
}

const struct conv_pack_windows conv_pack_windows_avx2 = {
    .name = "pack_windows__avx2",
    .isa = CPU_ISA_AVX2,
    .width = VBP_WIN,
    .fn = FN,
    .emit = emit,
    .can_pack = can_pack,
};
