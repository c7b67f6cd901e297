/* Quantized operators: their inputs, and the scale of each element. */
#include <errno.h>

#include "experiments/onnx/graph.h"

/* ---- operators of whole numbers ---- */

#define INTEGERS(op_, convolves_)                                                                                      \
    {                                                                                                                  \
        op_, .x = 0, .w = 1, .x_zero = 2, .w_zero = 3, .x_scale = ONNX_NONE, .w_scale = ONNX_NONE,                     \
             .y_scale = ONNX_NONE, .y_zero = ONNX_NONE, .bias = ONNX_NONE, .convolves = (convolves_)                   \
    }
#define SCALED(op_, bias_, convolves_)                                                                                 \
    {                                                                                                                  \
        op_, .x = 0, .x_scale = 1, .x_zero = 2, .w = 3, .w_scale = 4, .w_zero = 5, .y_scale = 6, .y_zero = 7,          \
             .bias = (bias_), .convolves = (convolves_)                                                                \
    }

static const struct onnx_integers integers[] = {
    INTEGERS("ConvInteger", true),
    INTEGERS("MatMulInteger", false),
    SCALED("QLinearConv", 8, true),
    SCALED("QLinearMatMul", ONNX_NONE, false),
};

const struct onnx_integers *onnx_integers(const struct onnx_node *n)
{
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        if (onnx_is(n, integers[i].op))
            return &integers[i];
    }
    return NULL;
}

/* ---- scales of elements ---- */

static int read_blocks(const struct onnx_value *in, const struct onnx_value *scale, size_t axis, int64_t block,
                       struct onnx_scales *s, struct exp_why *why)
{
    for (size_t d = 0; d < in->n_dims; d++) {
        const int64_t needed = d == axis && in->dim[d] ? (in->dim[d] - 1) / block + 1 : in->dim[d];

        if (scale->dim[d] != needed)
            return exp_fail(why, -EINVAL, "dimension %zu of its scale '%.100s' is %lld, and blocks of %lld need %lld",
                            d, scale->name, (long long)scale->dim[d], (long long)block, (long long)needed);
    }
    s->block = (size_t)block;
    s->inner_step = 1;
    s->block_step = s->inner;
    s->outer_step = s->inner * (size_t)scale->dim[axis];
    return 0;
}

int onnx_scales(const struct onnx_graph *g, const struct onnx_node *n, struct onnx_scales *s, struct exp_why *why)
{
    const struct onnx_value *in = onnx_in(g, n, 0), *scale = onnx_in(g, n, 1);
    const int64_t block = onnx_int(n, "block_size", 0), rank = (int64_t)in->n_dims;
    int64_t axis = onnx_int(n, "axis", 1);

    *s = (struct onnx_scales){ .inner = 1, .dim = 1, .block = 1 };
    if (scale->elements == 1 && scale->n_dims < 2 && !block)
        return 0;
    if (axis < -rank || axis >= rank)
        return exp_fail(why, -EINVAL, "axis %lld of %zu dimensions", (long long)axis, in->n_dims);
    axis += axis < 0 ? rank : 0;
    for (size_t d = (size_t)axis + 1; d < in->n_dims; d++)
        s->inner *= in->dim[d] ? (size_t)in->dim[d] : 1;
    s->dim = in->dim[axis] ? (size_t)in->dim[axis] : 1;
    if (block > 0 && scale->n_dims == in->n_dims)
        return read_blocks(in, scale, (size_t)axis, block, s, why);
    if (block || scale->n_dims != 1 || scale->dim[0] != in->dim[axis])
        return exp_fail(why, -EINVAL, "its scale '%.100s' has %zu elements, and its axis %lld has %lld", scale->name,
                        scale->elements, (long long)axis, (long long)in->dim[axis]);
    s->block_step = 1;
    return 0;
}
