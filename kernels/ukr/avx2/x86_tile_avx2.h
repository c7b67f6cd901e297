/*
 * The register tile of the AVX2 micro-kernels: n_v vectors of 8 windows by n_f filters, an accumulator each. A step is
 * n_v window loads and n_f broadcasts for n_v * n_f FMAs. All counts are constants of an instance, so that edge tiles
 * do no wasted work. Internal to kernels/ukr.
 *
 *   n_sets     tiles of fewer than 8 accumulators would wait for each FMA to end (4 cycles, 2 a cycle): step t adds to
 *              accumulator set t % n_sets
 *   asks       the steps that prefetch have loops of their own, for a line a step without a test
 *   is_ragged  windows in place whose last vector is not whole: its loads are masked. Packed windows end with zeros
 */
#ifndef KERNELS_UKR_X86_TILE_AVX2_H
#define KERNELS_UKR_X86_TILE_AVX2_H

#include "kernels/ukr/x86/x86_mask.h"
#include "kernels/ukr/x86/x86_prefetch.h"

enum { TILE_VECTOR = 8, TILE_ACCUMULATORS = 12, TILE_PANEL = 16 };

/* Windows of the tile's last vector, 1 .. 8. */
static inline size_t tile_last(const struct conv_ukr_args *a)
{
    return (a->n_win - 1) % TILE_VECTOR + 1;
}

