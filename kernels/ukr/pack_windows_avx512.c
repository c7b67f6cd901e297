/*
 * Vector-based packing with AVX-512: a span is two zmm of 16 elements, a panel row one two-register permutation per
 * segment. Shifts of up to 16 elements.
 */
#include "kernels/ukr/pack_vbp.h"
#include "kernels/ukr/ukr_table.h"

enum { MAX_SHIFT = 16 };

#if defined(__x86_64__)
#include "kernels/ukr/x86_mask.h"

struct live_span {
    uint64_t base; /* address of element 0 in channel 0's plane */
    __mmask16 low, high, positions;
    __m512 x, y;   /* elements 0 .. 15 and 16 .. 31 of the current channel */
};

static inline __m512 load(uint64_t address, __mmask16 mask)
{
    if (!mask)
        return _mm512_setzero_ps();
    LOG_READ(conv_in_ptr(address) + __builtin_ctz(mask), (size_t)__builtin_popcount(mask) * sizeof(float));
    return _mm512_maskz_loadu_ps(mask, conv_in_ptr(address));
}

static inline void store_rows(const struct live_span *live, size_t n, size_t n_rows, size_t dilation, float *panel)
{
    const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

    for (size_t fw = 0; fw < n_rows; fw++, panel += VBP_WIN) {
        __m512i index = _mm512_add_epi32(iota, _mm512_set1_epi32((int)(fw * dilation)));
        __m512 row = _mm512_setzero_ps();

        for (size_t g = 0; g < n; g++)
            row = _mm512_mask_mov_ps(row, live[g].positions, _mm512_permutex2var_ps(live[g].x, index, live[g].y));
        _mm512_storeu_ps(panel, row);
    }
}

static size_t live_spans(const struct conv_pack_windows_args *a, const struct conv_segment *segment, size_t n_segments,
                         size_t fh, struct live_span *live)
{
    struct vbp_span span[CONV_MAX_WIN];
    size_t n = vbp_spans(a, segment, n_segments, fh, span);

    for (size_t g = 0; g < n; g++) {
        live[g].base = a->in + (uint64_t)(span[g].offset * (int64_t)sizeof(float));
        live[g].low = (__mmask16)span[g].valid;
        live[g].high = (__mmask16)(span[g].valid >> 16);
        live[g].positions = (__mmask16)span[g].positions;
    }
    return n;
}

static void conv_pack_windows__avx512(const struct conv_pack_windows_args *a)
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
                live[g].x = load(live[g].base + c * plane_bytes, live[g].low);
                live[g].y = load(live[g].base + c * plane_bytes + 64, live[g].high);
            }
            store_rows(live, n, p->s, p->dilation_w, panel);
        }
    }
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
    return vbp_suits(p, MAX_SHIFT);
}

const struct conv_pack_windows conv_pack_windows_avx512 = {
    .name = "pack_windows__avx512",
    .isa = CPU_ISA_AVX512,
    .width = VBP_WIN,
    .fn = FN,
    .emit = emit,
    .can_pack = can_pack,
};
