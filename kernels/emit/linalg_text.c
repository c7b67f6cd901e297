#include "kernels/emit/linalg_text.h"

#include <string.h>

#include "kernels/emit/c_source.h"

/* Returns a shape whose extents are given in the order of NCHW or of OIHW; NHWC and HWIO have them in another. */
static struct linalg_shape arranged(const struct linalg_text *t, const int order[4], size_t a, size_t b, size_t c,
                                    size_t d)
{
    const struct linalg_shape nchw = { { a, b, c, d } };
    struct linalg_shape s = nchw;

    for (size_t i = 0; t->layout == CONV_LINALG_NHWC && i < 4; i++)
        s.extent[i] = nchw.extent[order[i]];
    return s;
}

static const int nhwc_order[] = { 0, 2, 3, 1 }, hwio_order[] = { 2, 3, 1, 0 };

struct linalg_part linalg_whole(const struct conv_problem *p)
{
    return (struct linalg_part){
        { [LINALG_IMAGES] = p->n, [LINALG_FILTERS] = p->k, [LINALG_CHANNELS] = p->c, [LINALG_ROWS] = p->p },
        false,
        false
    };
}

struct linalg_shape linalg_input(const struct linalg_text *t, const struct linalg_part *part)
{
    const struct conv_problem *p = t->p;
    size_t width = p->w + p->pad_left + p->pad_right, rows = p->h + p->pad_top + p->pad_bottom;

    if (part->is_cut || part->extent[LINALG_ROWS] < p->p)
        rows = (part->extent[LINALG_ROWS] - 1) * p->stride_h + (p->r - 1) * p->dilation_h + 1;
    if (part->is_cut)
        width = (p->q - 1) * p->stride_w + (p->s - 1) * p->dilation_w + 1;
    return arranged(t, nhwc_order, part->extent[LINALG_IMAGES], part->extent[LINALG_CHANNELS], rows, width);
}

struct linalg_shape linalg_filter(const struct linalg_text *t, const struct linalg_part *part)
{
    return arranged(t, hwio_order, part->extent[LINALG_FILTERS], part->extent[LINALG_CHANNELS], t->p->r, t->p->s);
}

struct linalg_shape linalg_output(const struct linalg_text *t, const struct linalg_part *part)
{
    return arranged(t, nhwc_order, part->extent[LINALG_IMAGES], part->extent[LINALG_FILTERS], part->extent[LINALG_ROWS],
                    t->p->q);
}

void linalg_print_type(const struct linalg_text *t, const char *before, const char *kind, const struct linalg_shape *s,
                       const char *after)
{
    fprintf(t->out, "%s%s<%zux%zux", before, kind, s->extent[0], s->extent[1]);
    fprintf(t->out, "%zux%zuxf32>%s", s->extent[2], s->extent[3], after);
}

void linalg_print_tensor(const struct linalg_text *t, const char *before, const struct linalg_shape *s,
                         const char *after)
{
    linalg_print_type(t, before, "tensor", s, after);
}

void linalg_print_matrix(const struct linalg_text *t, const char *before, size_t rows, size_t columns,
                         const char *after)
{
    fprintf(t->out, "%stensor<%zux%zuxf32>%s", before, rows, columns, after);
}

const char *linalg_conv_name(const struct linalg_text *t)
{
    return t->layout == CONV_LINALG_NHWC ? "linalg.conv_2d_nhwc_hwcf" : "linalg.conv_2d_nchw_fchw";
}
