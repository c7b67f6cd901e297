/* plugin: -lopenblas
 *
 * Rows at a time: a few rows of outputs are lowered, and OpenBLAS multiplies the rows while they are in a cache. The
 * whole im2col matrix never exists.
 */
#include <errno.h>
#include <stdlib.h>

#include "conv_plugin.h"

/* OpenBLAS's, whose header some installations lack. */
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc);

enum { LOWERED_BYTES = 256 << 10 }; /* at most, except for a single row: a part of most second levels */

struct state {
    int rows; /* lowered at a time */
    float lowered[];
};

static int reduction(const struct conv_plugin_shape *s)
{
    return s->in_channels / s->groups * s->kernel_h * s->kernel_w;
}

static size_t row_bytes(const struct conv_plugin_shape *s)
{
    return (size_t)reduction(s) * (size_t)s->out_w * sizeof(float);
}

static int prepare(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                   void **state)
{
    const size_t fit = LOWERED_BYTES / row_bytes(s), rows = fit > (size_t)s->out_h ? (size_t)s->out_h : fit ? fit : 1;
    struct state *x = malloc(sizeof *x + rows * row_bytes(s));

    (void)ask, (void)filters;
    if (!x)
        return -ENOMEM;
    x->rows = (int)rows;
    *state = x;
    return 0;
}

/* Writes the windows of some output rows: a row of the matrix for each tap of each channel. */
static void lower(const struct conv_plugin_shape *s, const float *image, int y0, int rows, float *to)
{
    for (int i = 0; i < reduction(s); i++) {
        const int c = i / (s->kernel_h * s->kernel_w), r = i / s->kernel_w % s->kernel_h, t = i % s->kernel_w;

        for (int y = y0; y < y0 + rows; y++) {
            const int h = y * s->stride_h + r * s->dilation_h - s->pad_top;
            const float *row = image + ((ptrdiff_t)c * s->in_h + h) * s->in_w;

            for (int x = 0; x < s->out_w; x++) {
                const int w = x * s->stride_w + t * s->dilation_w - s->pad_left;

                *to++ = h >= 0 && h < s->in_h && w >= 0 && w < s->in_w ? row[w] : 0;
            }
        }
    }
}

static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    const int channels = s->in_channels / s->groups, per_group = s->out_channels / s->groups;
    const ptrdiff_t plane = (ptrdiff_t)s->out_h * s->out_w;
    struct state *x = state;

    for (int g = 0; g < s->batch * s->groups; g++) {
        const float *image = in + (ptrdiff_t)g * channels * s->in_h * s->in_w;
        const float *own = filters + (ptrdiff_t)(g % s->groups) * per_group * reduction(s);

        for (int y = 0; y < s->out_h; y += x->rows) {
            const int rows = y + x->rows < s->out_h ? x->rows : s->out_h - y, n = rows * s->out_w;

            lower(s, image, y, rows, x->lowered);
            cblas_sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, per_group, n, reduction(s), 1, own, reduction(s),
                        x->lowered, n, 0, out + g * per_group * plane + (ptrdiff_t)y * s->out_w, (int)plane);
        }
    }
}

const struct conv_plugin conv_plugin = { .abi = CONV_PLUGIN_ABI,
                                         .name = "openblas_rows",
                                         .title = "OpenBLAS, by rows",
                                         .prepare = prepare,
                                         .run = run,
                                         .release = free };
