/* plugin: -l:libxsmm.a -l:libxsmmnoblas.a -lpthread -ldl -lrt -lm
 *
 * LIBXSMM's direct convolution (package libxsmm-dev, version 1.17) in its own layout: channels in blocks, images in
 * frames of zeros. The copies of images into the layout and back are timed, the copy of filters is not.
 */
#include <errno.h>
#include <libxsmm.h>
#include <stdlib.h>
#include <string.h>

#include "conv_plugin.h"

enum { IN, FILTERS, OUT, N_TENSORS };

static const libxsmm_dnn_tensor_type types[N_TENSORS] = { LIBXSMM_DNN_REGULAR_INPUT, LIBXSMM_DNN_REGULAR_FILTER,
                                                          LIBXSMM_DNN_REGULAR_OUTPUT };

struct state {
    libxsmm_dnn_layer *layer;
    libxsmm_dnn_tensor *tensor[N_TENSORS];
    float *memory[N_TENSORS];
    int block[N_TENSORS]; /* channels that lie side by side; of filters, output channels */
    void *scratch;
};

static const char *why_not(const struct conv_plugin_shape *s)
{
    if (s->groups > 1)
        return "LIBXSMM has no groups";
    if (s->dilation_h > 1 || s->dilation_w > 1)
        return "LIBXSMM has no dilation";
    if (s->pad_top != s->pad_bottom || s->pad_left != s->pad_right)
        return "LIBXSMM pads both sides alike";
    return NULL;
}

static void release(void *state)
{
    struct state *x = state;

    for (int i = 0; i < N_TENSORS; i++) {
        if (x->tensor[i]) {
            libxsmm_dnn_release_tensor(x->layer, types[i]);
            libxsmm_dnn_destroy_tensor(x->tensor[i]);
        }
        libxsmm_free(x->memory[i]);
    }
    if (x->scratch)
        libxsmm_dnn_release_scratch(x->layer, LIBXSMM_DNN_COMPUTE_KIND_FWD);
    libxsmm_free(x->scratch);
    if (x->layer)
        libxsmm_dnn_destroy_conv_layer(x->layer);
    free(x);
}

/* Makes a tensor in the layer's own layout, all zeros. */
static int add_tensor(struct state *x, int i)
{
    libxsmm_dnn_err_t status;
    libxsmm_dnn_tensor_datalayout *layout = libxsmm_dnn_create_tensor_datalayout(x->layer, types[i], &status);
    const size_t bytes = layout ? libxsmm_dnn_get_tensor_size(layout, &status) : 0;

    x->memory[i] = bytes ? libxsmm_aligned_malloc(bytes, 64) : NULL;
    if (x->memory[i]) {
        memset(x->memory[i], 0, bytes);
        x->block[i] = (int)layout->dim_size[0];
        x->tensor[i] = libxsmm_dnn_link_tensor(layout, x->memory[i], &status);
    }
    if (layout)
        libxsmm_dnn_destroy_tensor_datalayout(layout);
    return x->tensor[i] && !libxsmm_dnn_bind_tensor(x->layer, x->tensor[i], types[i]) ? 0 : -ENOMEM;
}

