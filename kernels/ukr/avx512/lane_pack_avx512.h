/*
 * Packing of windows into lanes of several channels, with a stride along the width of 1 or 2: a row of a panel is put
 * together in a zmm, of masked loads of each channel. Borders cost no tests inside. The including file defines
 *
 *   ELEMENT_BYTES, N_CHANNELS   bytes of an element; channels of a lane
 *   LOAD(mask, at)              16 elements, zeros where the mask has none, widened to lanes
 *   LOAD_2(mask, at)            likewise, the even elements of 32
 *   FLIP                        exclusive-ored to all lanes
 *   PACK                        the name of the function
 */
#ifndef KERNELS_UKR_LANE_PACK_AVX512_H
#define KERNELS_UKR_LANE_PACK_AVX512_H

#include "kernels/ukr/lanes.h"
#include "kernels/ukr/x86/x86_mask.h"

/* Elements of a channel that a row of a panel takes from a segment: bit e of the mask is element e after `at`. */
struct lane_span {
    int64_t at; /* bytes after the channel's start; may lie before */
    __mmask32 mask;
};

/*
 * The spans of a tap's rows, tile after tile, are the same for all channels: the spans of the first taps are kept, as
 * many taps as there is room for; the spans of later taps are found anew for each lane.
 */
enum { KEPT_SPANS = 1024, TAP_SPANS = CONV_PACK_TILES * 16 };

struct tap_spans {
    size_t n; /* of all tiles */
    uint8_t of_tile[CONV_PACK_TILES];
};

struct lane_spans {
    size_t n_taps, n;
    struct lane_span span[KEPT_SPANS];
    struct tap_spans tap[KEPT_SPANS / 4];
};

static inline __attribute__((always_inline)) struct tap_spans find_spans(const struct conv_problem *p,
                                                                         const struct conv_tiles *tiles, size_t tap,
                                                                         const size_t stride, struct lane_span *span)
{
    const size_t fh = tap / p->s, fw = tap % p->s;
    struct lane_span *next = span;
    struct tap_spans found;

    for (size_t t = 0; t < tiles->n; t++) {
        const struct lane_span *first_of_tile = next;

        for (size_t g = 0; g < tiles->tile[t].n_segments; g++) {
            const struct conv_lane_part part = conv_lane_part(p, &tiles->tile[t].segment[g], fh, fw);
            const size_t first = part.first * stride;

            if (!part.n)
                continue;
            next->at = ((int64_t)part.element - (int64_t)first) * ELEMENT_BYTES;
            next++->mask = (__mmask32)(((1u << part.span) - 1) << first);
        }
        found.of_tile[t] = (uint8_t)(next - first_of_tile);
    }
    found.n = (size_t)(next - span);
    return found;
}

static inline __attribute__((always_inline)) void
keep_spans(const struct conv_problem *p, const struct conv_tiles *tiles, const size_t stride, struct lane_spans *kept)
{
    const size_t most = min_size(p->r * p->s, sizeof kept->tap / sizeof kept->tap[0]);

    for (kept->n = kept->n_taps = 0; kept->n_taps < most && kept->n + TAP_SPANS <= KEPT_SPANS; kept->n_taps++) {
        kept->tap[kept->n_taps] = find_spans(p, tiles, kept->n_taps, stride, kept->span + kept->n);
        kept->n += kept->tap[kept->n_taps].n;
    }
}

/* Packs a tile's row out of n_spans spans: a tap of n channels from `in` on. */
static inline __attribute__((always_inline)) void pack_row(const struct lane_span *span, size_t n_spans, uint64_t in,
                                                           uint64_t plane, const size_t n, const size_t stride,
                                                           uint64_t panel)
{
    __m512i lanes = _mm512_set1_epi32(FLIP);

    for (; n_spans; n_spans--, span++) {
        const __mmask32 mask = span->mask;
        uint64_t at = in + (uint64_t)span->at;

#pragma GCC unroll 4
        for (unsigned c = 0; c < n; c++, at += plane) {
            const void *from = (const void *)(uintptr_t)at;
            const __m512i channel = stride == 1 ? LOAD((__mmask16)mask, from) : LOAD_2(mask, from);

            LOG_READ((const char *)from + __builtin_ctz(mask) * ELEMENT_BYTES,
                     (size_t)__builtin_popcount(mask) * ELEMENT_BYTES);
            lanes = _mm512_xor_si512(lanes, _mm512_slli_epi32(channel, c * 8 * ELEMENT_BYTES));
        }
    }
    _mm512_storeu_si512((void *)(uintptr_t)panel, lanes);
}

/* Packs a lane of n channels, which start at `in` and whose rows start at `row` in a panel. */
static inline __attribute__((always_inline)) void pack_lane(const struct conv_pack_windows_args *a,
                                                            const struct conv_tiles *tiles,
                                                            const struct lane_spans *kept, uint64_t in, const size_t n,
                                                            const size_t stride, size_t row)
{
    const struct conv_problem *p = a->p;
    const uint64_t plane = p->h * p->w * ELEMENT_BYTES;
    const struct lane_span *span = kept->span;

    for (size_t tap = 0; tap < p->r * p->s; tap++, row++) {
        struct lane_span found[TAP_SPANS];
        struct tap_spans late;
        const struct tap_spans *of_tap = &kept->tap[tap];

        if (tap >= kept->n_taps) {
            late = find_spans(p, tiles, tap, stride, found);
            of_tap = &late;
            span = found;
        }
        for (size_t t = 0; t < tiles->n; span += of_tap->of_tile[t++])
            pack_row(span, of_tap->of_tile[t], in, plane, n, stride, tiles->tile[t].panel + row * sizeof(__m512i));
    }
}

static inline __attribute__((always_inline)) void pack_tiles(const struct conv_pack_windows_args *a,
                                                             const struct conv_tiles *tiles, const size_t stride)
{
    const struct conv_problem *p = a->p;
    const uint64_t lane_bytes = p->h * p->w * N_CHANNELS * ELEMENT_BYTES;
    struct lane_spans kept;
    size_t c = 0, row = 0;
    uint64_t in = a->in;

    kept.n_taps = 0;
    if (a->n_c > N_CHANNELS) /* a single lane needs each tap once */
        keep_spans(p, tiles, stride, &kept);
    for (; c + N_CHANNELS <= a->n_c; c += N_CHANNELS, in += lane_bytes, row += p->r * p->s)
        pack_lane(a, tiles, &kept, in, N_CHANNELS, stride, row);
    if (c < a->n_c)
        pack_lane(a, tiles, &kept, in, a->n_c - c, stride, row);
}

void PACK(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a)
{
    struct conv_tiles tiles;

    (void)self;
    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        if (a->p->stride_w == 1)
            pack_tiles(a, &tiles, 1);
        else
            pack_tiles(a, &tiles, 2);
    }
}

#endif
