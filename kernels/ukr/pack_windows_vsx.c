/*
 * Vector-based packing with POWER10's VSX: a span is up to eight vectors of 4 elements, each quarter of a panel row a
 * permutation of two neighbours (a shift of two registers where the stride is 1). Goes with the MMA tile.
 */
#include "kernels/ukr/pack_vbp.h"
#include "kernels/ukr/ukr_table.h"

#if defined(__MMA__)
#include "kernels/ukr/ppc_load.h"

enum { LANES = PPC_LANES, QUARTERS = VBP_WIN / LANES, MAX_PIECES = 8 };

typedef __vector unsigned char byte_index;
typedef __vector unsigned int lane_mask;

#define INLINE static inline __attribute__((always_inline))

struct live_span {
    uint64_t base;            /* address of element 0 in channel 0's plane */
    uint32_t valid;           /* elements to load */
    lane_mask keep[QUARTERS]; /* positions of the tile */
};

/* A tile's spans for one group of columns. */
struct live_tile {
    size_t n;
    bool is_copy; /* one span, unshifted and whole, makes the only row */
    float *panel; /* of channel 0 */
    struct live_span span[VBP_WIN];
};

/* For lane l the bytes of element l * stride, stride 1 or 2, of two vectors, first bytes further on. */
INLINE byte_index index_of(const size_t stride, size_t first)
{
    const byte_index iota = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

    return vec_splats((unsigned char)first) + (stride == 2 ? iota + (iota & 12) : iota);
}

static lane_mask mask_of(uint32_t lanes)
{
    lane_mask mask = { 0 };

    for (size_t i = 0; i < LANES; i++)
        mask[i] = lanes >> i & 1 ? UINT32_MAX : 0;
    return mask;
}

/* The elements in mask, which are contiguous, in their lanes; zero elsewhere. */
INLINE ppc_vector load(uint64_t address, uint32_t mask)
{
    const ppc_vector zero = { 0 };
    size_t first;

    if (mask == (1 << LANES) - 1)
        return ppc_load(conv_in_ptr(address));
    if (!mask)
        return zero;
    first = (size_t)__builtin_ctz(mask);
    return vec_perm(zero, ppc_load_part(conv_in_ptr(address) + first, (size_t)__builtin_popcount(mask) * sizeof(float)),
                    index_of(1, PPC_BYTES - first * sizeof(float)));
}

/* The panel rows of one channel and group of columns: shifts of n spans, put together. */
INLINE void pack_spans(const struct live_tile *live, const struct conv_problem *p, uint64_t plane, size_t n_rows,
                       float *panel, const size_t n, const size_t stride)
{
    const size_t n_pieces = (QUARTERS - 1) * stride + 2;
    const byte_index dilation = vec_splats((unsigned char)(p->dilation_w * sizeof(float)));
    byte_index index = index_of(stride, 0);
    ppc_vector x[VBP_WIN][MAX_PIECES];

    for (size_t g = 0; g < n; g++) {
        const struct live_span *span = &live->span[g];

#pragma GCC unroll 8
        for (size_t i = 0; i < n_pieces; i++)
            x[g][i] = load(span->base + plane + i * PPC_BYTES, span->valid >> (LANES * i) & 0xf);
    }
    for (size_t fw = 0; fw < n_rows; fw++, panel += VBP_WIN, index += dilation) {
#pragma GCC unroll 4
        for (size_t q = 0; q < QUARTERS; q++) {
            ppc_vector row = { 0 };

            for (size_t g = 0; g < n; g++)
                row = vec_sel(row, vec_perm(x[g][q * stride], x[g][q * stride + 1], index), live->span[g].keep[q]);
            ppc_store(panel + q * LANES, row);
        }
    }
}

/* As pack_spans does it: all loads first. */
INLINE void copy(uint64_t address, float *panel)
{
    ppc_vector x[QUARTERS];

#pragma GCC unroll 4
    for (size_t q = 0; q < QUARTERS; q++)
        x[q] = ppc_load(conv_in_ptr(address) + q * LANES);
#pragma GCC unroll 4
    for (size_t q = 0; q < QUARTERS; q++)
        ppc_store(panel + q * LANES, x[q]);
}

static void pack_channel(const struct live_tile *live, const struct conv_problem *p, uint64_t plane, size_t n_rows,
                         float *panel)
{
    if (live->is_copy)
        copy(live->span[0].base + plane, panel);
    else if (p->stride_w == 1 && live->n == 1)
        pack_spans(live, p, plane, n_rows, panel, 1, 1);
    else if (p->stride_w == 1)
        pack_spans(live, p, plane, n_rows, panel, live->n, 1);
    else if (live->n == 1)
        pack_spans(live, p, plane, n_rows, panel, 1, 2);
    else
        pack_spans(live, p, plane, n_rows, panel, live->n, 2);
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
        for (size_t q = 0; q < QUARTERS; q++)
            live->span[g].keep[q] = mask_of(span[g].positions >> (LANES * q));
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

    for (size_t t = 0; t < tiles->n; t++)
        set_live(a, &tiles->tile[t], columns, &live[t]);
    for (size_t c = 0; c < a->n_c; c++) {
        for (size_t t = 0; t < tiles->n; t++)
            pack_channel(&live[t], p, c * plane_bytes, columns.n, live[t].panel + c * channel_step);
    }
}

static void conv_pack_windows__vsx(const struct conv_pack_windows_args *a)
{
    vbp_pack(a, LANES, pack_columns);
}

#define FN conv_pack_windows__vsx
#else
#define FN NULL
#endif

static void emit(const struct conv_pack_windows_args *a, struct sim_sink *sink)
{
    vbp_emit(a, 16, sink);
}

static bool can_pack(const struct conv_problem *p)
{
    return vbp_suits(p);
}

const struct conv_pack_windows conv_pack_windows_vsx = {
    .name = "pack_windows__vsx",
    .isa = CPU_ISA_MMA,
    .width = VBP_WIN,
    .fn = FN,
    .emit = emit,
    .can_pack = can_pack,
};
