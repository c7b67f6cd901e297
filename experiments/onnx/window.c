/* Windows of convolutions and poolings: pads of auto_pad, and numbers of outputs. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "experiments/onnx/graph.h"

enum { MOST = INT32_MAX }; /* of any number here: results do not overflow */

/* Reads a list of n numbers from low on, each `otherwise` where there is none. */
static int read_list(const struct onnx_node *node, const char *name, size_t n, int64_t low, int64_t otherwise,
                     int64_t *to, struct exp_why *why)
{
    size_t count;
    const int64_t *list = onnx_ints(node, name, &count);

    if (list && count && count != n)
        return exp_fail(why, -EINVAL, "%s has %zu numbers, and needs %zu", name, count, n);
    for (size_t i = 0; i < n; i++) {
        to[i] = list && count ? list[i] : otherwise;
        if (to[i] < low || to[i] > MOST)
            return exp_fail(why, -EINVAL, "%s of %lld, not from %lld to %d", name, (long long)to[i], (long long)low,
                            MOST);
    }
    return 0;
}

/* The kernel comes from the filters, or from an attribute. */
static int read_kernel(const struct onnx_node *node, const struct onnx_value *filters, struct onnx_window *w,
                       struct exp_why *why)
{
    const int err = read_list(node, "kernel_shape", w->n, 1, 0, w->kernel, why);
    size_t count;

    if (!filters)
        return err;
    if (filters->n_dims != w->n + 2)
        return exp_fail(why, -EINVAL, "its input has %zu dimensions, its filters have %zu", w->n + 2, filters->n_dims);
    for (size_t i = 0; i < w->n; i++) {
        if (onnx_ints(node, "kernel_shape", &count) && count && w->kernel[i] != filters->dim[i + 2])
            return exp_fail(why, -EINVAL, "kernel_shape says %lld, its filters say %lld", (long long)w->kernel[i],
                            (long long)filters->dim[i + 2]);
        w->kernel[i] = filters->dim[i + 2];
        if (w->kernel[i] < 1 || w->kernel[i] > MOST)
            return exp_fail(why, -EINVAL, "its filters have a dimension of %lld", (long long)w->kernel[i]);
    }
    return 0;
}

static int read_numbers(const struct onnx_node *node, const struct onnx_value *in, const struct onnx_value *filters,
                        struct onnx_window *w, struct exp_why *why)
{
    int64_t pads[2 * ONNX_MAX_DIMS];
    int err;

    if (in->n_dims < 3)
        return exp_fail(why, -EINVAL, "its input has %zu dimensions, and needs 3 or more", in->n_dims);
    w->n = in->n_dims - 2;
    err = read_kernel(node, filters, w, why);
    err = err ? err : read_list(node, "strides", w->n, 1, 1, w->stride, why);
    err = err ? err : read_list(node, "dilations", w->n, 1, 1, w->dilation, why);
    err = err ? err : read_list(node, "pads", 2 * w->n, 0, 0, pads, why);
    for (size_t i = 0; i < w->n && !err; i++) {
        w->begin[i] = pads[i];
        w->end[i] = pads[i + w->n];
        if (in->dim[i + 2] > MOST)
            err = exp_fail(why, -EOVERFLOW, "its input has a dimension of %lld", (long long)in->dim[i + 2]);
    }
    return err;
}

/* How many elements the kernel spans on an axis. */
static int64_t span(const struct onnx_window *w, size_t axis)
{
    return (w->kernel[axis] - 1) * w->dilation[axis] + 1;
}

/* Splits padding: the odd element stands behind for SAME_UPPER, else before. */
static void split_pads(struct onnx_window *w, size_t axis, int64_t pads, const char *auto_pad)
{
    const bool is_lower = strcmp(auto_pad, "SAME_UPPER") != 0;

    pads = pads > 0 ? pads : 0;
    w->begin[axis] = is_lower ? pads - pads / 2 : pads / 2;
    w->end[axis] = pads - w->begin[axis];
}

static bool is_same(const char *auto_pad)
{
    return !strcmp(auto_pad, "SAME_UPPER") || !strcmp(auto_pad, "SAME_LOWER");
}

static int check_auto_pad(const char *auto_pad, struct exp_why *why)
{
    if (is_same(auto_pad) || !strcmp(auto_pad, "NOTSET") || !strcmp(auto_pad, "VALID") || !*auto_pad)
        return 0;
    return exp_fail(why, -EINVAL, "auto_pad '%.40s' is not known", auto_pad);
}

/* Counts outputs of an axis. Rounding up, the last window still begins in the input or in the padding before it. */
static int count_forward(struct onnx_window *w, size_t axis, int64_t in, bool rounds_up, struct exp_why *why)
{
    const int64_t room = in + w->begin[axis] + w->end[axis] - span(w, axis), stride = w->stride[axis];

    if (room < 0)
        return exp_fail(why, -EINVAL, "its kernel spans %lld, and input with padding has %lld",
                        (long long)span(w, axis), (long long)(in + w->begin[axis] + w->end[axis]));
    w->out[axis] = room / stride + 1;
    if (rounds_up && room % stride && w->out[axis] * stride < in + w->begin[axis])
        w->out[axis]++;
    return 0;
}

