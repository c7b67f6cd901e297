/*
 * Packing of windows into lanes of several channels, by bands (pack_bands.h). The including file defines
 *
 *   ELEMENT_BYTES, N_CHANNELS   bytes of an element; channels of a lane
 *   load_lanes(at, plane, n)    16 lanes of n channels, `plane` bytes apart
 *   load_lanes_masked(...)      likewise, of the elements in a mask; zeros elsewhere
 *   PACK                        the name of the function
 */
#ifndef KERNELS_UKR_LANE_PACK_AVX512_H
#define KERNELS_UKR_LANE_PACK_AVX512_H

#include "kernels/ukr/pack_bands.h"
#include "kernels/ukr/x86/x86_mask.h"

#define INLINE static inline __attribute__((always_inline))

/* The channels of a lane, from `in` on; lanes are exclusive-ored with flip. */
struct lane_of {
    const struct conv_problem *p;
    uint64_t in;
    __m512i flip;
};

/* Puts 16 lanes of n channels together, of the elements of a mask from `first` on. */
INLINE __m512i put_together(const struct lane_of *l, const size_t n, int64_t first, uint32_t mask)
{
    const uint64_t plane = l->p->h * l->p->w * ELEMENT_BYTES, at = l->in + (uint64_t)(first * ELEMENT_BYTES);
    __m512i lanes;

    if (mask == UINT16_MAX) {
        lanes = load_lanes(at, plane, n);
    } else {
        for (size_t i = 0; i < n && mask; i++)
            LOG_READ(at + i * plane + (unsigned)__builtin_ctz(mask) * ELEMENT_BYTES,
                     (size_t)__builtin_popcount(mask) * ELEMENT_BYTES);
        lanes = load_lanes_masked((__mmask16)mask, at, plane, n);
    }
    return _mm512_xor_si512(lanes, l->flip);
}

/* Fills the lines of padding, once for all channels. */
static void put_padding(const struct conv_problem *p, const struct conv_bands *bands, __m512i flip, int *buffer)
{
    for (const struct conv_line *line = bands->line; line < bands->line + bands->n_lines; line++) {
        const size_t n = conv_band_is_padding(p, line) ? conv_band_line_lanes(p, line) : 0;

        for (size_t i = 0; i < n; i += CONV_BAND_WIDTH)
            _mm512_store_si512(buffer + line->at + i, flip);
    }
}

/* Puts the lines of a lane together. */
INLINE void put_lines(const struct lane_of *l, const size_t n, const size_t stride, const struct conv_bands *bands,
                      int *buffer)
{
    const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
    const struct conv_band_load *load = bands->load, *end = load + bands->n_loads;

    for (; load < end; load += stride == 2 ? 2 : 1) {
        const __m512i low = put_together(l, n, load->first, load->mask);

        if (stride == 2) {
            const __m512i high = put_together(l, n, load[1].first, load[1].mask);

            _mm512_store_si512(buffer + load->at, _mm512_permutex2var_epi32(low, evens, high));
            _mm512_store_si512(buffer + load[1].at, _mm512_permutex2var_epi32(low, odds, high));
        } else {
            _mm512_store_si512(buffer + load->at, low);
        }
    }
}

/* A piece of a tile in a row of taps: the windows of a mask; `from` is the place of the tile's first window. */
struct taken {
    const int *from;
    size_t odd;
    __mmask16 mask;
};

/* Adds the lanes of a piece at a tap. */
INLINE __m512i take(__m512i lanes, const struct taken *t, size_t tap, const size_t stride, __m512i gather)
{
    if (stride > 2)
        return _mm512_mask_i32gather_epi32(lanes, t->mask, gather, t->from + tap, sizeof(int));
    return _mm512_mask_loadu_epi32(lanes, t->mask, t->from + (stride == 2 ? tap % 2 * t->odd + tap / 2 : tap));
}

/* Copies the rows of a tile: all taps of a lane. */
INLINE void copy_tile(const struct conv_problem *p, const size_t stride, const struct conv_bands *bands,
                      const struct conv_band_piece *piece, const size_t n_pieces, __m512i flip, const int *buffer,
                      char *panel)
{
    const size_t step = stride <= 2 ? 1 : p->stride_w, dilation = p->dilation_w; /* lanes between two windows; taps */
    const size_t taps_end = p->s * dilation;
    const __m512i gather = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                              _mm512_set1_epi32((int)step));
    struct taken taken[CONV_BAND_WIDTH];

    for (size_t fh = 0; fh < p->r; fh++) {
        for (size_t i = 0; i < n_pieces; i++) {
            const struct conv_band_piece *b = &piece[i];
            const struct conv_band_row *row = &bands->row[b->band * p->r + fh];

            taken[i] =
                (struct taken){ .from = buffer + (ptrdiff_t)(row->at + b->window * step) - (ptrdiff_t)(b->first * step),
                                .odd = row->odd,
                                .mask = (__mmask16)(((1u << b->n) - 1) << b->first) };
        }
        for (size_t tap = 0; tap < taps_end; tap += dilation, panel += sizeof(__m512i)) {
            __m512i lanes = flip;

            for (size_t i = 0; i < n_pieces; i++)
                lanes = take(lanes, &taken[i], tap, stride, gather);
            _mm512_storeu_si512(panel, lanes);
        }
    }
}

