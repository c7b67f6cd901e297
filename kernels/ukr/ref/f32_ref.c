/*
 * The portable micro-kernels: C with vectors of 16 bytes, which all supported CPUs have, in the tile shapes of all
 * micro-kernels. A tile is computed in blocks of two vectors of windows by six filters, whose sums stay in registers.
 * All counts are constants of a block's instance. Accesses are volatile, so that a load in the source is a load in the
 * machine, in its order.
 */
#include <assert.h>

#include "kernels/ukr/emit_common.h"
#include "kernels/ukr/ref/f32_ref.h"
#include "kernels/ukr/registry.h"

enum { LANES = CONV_REF_LANES, BLOCK_VECTORS = CONV_REF_BLOCK_VECTORS, BLOCK_F = CONV_REF_BLOCK_F };

typedef float vector __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

static inline vector load(const float *p)
{
    return *(const volatile vector *)p;
}

static inline vector broadcast(const float *p)
{
    float x = *(const volatile float *)p;

    return (vector){ x, x, x, x };
}

/* The whole vectors of a block's rows. */
static inline __attribute__((always_inline)) void store_vectors(float *out, size_t ld_out, const vector *acc,
                                                                size_t n_whole, const size_t n_v, const size_t n_f,
                                                                bool accumulate)
{
#pragma GCC unroll 6
    for (size_t f = 0; f < n_f; f++, out += ld_out) {
#pragma GCC unroll 2
        for (size_t v = 0; v < n_v; v++) {
            float *at = out + v * LANES;

            if (v < n_whole)
                *(volatile vector *)at = acc[f * n_v + v] + (accumulate ? load(at) : (vector){ 0 });
        }
    }
}

/* Stores the rest of each row, element by element. */
static inline __attribute__((always_inline)) void store_rest(float *out, size_t ld_out, const vector *acc, size_t rest,
                                                             const size_t n_v, const size_t n_f, bool accumulate)
{
    float last[BLOCK_F][LANES];

#pragma GCC unroll 6
    for (size_t f = 0; f < n_f; f++)
        *(vector *)last[f] = acc[f * n_v + n_v - 1];
    for (size_t f = 0; f < n_f; f++, out += ld_out) {
        for (size_t i = 0; i < rest; i++) {
            volatile float *at = out + i;

            *at = accumulate ? *at + last[f][i] : last[f][i];
        }
    }
}

static inline __attribute__((always_inline)) void block(const struct conv_ukr_args *a, size_t in_width,
                                                        const struct conv_ref_block *b, const size_t n_v,
                                                        const size_t n_f)
{
    const float *in = conv_in_ptr(a->in) + b->win0, *filter = conv_in_ptr(a->filter) + b->f0;
    float *out = conv_out_ptr(a->out) + b->f0 * a->ld_out + b->win0;
    size_t whole = b->n_win / LANES, ld_filter = a->n_f;
    vector acc[BLOCK_F * BLOCK_VECTORS];

#pragma GCC unroll 12
    for (size_t i = 0; i < n_f * n_v; i++)
        acc[i] = (vector){ 0 };
    for (size_t t = a->k; t; t--, in += in_width, filter += ld_filter) {
        vector windows[BLOCK_VECTORS];

#pragma GCC unroll 2
        for (size_t v = 0; v < n_v; v++)
            windows[v] = load(in + v * LANES);
#pragma GCC unroll 6
        for (size_t f = 0; f < n_f; f++) {
            vector weight = broadcast(filter + f);

#pragma GCC unroll 2
            for (size_t v = 0; v < n_v; v++)
                acc[f * n_v + v] += weight * windows[v];
        }
    }
    store_vectors(out, a->ld_out, acc, whole, n_v, n_f, a->accumulate);
    if (b->n_win % LANES)
        store_rest(out + whole * LANES, a->ld_out, acc, b->n_win % LANES, n_v, n_f, a->accumulate);
}

#define INSTANCE(n_v, n_f)                                                                                             \
    static void block_##n_v##x##n_f(const struct conv_ukr_args *a, size_t in_width, const struct conv_ref_block *b)    \
    {                                                                                                                  \
        block(a, in_width, b, n_v, n_f);                                                                               \
    }

