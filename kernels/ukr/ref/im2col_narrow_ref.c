/*
 * Caffe's im2col of elements of one or two bytes: conv_im2col's loops and order of accesses. No auto-vectorisation: a
 * source load is a machine load.
 */
#include <assert.h>

#include "kernels/ukr/element.h"

static bool below(ptrdiff_t x, size_t limit)
{
    return (size_t)x < limit; /* a negative x becomes a huge size */
}

/* Lowers a row of the matrix, for a filter position. */
#define LOWER_ROW(element)                                                                                             \
    static void lower_row_##element(const struct conv_problem *p, uint64_t in, size_t fh, size_t fw, uint64_t out)     \
    {                                                                                                                  \
        const element *plane = (const element *)(uintptr_t)in;                                                         \
        element *col = (element *)(uintptr_t)out;                                                                      \
                                                                                                                       \
        for (size_t oh = 0; oh < p->p; oh++) {                                                                         \
            ptrdiff_t ih = (ptrdiff_t)(oh * p->stride_h + fh * p->dilation_h) - (ptrdiff_t)p->pad_top;                 \
            ptrdiff_t iw = (ptrdiff_t)(fw * p->dilation_w) - (ptrdiff_t)p->pad_left;                                   \
                                                                                                                       \
            if (!below(ih, p->h)) {                                                                                    \
                for (size_t ow = 0; ow < p->q; ow++)                                                                   \
                    *col++ = 0;                                                                                        \
                continue;                                                                                              \
            }                                                                                                          \
            for (size_t ow = 0; ow < p->q; ow++, iw += (ptrdiff_t)p->stride_w)                                         \
                *col++ = below(iw, p->w) ? plane[(size_t)ih * p->w + (size_t)iw] : 0;                                  \
        }                                                                                                              \
    }
LOWER_ROW(uint8_t)
LOWER_ROW(uint16_t)

/* A row of the matrix: the plane that is read, the filter position, and where the row begins. */
struct lowered_row {
    uint64_t plane, col;
    size_t fh, fw;
};

static size_t element_bytes(const struct conv_im2col_args *a)
{
    return conv_types[a->p->type].bytes[CONV_INPUT];
}

static struct lowered_row row_of(const struct conv_im2col_args *a, size_t row)
{
    const struct conv_problem *p = a->p;
    const size_t taps = p->r * p->s, tap = row % taps;

    return (struct lowered_row){ .plane = a->in + row / taps * p->h * p->w * element_bytes(a),
                                 .col = a->col + row * p->p * p->q * element_bytes(a),
                                 .fh = tap / p->s,
                                 .fw = tap % p->s };
}

void conv_im2col_narrow(const struct conv_im2col_args *a)
{
    assert(element_bytes(a) <= sizeof(uint16_t));
    for (size_t row = 0; row < conv_reduction(a->p); row++) {
        const struct lowered_row x = row_of(a, row);

        (element_bytes(a) == 1 ? lower_row_uint8_t : lower_row_uint16_t)(a->p, x.plane, x.fh, x.fw, x.col);
    }
}

static struct sim_run element_at(enum sim_kind kind, enum conv_tensor tag, uint64_t addr, size_t bytes, size_t step)
{
    return (struct sim_run){
        .addr = addr,
        .step_bytes = (int64_t)(step * bytes),
        .count = 1,
        .access_bytes = (uint16_t)bytes,
        .kind = (uint8_t)kind,
        .tag = (uint8_t)tag,
        .phase = CONV_PHASE_IM2COL,
    };
}

/* Emits n stores side by side, and returns the address behind the last. */
static uint64_t emit_stores(uint64_t addr, size_t bytes, size_t n, struct sim_sink *sink)
{
    const struct sim_run store = element_at(SIM_STORE, CONV_IM2COL, addr, bytes, 1);

    if (n)
        sim_emit(sink, &store, 1, n);
    return addr + n * bytes;
}

static void emit_row(const struct conv_problem *p, const struct lowered_row *x, size_t bytes, struct sim_sink *sink)
{
    uint64_t col = x->col;

    for (size_t oh = 0; oh < p->p; oh++) {
        const struct conv_segment whole = {
            .len = p->q,
            .ih0 = (ptrdiff_t)(oh * p->stride_h) - (ptrdiff_t)p->pad_top,
            .iw0 = -(ptrdiff_t)p->pad_left,
        };
        const struct element_clip c = element_clip(p, &whole, x->fh, x->fw);
        struct sim_run copy[2];

        col = emit_stores(col, bytes, c.before, sink);
        copy[0] = element_at(SIM_LOAD, CONV_INPUT, x->plane + (c.row * p->w + c.column) * bytes, bytes, p->stride_w);
        copy[1] = element_at(SIM_STORE, CONV_IM2COL, col, bytes, 1);
        if (c.inside)
            sim_emit(sink, copy, 2, c.inside);
        col = emit_stores(col + c.inside * bytes, bytes, c.after, sink);
    }
}

void conv_im2col_narrow_emit(const struct conv_im2col_args *a, struct sim_sink *sink)
{
    for (size_t row = 0; row < conv_reduction(a->p); row++) {
        const struct lowered_row x = row_of(a, row);

        emit_row(a->p, &x, element_bytes(a), sink);
    }
}
