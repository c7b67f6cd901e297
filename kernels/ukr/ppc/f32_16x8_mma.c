/*
 * The paper's POWER10 tile: 16 windows and 8 filters in the eight 4x4 accumulators of the matrix engine. A step loads
 * four vectors of windows and two of filters and takes eight outer products; row f of an accumulator holds filter f's
 * four windows, so that a tile is stored without a transpose. Tiles of fewer windows or filters have instances of their
 * own, which take outer products for the used accumulators only.
 */
#include "kernels/ukr/ppc/f32_16x8_mma.h"

#if defined(__MMA__)
#include "kernels/ukr/ppc/ppc_load.h"

enum { WIN_VECTORS = N_WIN / LANES, F_VECTORS = N_F / LANES };

typedef __vector unsigned char mma_operand;

struct accumulators {
    __vector_quad at[F_VECTORS][WIN_VECTORS];
};

#define INLINE static inline __attribute__((always_inline))

/*
 * Does `what` to each of a filter vector's accumulators, without a loop: clang 14 does not unroll loops with operations
 * of the matrix engine, and an indexed accumulator lives in memory. n_w is a constant.
 */
#define EACH_WINDOW_VECTOR(what)                                                                                       \
    do {                                                                                                               \
        what(0);                                                                                                       \
        if (n_w > 1)                                                                                                   \
            what(1);                                                                                                   \
        if (n_w > 2)                                                                                                   \
            what(2);                                                                                                   \
        if (n_w > 3)                                                                                                   \
            what(3);                                                                                                   \
    } while (0)

INLINE void clear(struct accumulators *acc, const size_t f, const size_t n_w)
{
#define CLEAR(w) __builtin_mma_xxsetaccz(&acc->at[f][w])
    EACH_WINDOW_VECTOR(CLEAR);
}

/* at[f][w] += the outer product of a filter vector and window vector w. */
INLINE void multiply(struct accumulators *acc, const size_t f, const size_t n_w, ppc_vector weight,
                     const ppc_vector window[WIN_VECTORS])
{
#define MULTIPLY(w) __builtin_mma_xvf32gerpp(&acc->at[f][w], (mma_operand)weight, (mma_operand)window[w])
    EACH_WINDOW_VECTOR(MULTIPLY);
}

INLINE void take_apart(struct accumulators *acc, const size_t f, const size_t n_w, ppc_vector row[WIN_VECTORS][LANES])
{
#define TAKE_APART(w) __builtin_mma_disassemble_acc(row[w], &acc->at[f][w])
    EACH_WINDOW_VECTOR(TAKE_APART);
}

/* Shared by the tiles of a call, in registers: every vector store may have changed the values in memory. */
struct tile_call {
    size_t k, ld_in, ld_out; /* elements */
    size_t n_f, last_bytes;  /* of the last vector of windows */
    bool is_whole, accumulate;
};

/* Adds or stores a row of an accumulator: the whole vector, or its first bytes. */
INLINE void put(float *out, ppc_vector row, const bool is_whole, size_t bytes, const bool accumulate)
{
    if (is_whole)
        ppc_store(out, accumulate ? ppc_load(out) + row : row);
    else
        ppc_store_part(out, accumulate ? ppc_load_part(out, bytes) + row : row, bytes);
}

/* Stores the rows of a filter vector, the first n of LANES. */
INLINE void put_filters(const struct tile_call *c, float *out, const size_t n_w, size_t n, const bool is_whole,
                        const bool accumulate, ppc_vector row[WIN_VECTORS][LANES])
{
#pragma GCC unroll 4
    for (size_t f = 0; f < LANES; f++, out += c->ld_out) {
        if (f == n)
            return;
#pragma GCC unroll 4
        for (size_t w = 0; w < n_w; w++)
            put(out + w * LANES, row[w][f], is_whole || w + 1 < n_w, c->last_bytes, accumulate);
    }
}

INLINE void put_tile(const struct tile_call *c, float *out, const size_t n_w, const size_t n_f, const bool partial,
                     const bool is_whole, const bool accumulate, struct accumulators *acc)
{
    const size_t n_last = partial ? c->n_f - (n_f - 1) * LANES : LANES;
    ppc_vector row[WIN_VECTORS][LANES];

    take_apart(acc, 0, n_w, row);
    put_filters(c, out, n_w, n_f > 1 ? LANES : n_last, is_whole, accumulate, row);
    if (n_f == 1)
        return;
    take_apart(acc, 1, n_w, row);
    put_filters(c, out + LANES * c->ld_out, n_w, n_last, is_whole, accumulate, row);
}

/* Bytes of the last vector of windows and of filters; NULL in place of the struct where all vectors are whole. */
struct rest {
    size_t win_bytes, f_bytes;
};

