/* Caffe's im2col, with a test for padding at every element. No auto-vectorisation: a source load is a machine load. */
#include "kernels/ukr/element.h"

static bool below(ptrdiff_t x, size_t limit)
{
    return (size_t)x < limit; /* a negative x becomes a huge size */
}

static void lower_row(const struct conv_problem *p, const float *plane, size_t fh, size_t fw, float *col)
{
    for (size_t oh = 0; oh < p->p; oh++) {
        ptrdiff_t ih = (ptrdiff_t)(oh * p->stride_h + fh * p->dilation_h) - (ptrdiff_t)p->pad_top;
        ptrdiff_t iw = (ptrdiff_t)(fw * p->dilation_w) - (ptrdiff_t)p->pad_left;

        if (!below(ih, p->h)) {
            for (size_t ow = 0; ow < p->q; ow++)
                *col++ = 0;
            continue;
        }
        for (size_t ow = 0; ow < p->q; ow++, iw += (ptrdiff_t)p->stride_w)
            *col++ = below(iw, p->w) ? plane[(size_t)ih * p->w + (size_t)iw] : 0;
    }
}

void conv_im2col(const struct conv_im2col_args *a)
{
    const struct conv_problem *p = a->p;
    float *col = conv_out_ptr(a->col);

    for (size_t row = 0; row < conv_reduction(p); row++, col += p->p * p->q) {
        size_t tap = row % (p->r * p->s);
        const float *plane = conv_in_ptr(a->in) + row / (p->r * p->s) * p->h * p->w;

        lower_row(p, plane, tap / p->s, tap % p->s, col);
    }
}

static void emit_lowered_row(const struct conv_problem *p, uint64_t plane, size_t fh, size_t fw, uint64_t col,
                             struct sim_sink *sink)
{
    for (size_t oh = 0; oh < p->p; oh++, col += p->q * sizeof(float)) {
        struct conv_segment whole = {
            .len = p->q,
            .ih0 = (ptrdiff_t)(oh * p->stride_h) - (ptrdiff_t)p->pad_top,
            .iw0 = -(ptrdiff_t)p->pad_left,
        };
        struct element_clip c = element_clip(p, &whole, fh, fw);
        struct sim_run store = element_run(SIM_STORE, CONV_IM2COL, CONV_PHASE_IM2COL, col, 1, 1);

        element_emit_stores(store, c.before, sink);
        store.addr += c.before * sizeof(float);
        element_emit_copy(element_run(SIM_LOAD, CONV_INPUT, CONV_PHASE_IM2COL,
                                      plane + (c.row * p->w + c.column) * sizeof(float), (int64_t)p->stride_w, 1),
                          store, c.inside, sink);
        store.addr += c.inside * sizeof(float);
        element_emit_stores(store, c.after, sink);
    }
}

void conv_im2col_emit(const struct conv_im2col_args *a, struct sim_sink *sink)
{
    const struct conv_problem *p = a->p;

    for (size_t row = 0; row < conv_reduction(p); row++) {
        size_t tap = row % (p->r * p->s);
        uint64_t plane = a->in + row / (p->r * p->s) * p->h * p->w * sizeof(float);

        emit_lowered_row(p, plane, tap / p->s, tap % p->s, a->col + row * p->p * p->q * sizeof(float), sink);
    }
}
