/*
 * The paper's POWER10 tile: 16 windows and 8 filters in the eight 4x4 accumulators of the matrix engine. A step loads
 * four vectors of windows and two of filters and takes eight outer products; row f of an accumulator holds filter f's
 * four windows, so that the tile leaves as it is stored. Tiles of fewer windows or filters have instances of their own,
 * which take as many outer products as hold anything.
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
 * What happens to each of a filter vector's accumulators, without a loop: clang 14 does not unroll loops that hold
 * operations of the matrix engine, and an accumulator that is indexed lives in memory. n_w is a constant.
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

/* A row of an accumulator meets the output: the whole vector, or its first bytes. */
INLINE void put(float *out, ppc_vector row, size_t bytes, bool accumulate)
{
    if (bytes == PPC_BYTES)
        ppc_store(out, accumulate ? ppc_load(out) + row : row);
    else
        ppc_store_part(out, accumulate ? ppc_load_part(out, bytes) + row : row, bytes);
}

/* Stores the rows of one filter vector. */
INLINE void put_filters(const struct conv_ukr_args *a, const size_t f_vector, const size_t n_w, const bool accumulate,
                        struct accumulators *acc)
{
    size_t n = a->n_f - f_vector * LANES, ld_out = a->ld_out;
    size_t last_bytes = (a->n_win - (n_w - 1) * LANES) * sizeof(float);
    float *out = conv_out_ptr(a->out) + f_vector * LANES * ld_out;
    ppc_vector row[WIN_VECTORS][LANES];

    take_apart(acc, f_vector, n_w, row);
#pragma GCC unroll 4
    for (size_t f = 0; f < LANES; f++, out += ld_out) {
        if (f == n)
            return;
#pragma GCC unroll 4
        for (size_t w = 0; w < n_w; w++)
            put(out + w * LANES, row[w][f], w + 1 < n_w ? PPC_BYTES : last_bytes, accumulate);
    }
}

INLINE void put_tile(const struct conv_ukr_args *a, const size_t n_w, const size_t n_f, const bool accumulate,
                     struct accumulators *acc)
{
    put_filters(a, 0, n_w, accumulate, acc);
    if (n_f > 1)
        put_filters(a, 1, n_w, accumulate, acc);
}

/* Bytes of the last vector of windows and of filters; NULL in place of these where all are whole. */
struct rest {
    size_t win_bytes, f_bytes;
};

/* One step: loads in emit's order, then the outer products. */
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
 * n_w window vectors, n_f filter vectors, the last of which may be partial. is_ragged: so is the last of the windows,
 * which are read in place; packed ones are padded.
 */
INLINE void tile_body(const struct conv_ukr_args *a, const size_t n_w, const size_t n_f, const bool partial,
                      const bool is_ragged)
{
    const float *in = conv_in_ptr(a->in);
    const float *filter = conv_in_ptr(a->filter);
    const struct rest rest = { a->n_win % LANES * sizeof(float), a->n_f % LANES * sizeof(float) };
    size_t ld_in = a->ld_in ? a->ld_in : N_WIN;
    size_t f_step = partial ? a->n_f : n_f * LANES;
    struct accumulators acc;

    clear(&acc, 0, n_w);
    if (n_f > 1)
        clear(&acc, 1, n_w);
    for (size_t t = a->k; t; t--) {
        step(in, filter, n_w, n_f, is_ragged ? &rest : NULL, partial ? &rest : NULL, &acc);
        in += ld_in;
        filter += f_step;
    }
    if (a->accumulate)
        put_tile(a, n_w, n_f, true, &acc);
    else
        put_tile(a, n_w, n_f, false, &acc);
}

INLINE void tile(const struct conv_ukr_args *a, const size_t n_w, const size_t n_f, const bool partial)
{
    if (a->ld_in && a->n_win % LANES)
        tile_body(a, n_w, n_f, partial, true);
    else
        tile_body(a, n_w, n_f, partial, false);
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
