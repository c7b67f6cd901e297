/* plugin: -lXNNPACK -lpthreadpool
 *
 * XNNPACK's convolution (packages libxnnpack-dev, libpthreadpool-dev). XNNPACK knows NHWC only, so images are
 * transposed before and behind the convolution, and the transposes are timed; filters are packed ahead.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <xnnpack.h>

#include "conv_plugin.h"

struct state {
    xnn_operator_t op;
    float *in, *out; /* NHWC */
};

static size_t elements(const struct conv_plugin_shape *s, int is_output)
{
    return is_output ? (size_t)s->batch * (size_t)s->out_channels * (size_t)s->out_h * (size_t)s->out_w
                     : (size_t)s->batch * (size_t)s->in_channels * (size_t)s->in_h * (size_t)s->in_w;
}

/* Transposes each image: n matrices. */
static void transpose(float *to, const float *from, size_t n, size_t rows, size_t columns)
{
    enum { BLOCK = 16 }; /* rows of source and target that are in the first level together */

    for (size_t i = 0; i < n; i++, to += rows * columns, from += rows * columns) {
        for (size_t r0 = 0; r0 < rows; r0 += BLOCK) {
            for (size_t c = 0; c < columns; c++) {
                for (size_t r = r0; r < rows && r < r0 + BLOCK; r++)
                    to[c * rows + r] = from[r * columns + c];
            }
        }
    }
}

static void release(void *state)
{
    struct state *x = state;

    if (x->op)
        xnn_delete_operator(x->op);
    free(x->in);
    free(x->out);
    free(x);
}

/* Makes the operator from filters in XNNPACK's order: output channel, row, column, input channel. */
static int make_operator(struct state *x, const struct conv_plugin_shape *s, const float *filters)
{
    const size_t channels = (size_t)(s->in_channels / s->groups), per_group = (size_t)(s->out_channels / s->groups);
    const size_t taps = (size_t)s->kernel_h * (size_t)s->kernel_w;
    float *own = malloc((size_t)s->out_channels * channels * taps * sizeof *own);
    /* The reach of the last window: XNNPACK derives the output's size from it. */
    const int bottom = (s->out_h - 1) * s->stride_h + (s->kernel_h - 1) * s->dilation_h + 1 - s->in_h - s->pad_top;
    const int right = (s->out_w - 1) * s->stride_w + (s->kernel_w - 1) * s->dilation_w + 1 - s->in_w - s->pad_left;
    enum xnn_status status;

    if (!own)
        return -ENOMEM;
    transpose(own, filters, (size_t)s->out_channels, channels, taps);
    status = xnn_create_convolution2d_nhwc_f32(
        (uint32_t)s->pad_top, right > 0 ? (uint32_t)right : 0, bottom > 0 ? (uint32_t)bottom : 0, (uint32_t)s->pad_left,
        (uint32_t)s->kernel_h, (uint32_t)s->kernel_w, (uint32_t)s->stride_h, (uint32_t)s->stride_w,
        (uint32_t)s->dilation_h, (uint32_t)s->dilation_w, (uint32_t)s->groups, channels, per_group,
        (size_t)s->in_channels, (size_t)s->out_channels, own, NULL, -INFINITY, INFINITY, 0, &x->op);
    free(own);
    return status ? -ENOTSUP : 0;
}

static int prepare(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                   void **state)
{
    struct state *x = calloc(1, sizeof *x);
    int err = x && !xnn_initialize(NULL) ? 0 : -ENOMEM;

    (void)ask;
    if (!x)
        return err;
    x->in = malloc(elements(s, 0) * sizeof *x->in + XNN_EXTRA_BYTES);
    x->out = malloc(elements(s, 1) * sizeof *x->out);
    if (!err)
        err = x->in && x->out ? make_operator(x, s, filters) : -ENOMEM;
    if (!err && xnn_setup_convolution2d_nhwc_f32(x->op, (size_t)s->batch, (size_t)s->in_h, (size_t)s->in_w, x->in,
                                                 x->out, NULL))
        err = -ENOTSUP;
    if (err)
        release(x);
    *state = err ? NULL : x;
    return err;
}

static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    struct state *x = state;

    (void)filters;
    transpose(x->in, in, (size_t)s->batch, (size_t)s->in_channels, (size_t)s->in_h * (size_t)s->in_w);
    xnn_run_operator(x->op, NULL);
    transpose(out, x->out, (size_t)s->batch, (size_t)s->out_h * (size_t)s->out_w, (size_t)s->out_channels);
}

const struct conv_plugin conv_plugin = {
    .abi = CONV_PLUGIN_ABI, .name = "xnnpack", .title = "XNNPACK", .prepare = prepare, .run = run, .release = release
};