static int set_forward(const struct onnx_node *node, const struct onnx_value *in, struct onnx_window *w,
                       struct exp_why *why)
{
    const char *auto_pad = onnx_text(node, "auto_pad", "NOTSET");
    const bool rounds_up = onnx_int(node, "ceil_mode", 0) && !onnx_is_conv(node);
    int err = check_auto_pad(auto_pad, why);

    for (size_t i = 0; i < w->n && !err; i++) {
        const int64_t size = in->dim[i + 2], outputs = (size + w->stride[i] - 1) / w->stride[i];

        if (is_same(auto_pad))
            split_pads(w, i, (outputs - 1) * w->stride[i] + span(w, i) - size, auto_pad);
        else if (!strcmp(auto_pad, "VALID"))
            w->begin[i] = w->end[i] = 0;
        err = count_forward(w, i, size, rounds_up, why);
    }
    return err;
}

/* ---- transposed convolutions ---- */

/* Sets padding and outputs of an axis: `wanted`: outputs stated by the file, else 0. */
static int set_backward(struct onnx_window *w, size_t axis, int64_t in, int64_t more, int64_t wanted,
                        const char *auto_pad, struct exp_why *why)
{
    const int64_t whole = (in - 1) * w->stride[axis] + more + span(w, axis);

    if (!wanted && is_same(auto_pad))
        wanted = in * w->stride[axis] < whole ? in * w->stride[axis] : whole; /* negative padding */
    if (wanted)
        split_pads(w, axis, whole - wanted, auto_pad);
    else if (!strcmp(auto_pad, "VALID"))
        w->begin[axis] = w->end[axis] = 0;
    w->out[axis] = wanted ? wanted : whole - w->begin[axis] - w->end[axis];
    if (w->out[axis] < 0 || in < 1)
        return exp_fail(why, -EINVAL, "it would have %lld outputs on an axis", (long long)w->out[axis]);
    return 0;
}

static int set_transposed(const struct onnx_node *node, const struct onnx_value *in, struct onnx_window *w,
                          struct exp_why *why)
{
    const char *auto_pad = onnx_text(node, "auto_pad", "NOTSET");
    int64_t more[ONNX_MAX_DIMS], wanted[ONNX_MAX_DIMS];
    int err = check_auto_pad(auto_pad, why);

    err = err ? err : read_list(node, "output_padding", w->n, 0, 0, more, why);
    err = err ? err : read_list(node, "output_shape", w->n, 0, 0, wanted, why);
    for (size_t i = 0; i < w->n && !err; i++)
        err = set_backward(w, i, in->dim[i + 2], more[i], wanted[i], auto_pad, why);
    return err;
}

int onnx_window(const struct onnx_graph *g, const struct onnx_node *n, struct onnx_window *w, struct exp_why *why)
{
    const struct onnx_value *in = onnx_in(g, n, 0), *filters = NULL;
    const struct onnx_integers *integers = onnx_integers(n);
    const bool is_transposed = onnx_is(n, "ConvTranspose");
    int err;

    assert(w);
    *w = (struct onnx_window){ 0 };
    if (is_transposed || integers || onnx_is_conv(n))
        filters = onnx_in(g, n, integers ? integers->w : 1);
    if (!in || !in->has_shape || (filters && !filters->has_shape))
        return exp_fail(why, -EINVAL, "the shape of an input is not known");
    err = read_numbers(n, in, filters, w, why);
    if (err)
        return err;
    return is_transposed ? set_transposed(n, in, w, why) : set_forward(n, in, w, why);
}

/* ---- sizes of planes ---- */

static int read_axes(const struct onnx_value *in, const struct onnx_node *n, struct onnx_resized *r,
                     struct exp_why *why)
{
    const int64_t *axes = onnx_ints(n, "axes", &r->n), rank = (int64_t)in->n_dims;
    bool seen[ONNX_MAX_DIMS] = { false };

    r->n = axes ? r->n : in->n_dims;
    for (size_t i = 0; i < r->n; i++) {
        const int64_t axis = axes ? axes[i] : (int64_t)i, at = axis < 0 ? axis + rank : axis;

        if (at < 0 || at >= rank || seen[at])
            return exp_fail(why, -EINVAL, "axis %lld of %zu dimensions is none, or stands twice", (long long)axis,
                            in->n_dims);
        seen[at] = true;
        r->axis[i] = (size_t)at;
    }
    return 0;
}

/* Computes the smallest or the largest of the requested scales. */
static int keep_ratio(const struct onnx_value *in, const struct onnx_list *sizes, bool is_largest,
                      struct onnx_resized *r, struct exp_why *why)
{
    for (size_t i = 0; i < r->n; i++) {
        const int64_t dim = in->dim[r->axis[i]];
        const double scale = dim ? (double)sizes->at[i] / (double)dim : 0;

        if (!(scale > 0))
            return exp_fail(why, -EINVAL, "a size of %lld for %lld", (long long)sizes->at[i], (long long)dim);
        if (!i || (is_largest ? scale > r->kept : scale < r->kept))
            r->kept = scale;
    }
    return 0;
}

