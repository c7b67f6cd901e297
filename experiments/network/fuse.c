#include "experiments/network/inside.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/network/operators/inside.h"

/* ---- scale and shift of channels ---- */

static bool is_float_constant(const struct onnx_value *v)
{
    return v && onnx_is_constant(v) && v->type == ONNX_FLOAT;
}

/* Tells whether a constant is a single number, or has a number for each channel of the broadcast shape. */
static bool is_of_channels(const struct onnx_value *constant, const struct onnx_value *to, size_t channels)
{
    const size_t axis =
        constant->n_dims + 1 - to->n_dims; /* of the channels, if the constant has an axis of channels */

    if (!is_float_constant(constant) || constant->n_dims > to->n_dims)
        return false;
    if (constant->elements == 1)
        return true;
    return constant->elements == channels && constant->n_dims + 1 >= to->n_dims &&
           (size_t)constant->dim[axis] == channels;
}

/* Returns a binary node's operand beside `in`; NULL: `in` twice, or not two operands. */
static const struct onnx_value *other_operand(const struct onnx_graph *g, const struct onnx_node *n, size_t in)
{
    if (n->n_in != 2 || n->in[0] == n->in[1])
        return NULL;
    return n->in[0] == in ? onnx_in(g, n, 1) : onnx_in(g, n, 0);
}

static bool same_shape(const struct onnx_value *a, const struct onnx_value *b)
{
    return a->n_dims == b->n_dims && !memcmp(a->dim, b->dim, a->n_dims * sizeof *a->dim);
}

/* Tells whether a node is batch normalisation by constants, as in inference. */
static bool is_bnorm(const struct onnx_graph *g, const struct onnx_node *n, size_t in, size_t channels)
{
    if (!onnx_is(n, "BatchNormalization") || n->n_in < 5 || n->in[0] != in || onnx_int(n, "training_mode", 0))
        return false;
    for (size_t i = 1; i < 5; i++) {
        const struct onnx_value *v = onnx_in(g, n, i);

        if (!is_float_constant(v) || v->elements != channels)
            return false;
    }
    return true;
}

bool net_is_by_channel(const struct onnx_graph *g, const struct onnx_node *n, size_t in, size_t channels)
{
    const struct onnx_value *other;

    assert(g && n);
    if (is_bnorm(g, n, in, channels))
        return true;
    if (!onnx_is(n, "Mul") && !onnx_is(n, "Add") && !onnx_is(n, "Sub") && !onnx_is(n, "Div"))
        return false;
    other = other_operand(g, n, in);
    if (!other || !same_shape(onnx_out(g, n, 0), &g->value[in]) || !is_of_channels(other, &g->value[in], channels))
        return false;
    return n->in[0] == in || onnx_is(n, "Mul") || onnx_is(n, "Add");
}

static void add_bnorm(const struct onnx_graph *g, const struct onnx_node *n, double *scale, double *shift,
                      size_t channels)
{
    const double epsilon = (double)onnx_float(n, "epsilon", 1e-5f);

    for (size_t k = 0; k < channels; k++) {
        double factor = onnx_element(onnx_in(g, n, 1), k) / sqrt(onnx_element(onnx_in(g, n, 4), k) + epsilon);

        scale[k] *= factor;
        shift[k] = (shift[k] - onnx_element(onnx_in(g, n, 3), k)) * factor + onnx_element(onnx_in(g, n, 2), k);
    }
}

void net_add_by_channel(const struct onnx_graph *g, const struct onnx_node *n, size_t in, double *scale, double *shift,
                        size_t channels)
{
    const struct onnx_value *other;

    if (onnx_is(n, "BatchNormalization")) {
        add_bnorm(g, n, scale, shift, channels);
        return;
    }
    other = other_operand(g, n, in);
    for (size_t k = 0; k < channels; k++) {
        double x = onnx_element(other, other->elements == 1 ? 0 : k);

        if (onnx_is(n, "Mul") || onnx_is(n, "Div")) {
            x = onnx_is(n, "Mul") ? x : 1 / x;
            scale[k] *= x;
            shift[k] *= x;
        } else {
            shift[k] += onnx_is(n, "Add") ? x : -x;
        }
    }
}