/* A step: loads in emit's order, then the outer products. */
INLINE void step(const float *in, const float *filter, const size_t n_w, const size_t n_f, const struct rest *win_rest,
                 const struct rest *f_rest, struct accumulators *acc)
{
    ppc_vector window[WIN_VECTORS], weight[F_VECTORS];

#pragma GCC unroll 4
    for (size_t w = 0; w < n_w; w++)
        window[w] =
            w + 1 == n_w && win_rest ? ppc_load_part(in + w * LANES, win_rest->win_bytes) : ppc_load(in + w * LANES);
#pragma GCC unroll 2
    for (size_t f = 0; f < n_f; f++)
        weight[f] =
            f + 1 == n_f && f_rest ? ppc_load_part(filter + f * LANES, f_rest->f_bytes) : ppc_load(filter + f * LANES);
    multiply(acc, 0, n_w, weight[0], window);
    if (n_f > 1)
        multiply(acc, 1, n_w, weight[1], window);
}

/*
 * n_w window vectors, n_f filter vectors, the last of which may be partial. is_ragged: the last vector of windows is
 * partial, too, because windows are read in place; packed windows are padded.
 */
INLINE void one_tile(const struct tile_call *c, const float *in, const float *filter, float *out, const size_t n_w,
                     const size_t n_f, const bool partial, const bool is_ragged)
{
    const struct rest rest = { c->last_bytes, c->n_f % LANES * sizeof(float) };
    struct accumulators acc;

    clear(&acc, 0, n_w);
    if (n_f > 1)
        clear(&acc, 1, n_w);
    for (size_t t = c->k; t; t--) {
        step(in, filter, n_w, n_f, is_ragged ? &rest : NULL, partial ? &rest : NULL, &acc);
        in += c->ld_in;
        filter += partial ? c->n_f : n_f * LANES;
    }
    if (!is_ragged && c->is_whole && c->accumulate)
        put_tile(c, out, n_w, n_f, partial, true, true, &acc);
    else if (!is_ragged && c->is_whole)
        put_tile(c, out, n_w, n_f, partial, true, false, &acc);
    else if (c->accumulate)
        put_tile(c, out, n_w, n_f, partial, false, true, &acc);
    else
        put_tile(c, out, n_w, n_f, partial, false, false, &acc);
}

/* All tiles of a call: the eight accumulators are all registers that a caller expects to find again. */
INLINE void tiles(const struct conv_ukr_args *a, const size_t n_w, const size_t n_f, const bool partial,
                  const bool is_ragged)
{
    const struct tile_call c = {
        .k = a->k,
        .ld_in = a->ld_in ? a->ld_in : N_WIN,
        .ld_out = a->ld_out,
        .n_f = a->n_f,
        .last_bytes = (a->n_win - (n_w - 1) * LANES) * sizeof(float),
        .is_whole = a->n_win % LANES == 0,
        .accumulate = a->accumulate,
    };
    const int64_t in_tile = a->in_tile, filter_tile = a->filter_tile, out_tile = a->out_tile;
    uint64_t in = a->in, filter = a->filter, out = a->out;

    for (size_t left = max_size(a->n_tiles, 1); left; left--) {
        one_tile(&c, conv_in_ptr(in), conv_in_ptr(filter), conv_out_ptr(out), n_w, n_f, partial, is_ragged);
        in += (uint64_t)in_tile;
        filter += (uint64_t)filter_tile;
        out += (uint64_t)out_tile;
    }
}

INLINE void tile(const struct conv_ukr_args *a, const size_t n_w, const size_t n_f, const bool partial)
{
    if (a->ld_in && a->n_win % LANES)
        tiles(a, n_w, n_f, partial, true);
    else
        tiles(a, n_w, n_f, partial, false);
}

#define INSTANCE(n_w, n_f)                                                                                             \
    static void tile_##n_w##_##n_f(const struct conv_ukr_args *a)                                                      \
    {                                                                                                                  \
        tile(a, n_w, n_f, false);                                                                                      \
    }                                                                                                                  \
    static void tile_##n_w##_##n_f##_partial(const struct conv_ukr_args *a)                                            \
    {                                                                                                                  \
        tile(a, n_w, n_f, true);                                                                                       \
    }

/* clang-format off */
INSTANCE(1, 1) INSTANCE(2, 1) INSTANCE(3, 1) INSTANCE(4, 1)
INSTANCE(1, 2) INSTANCE(2, 2) INSTANCE(3, 2) INSTANCE(4, 2)

static const conv_ukr_instance_fn instance[2][F_VECTORS][WIN_VECTORS] = {
    { { tile_1_1, tile_2_1, tile_3_1, tile_4_1 }, { tile_1_2, tile_2_2, tile_3_2, tile_4_2 } },
    { { tile_1_1_partial, tile_2_1_partial, tile_3_1_partial, tile_4_1_partial },
      { tile_1_2_partial, tile_2_2_partial, tile_3_2_partial, tile_4_2_partial } },
};
/* clang-format on */

void conv_f32_ukr_16x8__mma(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    (void)u;
    instance[a->n_f % LANES != 0][(a->n_f - 1) / LANES][(a->n_win - 1) / LANES](a);
}
#endif
