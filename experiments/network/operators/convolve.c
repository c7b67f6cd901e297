/* Conv and ConvTranspose by plain loops, with sums in double: what any convolution of a network is checked against. */
#include <errno.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

enum { N_AXES = 3 };

struct convolution {
    size_t images, groups, channels, filters; /* of input and output, all groups together */
    size_t in_plane, out_plane, taps;
    /* Of each axis; those that a tensor lacks are of length 1, before the others. */
    ptrdiff_t in[N_AXES], out[N_AXES], kernel[N_AXES], stride[N_AXES], dilation[N_AXES], before[N_AXES];
};

/* ---- preparing ---- */

static void set_axes(const struct op_call *call, struct convolution *c, const struct onnx_window *w)
{
    const struct onnx_value *in = op_in(call, 0);

    for (size_t d = 0; d < N_AXES; d++) {
        c->in[d] = c->out[d] = c->kernel[d] = c->stride[d] = c->dilation[d] = 1;
        c->before[d] = 0;
    }
    for (size_t i = 0; i < w->n; i++) {
        const size_t d = N_AXES - w->n + i;

        c->in[d] = in->dim[2 + i];
        c->out[d] = w->out[i];
        c->kernel[d] = w->kernel[i];
        c->stride[d] = w->stride[i];
        c->dilation[d] = w->dilation[i];
        c->before[d] = w->begin[i];
    }
    c->in_plane = op_elements(in, 2, in->n_dims);
    c->out_plane = (size_t)(c->out[0] * c->out[1] * c->out[2]);
    c->taps = (size_t)(c->kernel[0] * c->kernel[1] * c->kernel[2]);
}

/* Checks filters, of which the first axis belongs to the output, or, transposed, to the input. */
static int check_filters(const struct op_call *call, struct convolution *c, bool is_transposed, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0), *filter = op_in(call, 1), *bias = op_in(call, 2);
    const int64_t groups = onnx_int(call->ask.node, "group", 1);
    const size_t first = (size_t)filter->dim[0], second = (size_t)filter->dim[1];

    if (groups < 1 || first % (size_t)groups)
        return op_refuse(call, why, "%lld groups of %zu filters", (long long)groups, first);
    c->groups = (size_t)groups;
    c->images = (size_t)in->dim[0];
    c->channels = (size_t)in->dim[1];
    c->filters = is_transposed ? second * c->groups : first;
    if (c->channels != (is_transposed ? first : second * c->groups))
        return op_refuse(call, why, "filters of %zu channels for %zu", is_transposed ? first : second * c->groups,
                         c->channels);
    if (bias && bias->elements != c->filters)
        return op_refuse(call, why, "a bias of %zu elements for %zu filters", bias->elements, c->filters);
    return 0;
}

static int check_outputs(const struct op_call *call, const struct convolution *c, const struct onnx_window *w,
                         struct exp_why *why)
{
    int64_t dim[2 + ONNX_MAX_DIMS] = { (int64_t)c->images, (int64_t)c->filters };

    memcpy(dim + 2, w->out, sizeof w->out);
    return op_check_out(call, 0, 2 + w->n, dim, why);
}

static int prepare(struct op_call *call, bool is_transposed, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0), *filter = op_in(call, 1);
    struct convolution c;
    struct onnx_window w;
    int err = op_check_floats(call, 2, why);

    if (!err && (in->n_dims < 3 || in->n_dims > 2 + N_AXES || filter->n_dims != in->n_dims))
        err = op_refuse(call, why, "an input of %zu and filters of %zu dimensions", in->n_dims, filter->n_dims);
    if (!err && onnx_window(call->ask.graph, call->ask.node, &w, why))
        err = -ENOTSUP;
    for (size_t i = 0; !err && i < w.n; i++) {
        if (w.kernel[i] != filter->dim[2 + i])
            err = op_refuse(call, why, "a kernel of %lld with filters of %lld", (long long)w.kernel[i],
                            (long long)filter->dim[2 + i]);
    }
    if (!err)
        err = check_filters(call, &c, is_transposed, why);
    if (!err)
        err = check_outputs(call, &c, &w, why);
    if (err)
        return err;
    set_axes(call, &c, &w);
    memcpy(op_own(call, sizeof c), &c, sizeof c);
    return 0;
}

static int prepare_conv(struct op_call *call, struct exp_why *why)
{
    return prepare(call, false, why);
}

static int prepare_transposed(struct op_call *call, struct exp_why *why)
{
    return prepare(call, true, why);
}

/* ---- one output element ---- */