/* Lanes [0, n) set. */
static inline __m256i tile_lanes(size_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* n < 8 windows of a filter. Masked stores take a dozen cycles on some CPUs; half a vector needs no mask. */
static inline __attribute__((always_inline)) void store_part(float *out, __m256 row, const bool accumulate, size_t n)
{
    if (n == TILE_VECTOR / 2) {
        __m128 low = _mm256_castps256_ps128(row);

        _mm_storeu_ps(out, accumulate ? _mm_add_ps(low, _mm_loadu_ps(out)) : low);
        return;
    }
    if (accumulate) {
        LOG_READ(out, n * sizeof(float));
        row = _mm256_add_ps(row, _mm256_maskload_ps(out, tile_lanes(n)));
    }
    LOG_WRITE(out, n * sizeof(float));
    _mm256_maskstore_ps(out, tile_lanes(n), row);
}

static inline __attribute__((always_inline)) void store_row(float *out, __m256 row, const bool accumulate)
{
    _mm256_storeu_ps(out, accumulate ? _mm256_add_ps(row, _mm256_loadu_ps(out)) : row);
}

static inline __attribute__((always_inline)) void store_tile(float *out, size_t ld_out, const __m256 *acc,
                                                             const size_t n_v, const size_t n_f, const bool accumulate,
                                                             size_t last)
{
#pragma GCC unroll 6
    for (size_t f = 0; f < n_f; f++, out += ld_out) {
#pragma GCC unroll 3
        for (size_t v = 0; v < n_v; v++) {
            float *at = out + v * TILE_VECTOR;

            if (v + 1 == n_v && last < TILE_VECTOR)
                store_part(at, acc[f * n_v + v], accumulate, last);
            else
                store_row(at, acc[f * n_v + v], accumulate);
        }
    }
}

/* The tile's last vector. */
struct tile_tail {
    size_t n; /* windows, 1 .. 8 */
    __m256i mask;
};

static inline __attribute__((always_inline)) __m256 load_tail(const float *in, const struct tile_tail *tail)
{
    LOG_READ(in, tail->n * sizeof(float));
    return _mm256_maskload_ps(in, tail->mask);
}

static inline __attribute__((always_inline)) void tile_multiply(const __m256 windows[3], const float *filter,
                                                                const size_t n_v, const size_t n_f, __m256 *acc)
{
#pragma GCC unroll 6
    for (size_t f = 0; f < n_f; f++) {
        __m256 weight = _mm256_set1_ps(filter[f]);

#pragma GCC unroll 3
        for (size_t v = 0; v < n_v; v++)
            acc[f * n_v + v] = _mm256_fmadd_ps(windows[v], weight, acc[f * n_v + v]);
    }
}

/* tail: NULL if the last vector is read whole. */
static inline __attribute__((always_inline)) void tile_step(const float *in, const float *filter, const size_t n_v,
                                                            const size_t n_f, const struct tile_tail *tail, __m256 *acc)
{
    __m256 windows[3];

#pragma GCC unroll 3
    for (size_t v = 0; v < n_v; v++) {
        const float *at = in + v * TILE_VECTOR;

        windows[v] = tail && v + 1 == n_v ? load_tail(at, tail) : _mm256_loadu_ps(at);
        IN_REGISTER(windows[v]);
    }
    tile_multiply(windows, filter, n_v, n_f, acc);
}

/* n_sets times n_acc accumulators into the first n_acc. */
static inline __attribute__((always_inline)) void tile_add_sets(__m256 *acc, const size_t n_acc, const size_t n_sets)
{
#pragma GCC unroll 12
    for (size_t i = n_acc; i < n_sets * n_acc; i++)
        acc[i % n_acc] = _mm256_add_ps(acc[i % n_acc], acc[i]);
}

/* Shared by the tiles of a call. */
struct tile_call {
    size_t k, ld_in, ld_out;
    struct tile_tail tail;
};

static inline __attribute__((always_inline)) void tile_body(const struct conv_ukr_args *a, const struct tile_call *c,
                                                            const float *in, const float *filter, float *out,
                                                            const size_t n_v, const size_t n_f, const size_t n_sets,
                                                            const bool is_ragged)
{
    const struct tile_tail *tail = is_ragged ? &c->tail : NULL;
    size_t k = c->k, ld_in = c->ld_in, t = 0;
    struct ukr_asks asks = ukr_asks_of(a);
    __m256 acc[TILE_ACCUMULATORS];

#pragma GCC unroll 12
    for (size_t i = 0; i < n_sets * n_v * n_f; i++)
        acc[i] = _mm256_setzero_ps();
    for (const struct conv_ahead *list = asks.list; asks.each == 1 && list != asks.end; list++) {
        const uint64_t apart = (uint64_t)list->step_bytes;
        uint64_t at = list->addr;

        for (size_t end = t + list->n; t < end; t++, in += ld_in, filter += n_f, at += apart) {
            tile_step(in, filter, n_v, n_f, tail, acc);
            PREFETCH(conv_in_ptr(at));
        }
    }
    for (; asks.each > 1 && asks.n_steps; t++, in += ld_in, filter += n_f) {
        tile_step(in, filter, n_v, n_f, tail, acc);
        ukr_ask(&asks);
    }
    for (; t + n_sets <= k; t += n_sets) {
#pragma GCC unroll 8
        for (size_t s = 0; s < n_sets; s++, in += ld_in, filter += n_f)
            tile_step(in, filter, n_v, n_f, tail, acc + s * n_v * n_f);
    }
    for (; n_sets > 1 && t < k; t++, in += ld_in, filter += n_f)
        tile_step(in, filter, n_v, n_f, tail, acc);
    tile_add_sets(acc, n_v * n_f, n_sets);
    if (a->accumulate)
        store_tile(out, c->ld_out, acc, n_v, n_f, true, c->tail.n);
    else
        store_tile(out, c->ld_out, acc, n_v, n_f, false, c->tail.n);
}

static inline __attribute__((always_inline)) void tiles(const struct conv_ukr_args *a, const size_t n_v,
                                                        const size_t n_f, const size_t n_sets, const bool is_ragged)
{
    const size_t last = tile_last(a);
    const struct tile_call c = {
        .k = a->k,
        .ld_in = a->ld_in ? a->ld_in : TILE_PANEL,
        .ld_out = a->ld_out,
        .tail = { last, tile_lanes(last) },
    };
    uint64_t in = a->in, filter = a->filter, out = a->out;

    for (size_t left = max_size(a->n_tiles, 1);;) {
        tile_body(a, &c, conv_in_ptr(in), conv_in_ptr(filter), conv_out_ptr(out), n_v, n_f, n_sets, is_ragged);
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
    const size_t n_acc = n_v * n_f, n_sets = n_acc < TILE_VECTOR ? (TILE_VECTOR + n_acc - 1) / n_acc : 1;

    if (a->ld_in && a->n_win % TILE_VECTOR)
        tiles(a, n_v, n_f, n_sets, true);
    else
        tiles(a, n_v, n_f, n_sets, false);
}

#define INSTANCE(n_v, n_f)                                                                                             \
    static void tile_##n_v##x##n_f(const struct conv_ukr_args *a)                                                      \
    {                                                                                                                  \
        tile(a, n_v, n_f);                                                                                             \
    }

#endif