void net_fold(const struct onnx_graph *g, const size_t *node, size_t n, double *scale, double *shift, size_t filters)
{
    bool is_behind = false; /* the convolution */
    size_t value = ONNX_NONE;

    assert(scale && shift && filters);
    for (size_t k = 0; k < filters; k++)
        scale[k] = 1;
    for (size_t i = 0; i < n; i++) {
        const struct onnx_node *x = &g->node[node[i]];
        const struct onnx_value *bias = is_behind || !onnx_is(x, "Conv") ? NULL : onnx_in(g, x, 2);

        if (is_behind && net_is_by_channel(g, x, value, filters))
            net_add_by_channel(g, x, value, scale, shift, filters);
        for (size_t k = 0; k < filters && bias; k++)
            shift[k] = onnx_element(bias, k);
        is_behind |= onnx_is(x, "Conv");
        value = x->out[0];
    }
}

bool net_is_finite(const struct onnx_value *constant, double *most)
{
    const float *x = constant->data;
    bool is_finite = x || isfinite(constant->fill);

    if (most)
        *most = x ? op_largest(x, constant->elements) : fabs((double)constant->fill);
    for (size_t i = 0; x && i < constant->elements && is_finite; i++)
        is_finite = isfinite(x[i]);
    return is_finite;
}

/* ---- activations ---- */

enum sconv_activation net_activation(const struct onnx_graph *g, const struct onnx_node *n)
{
    double low, high;

    if (onnx_is(n, "Relu"))
        return SCONV_RELU;
    if (!onnx_is(n, "Clip") || onnx_number(g, n, "min", 1, -INFINITY, &low) ||
        onnx_number(g, n, "max", 2, INFINITY, &high) || low != 0)
        return SCONV_NO_ACTIVATION;
    return high == 6 ? SCONV_RELU6 : high >= (double)3.4028234e38f ? SCONV_RELU : SCONV_NO_ACTIVATION;
}

/* ---- padding ---- */

/* Reads begin and end of an axis of a list of pads for n_dims axes. */
static bool is_plain_pad(const struct onnx_list *pads, size_t n_dims)
{
    if (pads->n != 2 * n_dims || n_dims < 3 || n_dims > 4)
        return false;
    for (size_t i = 0; i < pads->n; i++)
        if (pads->at[i] < 0 || (i % n_dims < 2 && pads->at[i]))
            return false;
    return true;
}

bool net_add_padding(const struct onnx_graph *g, const struct onnx_node *pad, struct conv_problem *p)
{
    const struct onnx_value *in = onnx_in(g, pad, 0);
    struct conv_problem padded = *p;
    struct onnx_list pads;
    double value;

    assert(p);
    if (!onnx_is(pad, "Pad") || strcmp(onnx_text(pad, "mode", "constant"), "constant") || !in || !in->has_shape ||
        pad->n_in > 3 || onnx_number(g, pad, "value", 2, 0, &value) || value != 0)
        return false;
    if (onnx_list(g, pad, g->opset < 2 ? "paddings" : "pads", 1, &pads) || !is_plain_pad(&pads, in->n_dims))
        return false;
    if (in->n_dims == 4) {
        padded.pad_top += (size_t)pads.at[2];
        padded.pad_bottom += (size_t)pads.at[6];
        padded.h = (size_t)in->dim[2];
    }
    padded.pad_left += (size_t)pads.at[in->n_dims - 1];
    padded.pad_right += (size_t)pads.at[2 * in->n_dims - 1];
    padded.w = (size_t)in->dim[in->n_dims - 1];
    if (conv_problem_finish(&padded, SIM_NO_WHY))
        return false;
    *p = padded;
    return true;
}