static int make_layer(struct state *x, const struct conv_plugin_shape *s)
{
    const libxsmm_dnn_conv_desc desc = {
        .N = s->batch,
        .C = s->in_channels,
        .H = s->in_h,
        .W = s->in_w,
        .K = s->out_channels,
        .R = s->kernel_h,
        .S = s->kernel_w,
        .u = s->stride_h,
        .v = s->stride_w,
        .pad_h = s->pad_top,
        .pad_w = s->pad_left,
        .pad_h_in = s->pad_top,
        .pad_w_in = s->pad_left,
        .threads = 1,
        .datatype_in = LIBXSMM_DNN_DATATYPE_F32,
        .datatype_out = LIBXSMM_DNN_DATATYPE_F32,
        .buffer_format = LIBXSMM_DNN_TENSOR_FORMAT_LIBXSMM,
        .filter_format = LIBXSMM_DNN_TENSOR_FORMAT_LIBXSMM,
        .algo = LIBXSMM_DNN_CONV_ALGO_DIRECT,
        .options = LIBXSMM_DNN_CONV_OPTION_OVERWRITE,
        .fuse_ops = LIBXSMM_DNN_CONV_FUSE_NONE,
    };
    libxsmm_dnn_err_t status;
    size_t bytes;

    libxsmm_init();
    x->layer = libxsmm_dnn_create_conv_layer(desc, &status);
    if (!x->layer)
        return -ENOTSUP;
    for (int i = 0; i < N_TENSORS; i++) {
        if (add_tensor(x, i))
            return -ENOMEM;
    }
    bytes = libxsmm_dnn_get_scratch_size(x->layer, LIBXSMM_DNN_COMPUTE_KIND_FWD, &status);
    x->scratch = bytes ? libxsmm_aligned_malloc(bytes, 2 << 20) : NULL;
    if (x->scratch && libxsmm_dnn_bind_scratch(x->layer, LIBXSMM_DNN_COMPUTE_KIND_FWD, x->scratch))
        return -EIO;
    return bytes && !x->scratch ? -ENOMEM : 0;
}

/* [K / block][C / block][R][S][block of C][block of K] */
static void copy_filters(const struct state *x, const struct conv_plugin_shape *s, const float *filters)
{
    const int of_c = x->block[IN], of_k = x->block[FILTERS], taps = s->kernel_h * s->kernel_w;

    for (int k = 0; k < s->out_channels; k++) {
        for (int c = 0; c < s->in_channels; c++) {
            const ptrdiff_t block = (ptrdiff_t)(k / of_k) * (s->in_channels / of_c) + c / of_c;
            float *to = x->memory[FILTERS] + (block * taps * of_c + c % of_c) * of_k + k % of_k;

            for (int t = 0; t < taps; t++)
                to[(ptrdiff_t)t * of_c * of_k] = *filters++;
        }
    }
}

static int prepare(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                   void **state)
{
    struct state *x = calloc(1, sizeof *x);
    int err = x ? make_layer(x, s) : -ENOMEM;

    (void)ask;
    if (!err && (s->in_channels % x->block[IN] || s->out_channels % x->block[OUT]))
        err = -ENOTSUP;
    if (!err)
        copy_filters(x, s, filters);
    if (err && x)
        release(x);
    *state = err ? NULL : x;
    return err;
}

/* Copies images between NCHW and [N][C / block][H + frame][W + frame][block]. */
static void copy(float *plain, float *own, const int size[4], int block, const int frame[2], int is_back)
{
    const int h = size[2], w = size[3], row = w + 2 * frame[1];

    for (int i = 0; i < size[0] * size[1] * h; i++, plain += w) {
        const int y = i % h, c = i / h % size[1], block_at = i / h / block; /* of all images' */
        float *to =
            own + (((ptrdiff_t)block_at * (h + 2 * frame[0]) + y + frame[0]) * row + frame[1]) * block + c % block;

        for (int k = 0; k < w && !is_back; k++)
            to[(ptrdiff_t)k * block] = plain[k];
        for (int k = 0; k < w && is_back; k++)
            plain[k] = to[(ptrdiff_t)k * block];
    }
}

static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    const int in_size[4] = { s->batch, s->in_channels, s->in_h, s->in_w }, frame[2] = { s->pad_top, s->pad_left };
    const int out_size[4] = { s->batch, s->out_channels, s->out_h, s->out_w }, none[2] = { 0, 0 };
    struct state *x = state;

    (void)filters;
    copy((float *)(uintptr_t)in, x->memory[IN], in_size, x->block[IN], frame, 0);
    libxsmm_dnn_execute_st(x->layer, LIBXSMM_DNN_COMPUTE_KIND_FWD, 0, 0);
    copy(out, x->memory[OUT], out_size, x->block[OUT], none, 1);
}

const struct conv_plugin conv_plugin = { .abi = CONV_PLUGIN_ABI,
                                         .name = "libxsmm",
                                         .title = "LIBXSMM",
                                         .why_not = why_not,
                                         .prepare = prepare,
                                         .run = run,
                                         .release = release };
