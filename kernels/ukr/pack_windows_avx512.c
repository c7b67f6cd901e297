/*
 * Vector-based packing with AVX-512: a span is two zmm of 16 elements, a panel row one two-register permutation per
 * segment.
 */
#include "kernels/ukr/pack_vbp.h"
#include "kernels/ukr/ukr_table.h"

#if defined(__x86_64__)
#include "kernels/ukr/x86_mask.h"

enum { LANES = 16 };

struct live_span {
    uint64_t base;                  /* address of element 0 in channel 0's plane */
    __mmask16 low, high, positions; /* elements 0 .. 15, 16 .. 31; positions of the tile */
};

/* A tile's spans for one group of columns. */
struct live_tile {
    size_t n;
    bool is_copy; /* one whole vector, unshifted, makes the only row */
    float *panel; /* of channel 0 */
    struct live_span span[VBP_WIN];
};

static inline __m512 load(uint64_t address, __mmask16 mask)
{
    if (!mask)
        return _mm512_setzero_ps();
    LOG_READ(conv_in_ptr(address) + __builtin_ctz(mask), (size_t)__builtin_popcount(mask) * sizeof(float));
    return _mm512_maskz_loadu_ps(mask, conv_in_ptr(address));
}

/* The rows of a tile inside one output row: shifts of one span. */
static inline void pack_one_span(const struct live_span *span, uint64_t plane, __m512i index, __m512i dilation,
                                 size_t n_rows, float *panel)
{
    __m512 low = load(span->base + plane, span->low);
    __m512 high = load(span->base + plane + 64, span->high);

    for (size_t fw = 0; fw < n_rows; fw++, panel += VBP_WIN, index = _mm512_add_epi32(index, dilation))
        _mm512_storeu_ps(panel, _mm512_maskz_permutex2var_ps(span->positions, low, index, high));
}

/* The panel rows of one channel and group of columns: shifts of the spans, put together. */
static inline void pack_spans(const struct live_tile *live, uint64_t plane, __m512i index, __m512i dilation,
                              size_t n_rows, float *panel)
{
    __m512 low[VBP_WIN], high[VBP_WIN];

    for (size_t g = 0; g < live->n; g++) {
        low[g] = load(live->span[g].base + plane, live->span[g].low);
        high[g] = load(live->span[g].base + plane + 64, live->span[g].high);
    }
    for (size_t fw = 0; fw < n_rows; fw++, panel += VBP_WIN, index = _mm512_add_epi32(index, dilation)) {
        __m512 row = _mm512_setzero_ps();

        for (size_t g = 0; g < live->n; g++)
            row = _mm512_mask_mov_ps(row, live->span[g].positions, _mm512_permutex2var_ps(low[g], index, high[g]));
        _mm512_storeu_ps(panel, row);
    }
}

static inline void pack_channel(const struct live_tile *live, uint64_t plane, __m512i index, __m512i dilation,
                                size_t n_rows, float *panel)
{
    if (live->is_copy)
        _mm512_storeu_ps(panel, _mm512_loadu_ps(conv_in_ptr(live->span[0].base + plane)));
    else if (live->n == 1)
        pack_one_span(&live->span[0], plane, index, dilation, n_rows, panel);
    else
        pack_spans(live, plane, index, dilation, n_rows, panel);
}

static void set_live(const struct conv_pack_windows_args *a, const struct conv_tile *t, struct vbp_columns c,
                     struct live_tile *live)
{
    struct vbp_span span[VBP_WIN];

    live->n = vbp_spans(a->p, t, c, span);
    live->panel = conv_out_ptr(t->panel) + (c.fh * a->p->s + c.fw0) * VBP_WIN;
    for (size_t g = 0; g < live->n; g++) {
        live->span[g].base = a->in + (uint64_t)(span[g].offset * (int64_t)sizeof(float));
        live->span[g].low = (__mmask16)span[g].valid;
        live->span[g].high = (__mmask16)(span[g].valid >> 16);
        live->span[g].positions = (__mmask16)span[g].positions;
    }
    live->is_copy =
        live->n == 1 && c.n == 1 && a->p->stride_w == 1 && span[0].valid == 0xffff && span[0].positions == 0xffff;
}

static void pack_columns(const struct conv_pack_windows_args *a, const struct conv_tiles *tiles,
                         struct vbp_columns columns)
{
    const struct conv_problem *p = a->p;
    uint64_t plane_bytes = p->h * p->w * sizeof(float);
    size_t channel_step = p->r * p->s * VBP_WIN;
    struct live_tile live[CONV_PACK_TILES];
    const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i index = _mm512_mullo_epi32(iota, _mm512_set1_epi32((int)p->stride_w));
    const __m512i dilation = _mm512_set1_epi32((int)p->dilation_w);

    for (size_t t = 0; t < tiles->n; t++)
        set_live(a, &tiles->tile[t], columns, &live[t]);
    for (size_t c = 0; c < a->n_c; c++) {
        for (size_t t = 0; t < tiles->n; t++)
            pack_channel(&live[t], c * plane_bytes, index, dilation, columns.n, live[t].panel + c * channel_step);
    }
}

static void conv_pack_windows__avx512(const struct conv_pack_windows_args *a)
{
    vbp_pack(a, LANES, pack_columns);
}

#define FN conv_pack_windows__avx512
#else
#define FN NULL
#endif

static void emit(const struct conv_pack_windows_args *a, struct sim_sink *sink)
{
    vbp_emit(a, 64, sink);
}

static bool can_pack(const struct conv_problem *p)
{
    return vbp_suits(p);
}

const struct conv_pack_windows conv_pack_windows_avx512 = {
    .name = "pack_windows__avx512",
    .isa = CPU_ISA_AVX512,
    .width = VBP_WIN,
    .fn = FN,
    .emit = emit,
    .can_pack = can_pack,
};