/* clang-format off */
INSTANCE(1, 1) INSTANCE(1, 2) INSTANCE(1, 3) INSTANCE(1, 4) INSTANCE(1, 5) INSTANCE(1, 6)
INSTANCE(2, 1) INSTANCE(2, 2) INSTANCE(2, 3) INSTANCE(2, 4) INSTANCE(2, 5) INSTANCE(2, 6)

static void (*const instance[BLOCK_VECTORS][BLOCK_F])(const struct conv_ukr_args *, size_t,
                                                      const struct conv_ref_block *) = {
    { block_1x1, block_1x2, block_1x3, block_1x4, block_1x5, block_1x6 },
    { block_2x1, block_2x2, block_2x3, block_2x4, block_2x5, block_2x6 },
};
/* clang-format on */

static void ukr_ref(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    const size_t in_width = conv_ukr_in_width(u, a->n_win);

    assert(in_width % LANES == 0);
    for (struct conv_ref_block b = { 0 }; conv_ref_next_block(&b, a->n_win, a->n_f);)
        instance[b.n_win > LANES][b.n_f - 1](a, in_width, &b);
}

static void emit_update(const struct conv_ukr_args *a, const struct conv_ref_block *b, struct sim_sink *sink)
{
    struct conv_ukr_args part = *a;

    part.out += (b->f0 * a->ld_out + b->win0) * sizeof(float);
    part.n_f = b->n_f;
    part.n_win = b->n_win / LANES * LANES;
    if (part.n_win)
        conv_emit_tile_update(&part, sizeof(vector), sink);
    part.out += part.n_win * sizeof(float);
    part.n_win = b->n_win % LANES;
    if (part.n_win)
        conv_emit_tile_update(&part, sizeof(float), sink);
}

static void emit_block(const struct conv_ukr *u, const struct conv_ukr_args *a, const struct conv_ref_block *b,
                       struct sim_sink *sink)
{
    struct sim_run run[2] = {
        { .addr = a->in + b->win0 * sizeof(float),
          .stride_bytes = sizeof(vector),
          .step_bytes = (int64_t)(conv_ukr_in_width(u, a->n_win) * sizeof(float)),
          .count = (uint32_t)ceil_div(b->n_win, LANES),
          .access_bytes = sizeof(vector),
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_INPUT,
          .phase = CONV_PHASE_UKR },
        { .addr = a->filter + b->f0 * sizeof(float),
          .stride_bytes = sizeof(float),
          .step_bytes = (int64_t)(a->n_f * sizeof(float)),
          .count = (uint32_t)b->n_f,
          .access_bytes = sizeof(float),
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
    };

    sim_emit(sink, run, 2, a->k);
    emit_update(a, b, sink);
}

/* Emits, block by block, for each step the vectors of windows and then the weights one by one. */
static void ukr_ref_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    for (struct conv_ref_block b = { 0 }; conv_ref_next_block(&b, a->n_win, a->n_f);)
        emit_block(u, a, &b, sink);
}

/* All tiles share a function. */
#define REF_TILE(n_win_, n_f_)                                                                                         \
    void conv_f32_ukr_##n_win_##x##n_f_##__ref(const struct conv_ukr *u, const struct conv_ukr_args *a)                \
    {                                                                                                                  \
        ukr_ref(u, a);                                                                                                 \
    }                                                                                                                  \
    const struct conv_ukr conv_ukr_##n_win_##x##n_f_##__ref = {                                                        \
        CONV_UKR_IDENTITY(n_win_##x##n_f_, ref),                                                                       \
        .n_win = n_win_,                                                                                               \
        .n_f = n_f_,                                                                                                   \
        .win_granule = n_win_,                                                                                         \
        .f_panel = n_f_,                                                                                               \
        .emit = ukr_ref_emit,                                                                                          \
    };

REF_TILE(16, 24)
REF_TILE(16, 8)
REF_TILE(16, 6)