int onnx_resized(const struct onnx_graph *g, const struct onnx_node *n, struct onnx_resized *r, struct exp_why *why)
{
    const struct onnx_value *in = onnx_in(g, n, 0), *given = g->opset < 11 ? NULL : onnx_in(g, n, 3);
    const char *policy = onnx_text(n, "keep_aspect_ratio_policy", "stretch");
    const bool is_largest = !strcmp(policy, "not_smaller");
    struct onnx_list sizes;
    int err;

    assert(r);
    *r = (struct onnx_resized){ 0 };
    err = read_axes(in, n, r, why);
    if (err || !given || !given->elements || !strcmp(policy, "stretch"))
        return err;
    if (!is_largest && strcmp(policy, "not_larger") != 0)
        return exp_fail(why, -EINVAL, "keep_aspect_ratio_policy '%.40s' is not known", policy);
    if (onnx_list(g, n, "sizes", 3, &sizes))
        return exp_fail(why, -EAGAIN, "its sizes depend on data");
    if (sizes.n != r->n)
        return exp_fail(why, -EINVAL, "%zu sizes for %zu dimensions", sizes.n, r->n);
    return keep_ratio(in, &sizes, is_largest, r, why);
}

/* ---- convolutions of planes ---- */

static int check_conv(const struct onnx_graph *g, const struct onnx_node *n, const struct onnx_value *filters,
                      struct exp_why *why)
{
    const struct onnx_value *in = onnx_in(g, n, 0), *out = onnx_out(g, n, 0);

    if (n->why_unread)
        return exp_fail(why, -EINVAL, "%s", n->why_unread);
    if (!in || !filters || !out || !in->has_shape || !filters->has_shape || !out->has_shape)
        return exp_fail(why, -EINVAL, "%s", n->why_no_shape ? n->why_no_shape : "its shape is not known");
    if (in->n_dims != 3 && in->n_dims != 4)
        return exp_fail(why, -EINVAL, "it has %zu spatial dimensions; 1 and 2 are run here", in->n_dims - 2);
    return 0;
}

static int make_problem(const struct onnx_graph *g, const struct onnx_node *n, const struct onnx_value *filters,
                        enum conv_type type, struct conv_problem *p, struct exp_why *why)
{
    const struct onnx_value *in = onnx_in(g, n, 0);
    struct onnx_window w;
    size_t x; /* the axis of the width */
    int err = check_conv(g, n, filters, why);

    err = err ? err : onnx_window(g, n, &w, why);
    if (err)
        return err;
    x = w.n - 1;
    *p = (struct conv_problem){
        .n = (size_t)in->dim[0],
        .c = (size_t)in->dim[1],
        .h = w.n == 2 ? (size_t)in->dim[2] : 1,
        .w = (size_t)in->dim[x + 2],
        .k = (size_t)filters->dim[0],
        .r = w.n == 2 ? (size_t)w.kernel[0] : 1,
        .s = (size_t)w.kernel[x],
        .stride_h = w.n == 2 ? (size_t)w.stride[0] : 1,
        .stride_w = (size_t)w.stride[x],
        .pad_top = w.n == 2 ? (size_t)w.begin[0] : 0,
        .pad_left = (size_t)w.begin[x],
        .pad_bottom = w.n == 2 ? (size_t)w.end[0] : 0,
        .pad_right = (size_t)w.end[x],
        .dilation_h = w.n == 2 ? (size_t)w.dilation[0] : 1,
        .dilation_w = (size_t)w.dilation[x],
        .groups = (size_t)onnx_int(n, "group", 1),
        .type = type,
    };
    return conv_problem_finish(p, why ? SIM_WHY(why->text) : SIM_NO_WHY);
}

int onnx_conv_problem(const struct onnx_graph *g, const struct onnx_node *n, struct conv_problem *p,
                      struct exp_why *why)
{
    const struct onnx_value *in = onnx_in(g, n, 0), *filters = onnx_in(g, n, 1);

    assert(p);
    *p = (struct conv_problem){ 0 };
    if (!n->why_unread && !onnx_is_conv(n))
        return exp_fail(why, -EINVAL, "%.60s%s%.60s is no forward convolution that is read%s", n->op,
                        *n->domain ? " of domain " : "", n->domain, onnx_hint(n));
    if (in && filters && in->has_shape && filters->has_shape && (in->type != ONNX_FLOAT || filters->type != ONNX_FLOAT))
        return exp_fail(why, -EINVAL, "its elements are %s, no floats", onnx_type_name(in->type));
    return make_problem(g, n, filters, CONV_F32, p, why);
}

int onnx_integer_problem(const struct onnx_graph *g, const struct onnx_node *n, struct conv_problem *p,
                         struct exp_why *why)
{
    const struct onnx_integers *i = onnx_integers(n);
    const bool is_signed = onnx_in(g, n, i->x)->type == ONNX_INT8;

    assert(p && i && i->convolves);
    *p = (struct conv_problem){ 0 };
    return make_problem(g, n, onnx_in(g, n, i->w), is_signed ? CONV_S8S8 : CONV_U8S8, p, why);
}
