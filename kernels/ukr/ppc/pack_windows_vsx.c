/*
 * Vector-based packing with POWER10's VSX: a span is up to eight vectors of 4 elements, each quarter of a panel row a
 * permutation of two neighbours (a shift of two registers where the stride is 1). Goes with the MMA tile.
 */
#include "kernels/ukr/pack_vbp.h"

#if defined(__MMA__)
#include "kernels/ukr/ppc/ppc_load.h"

enum { LANES = PPC_LANES, QUARTERS = VBP_WIN / LANES, MAX_PIECES = 8 };

typedef __vector unsigned char byte_index;
typedef __vector unsigned int lane_mask;

/* Constants, kept in registers: after a store of vectors the compiler would read them again. */
struct constants {
    byte_index iota, dilation;
    lane_mask bit;
};

VBP_INLINE struct constants constants_of(size_t dilation)
{
    struct constants k = {
        .iota = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
        .dilation = vec_splats((unsigned char)(dilation * sizeof(float))),
        .bit = { 1, 2, 4, 8 },
    };

    IN_ORDER(k.iota);
    IN_ORDER(k.bit);
    return k;
}

/* For lane l the bytes of element l * stride, stride 1 or 2, of two vectors, first bytes further on. */
VBP_INLINE byte_index index_of(const struct constants *k, const size_t stride, size_t first)
{
    return vec_splats((unsigned char)first) + (stride == 2 ? k->iota + (k->iota & 12) : k->iota);
}

VBP_INLINE lane_mask mask_of(const struct constants *k, uint32_t lanes)
{
    return (lane_mask)vec_cmpeq(vec_splats(lanes) & k->bit, k->bit);
}

/* The elements in mask, which are contiguous, in their lanes; zero elsewhere. */
VBP_INLINE ppc_vector load(const struct constants *k, uint64_t address, uint32_t mask)
{
    const ppc_vector zero = { 0 };
    size_t first;

    if (mask == (1 << LANES) - 1)
        return ppc_load(conv_in_ptr(address));
    if (!mask)
        return zero;
    first = (size_t)__builtin_ctz(mask);
    return vec_perm(zero, ppc_load_part(conv_in_ptr(address) + first, (size_t)__builtin_popcount(mask) * sizeof(float)),
                    index_of(k, 1, PPC_BYTES - first * sizeof(float)));
}

/* Shared by all channels of a tile, for each of its spans. */
struct spans {
    uint64_t base[VBP_WIN];
    uint32_t valid[VBP_WIN], positions[VBP_WIN];
};

VBP_INLINE void set_spans(struct spans *s, const struct vbp_tile *t, const size_t n)
{
    for (size_t i = 0; i < n; i++) {
        s->base[i] = t->span[i].base;
        s->valid[i] = t->span[i].valid.all;
        s->positions[i] = t->span[i].positions.all;
    }
}

/* The panel rows of a channel: shifts of n spans, put together. Masks of all channels would not fit into registers. */
VBP_INLINE void pack_channel(const struct spans *s, const struct constants *k, uint64_t plane, float *panel,
                             size_t n_rows, const size_t n, const size_t stride)
{
    const size_t n_pieces = (QUARTERS - 1) * stride + 2;
    byte_index index = index_of(k, stride, 0);
    ppc_vector x[VBP_WIN][MAX_PIECES];
    lane_mask positions[VBP_WIN][QUARTERS];

    for (size_t i = 0; i < n; i++) {
#pragma GCC unroll 8
        for (size_t p = 0; p < n_pieces; p++)
            x[i][p] = load(k, s->base[i] + plane + p * PPC_BYTES, s->valid[i] >> (LANES * p) & 0xf);
#pragma GCC unroll 4
        for (size_t q = 0; q < QUARTERS; q++) {
            positions[i][q] = mask_of(k, s->positions[i] >> (LANES * q));
            IN_ORDER(positions[i][q]);
        }
    }
    for (; n_rows; n_rows--, panel += VBP_WIN, index += k->dilation) {
#pragma GCC unroll 4
        for (size_t q = 0; q < QUARTERS; q++) {
            ppc_vector row = { 0 };

            for (size_t i = 0; i < n; i++)
                row = vec_sel(row, vec_perm(x[i][q * stride], x[i][q * stride + 1], index), positions[i][q]);
            ppc_store(panel + q * LANES, row);
        }
    }
}

