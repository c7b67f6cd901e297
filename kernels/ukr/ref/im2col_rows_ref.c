/*
 * im2col a row at a time: the padding is found once per output row instead of once per element, and elements inside are
 * copied 16 bytes at a time where windows are adjacent. The matrix is Caffe's; the baseline cannot be called slow.
 * Vectors are the compiler's own, of a width that all CPUs here have, so a piece in the source is a piece in the
 * machine.
 */
#include "kernels/ukr/pack.h"
#include "kernels/ukr/element.h"

enum { PIECE = 4 };

typedef float piece __attribute__((vector_size(PIECE * sizeof(float)), aligned(4), may_alias));

static void clear(float *to, size_t n)
{
    const piece zero = { 0 };

    for (; n >= PIECE; n -= PIECE, to += PIECE)
        *(piece *)to = zero;
    for (; n; n--)
        *to++ = 0;
}

static void copy(float *to, const float *from, size_t n)
{
    for (; n >= PIECE; n -= PIECE, to += PIECE, from += PIECE)
        *(piece *)to = *(const piece *)from;
    for (; n; n--)
        *to++ = *from++;
}

static void gather(float *to, const float *from, size_t stride, size_t n)
{
    for (; n; n--, from += stride)
        *to++ = *from;
}

static struct conv_segment whole_row(const struct conv_problem *p, size_t oh)
{
    return (struct conv_segment){
        .len = p->q,
        .ih0 = (ptrdiff_t)(oh * p->stride_h) - (ptrdiff_t)p->pad_top,
        .iw0 = -(ptrdiff_t)p->pad_left,
    };
}

static void lower_row(const struct conv_problem *p, const float *plane, size_t fh, size_t fw, float *col)
{
    for (size_t oh = 0; oh < p->p; oh++, col += p->q) {
        const struct conv_segment row = whole_row(p, oh);
        const struct element_clip c = element_clip(p, &row, fh, fw);

        clear(col, c.before);
        if (p->stride_w == 1)
            copy(col + c.before, plane + c.row * p->w + c.column, c.inside);
        else
            gather(col + c.before, plane + c.row * p->w + c.column, p->stride_w, c.inside);
        clear(col + c.before + c.inside, c.after);
    }
}

void conv_im2col_rows(const struct conv_im2col_args *a)
{
    const struct conv_problem *p = a->p;
    float *col = conv_out_ptr(a->col);

    for (size_t row = 0; row < conv_reduction(p); row++, col += p->p * p->q) {
        size_t tap = row % (p->r * p->s);
        const float *plane = conv_in_ptr(a->in) + row / (p->r * p->s) * p->h * p->w;

        lower_row(p, plane, tap / p->s, tap % p->s, col);
    }
}
