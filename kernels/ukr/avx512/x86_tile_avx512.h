/*
 * The register tile of the AVX-512 micro-kernels: n_v vectors of 16 windows by n_f filters, an accumulator each. A step
 * is n_v window loads and n_f broadcasts for n_v * n_f FMAs. Both counts are constants of an instance, so that edge
 * tiles do no wasted work; windows past the last whole vector are masked. Internal to kernels/ukr.
 */
#ifndef KERNELS_UKR_X86_TILE_AVX512_H
#define KERNELS_UKR_X86_TILE_AVX512_H

#include "kernels/ukr/x86/x86_mask.h"
#include "kernels/ukr/x86/x86_prefetch.h"

enum { TILE_VECTOR = 16, TILE_ACCUMULATORS = 24 };

/* Windows of the tile's last vector, 1 .. 16. */
static inline size_t tile_last(const struct conv_ukr_args *a)
{
    return (a->n_win - 1) % TILE_VECTOR + 1;
}

static inline __attribute__((always_inline)) void store_part(float *out, __m512 row, const bool accumulate, size_t n)
{
    __mmask16 mask = (__mmask16)((1u << n) - 1);

    if (accumulate) {
        LOG_READ(out, n * sizeof(float));
        row = _mm512_add_ps(row, _mm512_maskz_loadu_ps(mask, out));
    }
    LOG_WRITE(out, n * sizeof(float));
    _mm512_mask_storeu_ps(out, mask, row);
}

/* Makes the compiler add up a pointer row by row: multiples of the distance would not fit into registers. */
#define NEXT_ROW(p, distance)                                                                                          \
    do {                                                                                                               \
        (p) += (distance);                                                                                             \
        __asm__("" : "+r"(p));                                                                                         \
    } while (0)

/* last: windows of the last vector, a constant 16 if the vector is whole. */
static inline __attribute__((always_inline)) void store_tile(float *out, size_t ld_out, const __m512 *acc,
                                                             const size_t n_v, const size_t n_f, const bool accumulate,
                                                             const size_t last)
{
#pragma GCC unroll 24
    for (size_t f = 0; f < n_f; f++) {
#pragma GCC unroll 3
        for (size_t v = 0; v < n_v; v++) {
            float *at = out + v * TILE_VECTOR;

            if (v + 1 == n_v && last < TILE_VECTOR)
                store_part(at, acc[f * n_v + v], accumulate, last);
            else if (accumulate)
                _mm512_storeu_ps(at, _mm512_add_ps(acc[f * n_v + v], _mm512_loadu_ps(at)));
            else
                _mm512_storeu_ps(at, acc[f * n_v + v]);
        }
        NEXT_ROW(out, ld_out);
    }
}

/* Shared by the tiles of a call, and their places in registers. */
struct tile_call {
    size_t last, k;
    size_t ld_in, in_step, ld_out; /* elements */
};

/* A masked load takes a slot of the multiply-adders, too: whole vectors, and panels, are loaded without a mask. */
static inline __attribute__((always_inline)) __m512 load_last(const float *at, const bool is_whole, size_t last)
{
    if (is_whole)
        return _mm512_loadu_ps(at);
    LOG_READ(at, last * sizeof(float));
    return _mm512_maskz_loadu_ps((__mmask16)((1u << last) - 1), at);
}

static inline __attribute__((always_inline)) void one_tile(const struct conv_ukr_args *a, const struct tile_call *c,
                                                           const float *in, const float *filter, float *out,
                                                           const size_t n_v, const size_t n_f, const bool is_whole)
{
    size_t last = c->last, k = c->k, ld_in = c->ld_in, in_step = c->in_step;
    struct ukr_asks asks = ukr_asks_of(a);
    __m512 acc[TILE_ACCUMULATORS], windows[3];

#pragma GCC unroll 24
    for (size_t i = 0; i < n_v * n_f; i++)
        acc[i] = _mm512_setzero_ps();
    for (size_t t = 0; t < k; t++) {
#pragma GCC unroll 3
        for (size_t v = 0; v < n_v; v++) {
            const float *at = in + v * in_step;

            windows[v] = v + 1 < n_v ? _mm512_loadu_ps(at) : load_last(at, is_whole, last);
            IN_REGISTER(windows[v]);
        }
#pragma GCC unroll 24
        for (size_t f = 0; f < n_f; f++) {
            __m512 weight = _mm512_set1_ps(filter[f]);

            if (n_v > 1)
                IN_REGISTER(weight);
#pragma GCC unroll 3
            for (size_t v = 0; v < n_v; v++)
                acc[f * n_v + v] = _mm512_fmadd_ps(windows[v], weight, acc[f * n_v + v]);
        }
        in += ld_in;
        filter += n_f;
        ukr_ask(&asks);
    }
    if (last < TILE_VECTOR && a->accumulate)
        store_tile(out, c->ld_out, acc, n_v, n_f, true, last);
    else if (last < TILE_VECTOR)
        store_tile(out, c->ld_out, acc, n_v, n_f, false, last);
    else if (a->accumulate)
        store_tile(out, c->ld_out, acc, n_v, n_f, true, TILE_VECTOR);
    else
        store_tile(out, c->ld_out, acc, n_v, n_f, false, TILE_VECTOR);
}

static inline __attribute__((always_inline)) void tiles(const struct conv_ukr_args *a, const struct tile_call *c,
                                                        const size_t n_v, const size_t n_f, const bool is_whole)
{
    uint64_t in = a->in, filter = a->filter, out = a->out;

    for (size_t left = max_size(a->n_tiles, 1);;) {
        one_tile(a, c, conv_in_ptr(in), conv_in_ptr(filter), conv_out_ptr(out), n_v, n_f, is_whole);
        if (!--left)
            return;
        in += (uint64_t)a->in_tile;
        filter += (uint64_t)a->filter_tile;
        out += (uint64_t)a->out_tile;
        if (a->ahead)
            conv_ahead_next_tile(a->ahead);
    }
}

static inline __attribute__((always_inline)) void tile(const struct conv_ukr_args *a, const size_t n_v,
                                                       const size_t n_f)
{
    const struct tile_call c = {
        .last = tile_last(a),
        .k = a->k,
        .ld_in = a->ld_in ? a->ld_in : TILE_VECTOR,
        .in_step = conv_ukr_in_step(a, TILE_VECTOR),
        .ld_out = a->ld_out,
    };

    if (!a->ld_in || c.last == TILE_VECTOR)
        tiles(a, &c, n_v, n_f, true);
    else
        tiles(a, &c, n_v, n_f, false);
}

#define INSTANCE(n_v, n_f)                                                                                             \
    static void tile_##n_v##x##n_f(const struct conv_ukr_args *a)                                                      \
    {                                                                                                                  \
        tile(a, n_v, n_f);                                                                                             \
    }

#endif