/* Copies the rows of all tiles: all taps of a lane, from `row` on in the panels. */
INLINE void copy_tiles(const struct lane_of *l, const size_t stride, const struct conv_bands *bands,
                       const struct conv_tile *tile, size_t n_tiles, size_t row, const int *buffer)
{
    const struct conv_band_piece *piece = bands->piece;

    for (size_t t = 0; t < n_tiles; piece += bands->n_pieces[t++]) {
        char *panel = (char *)(uintptr_t)tile[t].panel + row * sizeof(__m512i);

        if (bands->n_pieces[t] == 1)
            copy_tile(l->p, stride, bands, piece, 1, l->flip, buffer, panel);
        else if (bands->n_pieces[t] == 2)
            copy_tile(l->p, stride, bands, piece, 2, l->flip, buffer, panel);
        else
            copy_tile(l->p, stride, bands, piece, bands->n_pieces[t], l->flip, buffer, panel);
    }
}

/* Packs n_tiles tiles. */
INLINE void pack_tiles(const struct conv_pack_windows_args *a, const struct conv_tile *tile, size_t n_tiles,
                       const struct conv_bands *bands, const size_t stride)
{
    const struct conv_problem *p = a->p;
    const uint64_t lane_bytes = N_CHANNELS * p->h * p->w * ELEMENT_BYTES;
    _Alignas(64) int buffer[CONV_BAND_LANES];
    struct lane_of l = { .p = p, .in = a->in, .flip = _mm512_set1_epi8((char)a->flip) };

    put_padding(p, bands, l.flip, buffer);
    for (size_t c = 0, row = 0; c < a->n_c; c += N_CHANNELS, row += p->r * p->s, l.in += lane_bytes) {
        if (c + N_CHANNELS <= a->n_c)
            put_lines(&l, N_CHANNELS, stride, bands, buffer);
        else
            put_lines(&l, a->n_c - c, stride, bands, buffer);
        copy_tiles(&l, stride, bands, tile, n_tiles, row, buffer);
    }
}

/* Packs the rows of n lanes of a tile, and of the last lane's channels, if there are `left`. */
INLINE void pack_pointwise(struct lane_of *l, const struct conv_tile *tile, size_t row, size_t n, size_t left)
{
    const int64_t first = tile->segment[0].iw0;
    const uint32_t mask = (1u << tile->n_win) - 1;
    __m512i *panel = (__m512i *)(uintptr_t)tile->panel + row;

    for (size_t i = 0; i < n; i++) {
        _mm512_storeu_si512(panel + i, put_together(l, N_CHANNELS, first, mask));
        l->in += N_CHANNELS * l->p->w * ELEMENT_BYTES;
    }
    if (left)
        _mm512_storeu_si512(panel + n, put_together(l, left, first, mask));
}

/* Pointwise: a few lanes of each tile, without a buffer. */
static void pack_without_bands(const struct conv_pack_windows_args *a, const struct conv_tiles *tiles)
{
    struct lane_of l = { .p = a->p, .flip = _mm512_set1_epi8((char)a->flip) };

    for (size_t c = 0; c < a->n_c; c += CONV_BAND_POINTWISE * N_CHANNELS) {
        const size_t n = min_size(CONV_BAND_POINTWISE * N_CHANNELS, a->n_c - c);

        for (size_t t = 0; t < tiles->n; t++) {
            l.in = a->in + c * a->p->w * ELEMENT_BYTES;
            pack_pointwise(&l, &tiles->tile[t], c / N_CHANNELS, n / N_CHANNELS, n % N_CHANNELS);
        }
    }
}

static void pack_with_bands(const struct conv_pack_windows_args *a, const struct conv_tiles *tiles)
{
    const size_t at_once = conv_bands_tiles(a->p);
    struct conv_bands bands;

    for (size_t t = 0, n; t < tiles->n; t += n) {
        n = min_size(at_once, tiles->n - t);
        conv_bands_of(a->p, tiles, t, n, &bands);
        if (a->p->stride_w == 1)
            pack_tiles(a, &tiles->tile[t], n, &bands, 1);
        else if (a->p->stride_w == 2)
            pack_tiles(a, &tiles->tile[t], n, &bands, 2);
        else
            pack_tiles(a, &tiles->tile[t], n, &bands, 3);
    }
}

void PACK(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a)
{
    struct conv_tiles tiles;

    (void)self;
    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        if (conv_bands_need_none(a->p))
            pack_without_bands(a, &tiles);
        else
            pack_with_bands(a, &tiles);
    }
}

#endif