/* Copies as pack_channel does: all loads first. */
VBP_INLINE void copy(uint64_t address, float *panel)
{
    ppc_vector x[QUARTERS];

#pragma GCC unroll 4
    for (size_t q = 0; q < QUARTERS; q++)
        x[q] = ppc_load(conv_in_ptr(address) + q * LANES);
#pragma GCC unroll 4
    for (size_t q = 0; q < QUARTERS; q++)
        ppc_store(panel + q * LANES, x[q]);
}

/* Shared by the tiles of a group. */
struct common {
    size_t n_c, n_rows, stride;
    uint64_t plane_bytes, channel_bytes;
    struct constants k;
};

/* Channels first .. end - 1 of a tile of n spans. */
VBP_INLINE void pack_spans(const struct common *c, const struct vbp_tile *t, size_t first, size_t end, const size_t n,
                           const size_t stride)
{
    const uint64_t panel = t->panel;
    struct spans s;

    set_spans(&s, t, n);
    for (size_t i = first; i < end; i++)
        pack_channel(&s, &c->k, i * c->plane_bytes, conv_out_ptr(panel + i * c->channel_bytes), c->n_rows, n, stride);
}

VBP_INLINE void copy_channels(const struct common *c, const struct vbp_tile *t, size_t first, size_t end)
{
    const uint64_t in = t->span[0].base, panel = t->panel;

    for (size_t i = first; i < end; i++)
        copy(in + i * c->plane_bytes, conv_out_ptr(panel + i * c->channel_bytes));
}

/* Many spans, of narrow planes: a function of its own leaves the registers to few spans. By value: not in memory. */
static __attribute__((noinline)) void pack_many_spans(const struct common c, const struct vbp_tile *t, size_t first,
                                                      size_t end)
{
    if (c.stride == 1)
        pack_spans(&c, t, first, end, t->n_spans, 1);
    else
        pack_spans(&c, t, first, end, t->n_spans, 2);
}

VBP_INLINE void pack_tile(const struct common *c, const struct vbp_tile *t, size_t first, size_t end,
                          const size_t stride)
{
    if (t->is_copy)
        copy_channels(c, t, first, end);
    else if (t->n_spans == 1)
        pack_spans(c, t, first, end, 1, stride);
    else if (t->n_spans == 2)
        pack_spans(c, t, first, end, 2, stride);
    else if (t->n_spans == 3)
        pack_spans(c, t, first, end, 3, stride);
    else
        pack_many_spans(*c, t, first, end);
}

VBP_INLINE struct common common_of(const struct vbp_group *g)
{
    return (struct common){
        .n_c = g->n_c,
        .n_rows = g->n_rows,
        .stride = g->stride,
        .plane_bytes = g->plane_bytes,
        .channel_bytes = g->channel_bytes,
        .k = constants_of(g->dilation),
    };
}

/* A lone tile goes through all channels at once: values shared by the channels stay in registers. */
VBP_INLINE void pack_alone(const struct vbp_group *g, const size_t stride)
{
    const struct common c = common_of(g);

    pack_tile(&c, g->tile, 0, c.n_c, stride);
}

VBP_INLINE void pack_together(const struct vbp_group *g, const size_t stride)
{
    const struct common c = common_of(g);
    const struct vbp_tile *end = g->tile + g->n_tiles;

    for (size_t i = 0; i < c.n_c; i++) {
        const struct vbp_tile *t = g->tile;

        for (; t < end && t->is_copy; t++)
            copy_channels(&c, t, i, i + 1);
        for (; t < end; t++)
            pack_tile(&c, t, i, i + 1, stride);
    }
}

/* A function for each instance, which then has the registers for itself. */
#define INSTANCE(what, stride)                                                                                         \
    static __attribute__((noinline)) void what##_##stride(const struct vbp_group *g)                                   \
    {                                                                                                                  \
        pack_##what(g, stride);                                                                                        \
    }

/* clang-format off */
INSTANCE(alone, 1) INSTANCE(alone, 2) INSTANCE(together, 1) INSTANCE(together, 2)
    /* clang-format on */

    void vbp_pack_group__vsx(const struct vbp_group *g)
{
    static void (*const pack[2][2])(const struct vbp_group *g) = { { together_1, together_2 }, { alone_1, alone_2 } };

    pack[g->n_tiles == 1][g->stride - 1](g);
}
#endif