/* Sets index[] to that of number i in a box. */
static void unravel(size_t i, const ptrdiff_t box[N_AXES], ptrdiff_t index[N_AXES])
{
    for (size_t d = N_AXES; d-- > 0; i /= (size_t)box[d])
        index[d] = (ptrdiff_t)(i % (size_t)box[d]);
}

/* Returns where in a plane of the input a tap of a window lies; -1: in the padding. */
static ptrdiff_t tap_at(const struct convolution *c, const ptrdiff_t window[N_AXES], const ptrdiff_t tap[N_AXES])
{
    ptrdiff_t at = 0;

    for (size_t d = 0; d < N_AXES; d++) {
        const ptrdiff_t i = window[d] * c->stride[d] - c->before[d] + tap[d] * c->dilation[d];

        if (i < 0 || i >= c->in[d])
            return -1;
        at = at * c->in[d] + i;
    }
    return at;
}

/* Returns which window of the input reaches an element of the output by a tap; -1: none. */
static ptrdiff_t source_at(const struct convolution *c, const ptrdiff_t out[N_AXES], const ptrdiff_t tap[N_AXES])
{
    ptrdiff_t at = 0;

    for (size_t d = 0; d < N_AXES; d++) {
        const ptrdiff_t i = out[d] + c->before[d] - tap[d] * c->dilation[d];

        if (i < 0 || i % c->stride[d] || i / c->stride[d] >= c->in[d])
            return -1;
        at = at * c->in[d] + i / c->stride[d];
    }
    return at;
}

/* Elements from one channel of a filter to the next, and where that of channel 0 begins. */
struct filter {
    const float *at;
    size_t step;
};

typedef ptrdiff_t from_fn(const struct convolution *c, const ptrdiff_t out[N_AXES], const ptrdiff_t tap[N_AXES]);

static double element(const struct convolution *c, const float *in, const struct filter *f, size_t i, from_fn *from)
{
    ptrdiff_t out[N_AXES], tap[N_AXES];
    double sum = 0;

    unravel(i, c->out, out);
    for (size_t t = 0; t < c->taps; t++) {
        ptrdiff_t at;

        unravel(t, c->kernel, tap);
        at = from(c, out, tap);
        for (size_t channel = 0; at >= 0 && channel < c->channels / c->groups; channel++)
            sum += (double)in[channel * c->in_plane + (size_t)at] * (double)f->at[channel * f->step + t];
    }
    return sum;
}

/* ---- planes ---- */

struct work {
    const struct op_call *call;
    const struct op_tensors *t;
    bool is_transposed;
};

static struct filter filter_of(const struct convolution *c, const float *filters, size_t k, bool is_transposed)
{
    const size_t each = c->filters / c->groups, channels = c->channels / c->groups;

    if (!is_transposed)
        return (struct filter){ filters + k * channels * c->taps, c->taps };
    return (struct filter){ filters + (k / each * channels * each + k % each) * c->taps, each * c->taps };
}

static void planes(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct convolution *c = w->call->own;

    (void)share;
    for (size_t i = from; i < to; i++) {
        const size_t image = i / c->filters, k = i % c->filters, group = k / (c->filters / c->groups);
        const float *in =
            (const float *)w->t->in[0] + (image * c->channels + group * (c->channels / c->groups)) * c->in_plane;
        const struct filter f = filter_of(c, w->t->in[1], k, w->is_transposed);
        const double bias = op_in(w->call, 2) ? (double)((const float *)w->t->in[2])[k] : 0;
        float *out = (float *)w->t->out[0] + i * c->out_plane;

        for (size_t j = 0; j < c->out_plane; j++)
            out[j] = (float)(element(c, in, &f, j, w->is_transposed ? source_at : tap_at) + bias);
        op_activate(w->call, out, c->out_plane);
    }
}

static void run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct convolution *c = call->own;
    struct work w = { call, t, onnx_is(call->ask.node, "ConvTranspose") };

    op_share(call, team, c->images * c->filters, 0, planes, &w);
}

static void reference(const struct op_call *call, const struct op_tensors *t)
{
    const struct convolution *c = call->own;
    struct work w = { call, t, onnx_is(call->ask.node, "ConvTranspose") };

    planes(&w, 0, c->images * c->filters, 0);
}

#define RECORD(name_, prepare_)                                                                                        \
    const struct op op_##name_ = {                                                                                     \
        .name = #name_, .traits = OP_CONVOLVES | OP_ACTIVATES, .prepare = prepare_, .run = run, .reference = reference \
    };

RECORD(Conv, prepare_conv)
RECORD(ConvTranspose, prepare_transposed)
