/*
 * Conv and ConvTranspose by plain loops, with sums in double: the reference of all convolutions of a network.
 * ConvTranspose is fast, too: for each tap of a filter the channels' planes are added up, times their weights, and the
 * sums are spread over the output.
 */
#include <errno.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

enum { N_AXES = 3 };

struct convolution {
    size_t images, groups, channels, filters; /* of input and output, all groups together */
    size_t in_plane, out_plane, taps;
    /* Of each axis; missing axes have length 1 and come first. */
    ptrdiff_t in[N_AXES], out[N_AXES], kernel[N_AXES], stride[N_AXES], dilation[N_AXES], before[N_AXES];
    float *sums; /* of ConvTranspose: a plane of the input for each share */
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

/* Keeps the planes of sums behind the structure. */
static void keep(struct op_call *call, const struct convolution *c, bool is_transposed)
{
    const size_t n = is_transposed ? c->in_plane * call->ask.n_threads : 0;
    struct convolution *kept = op_own(call, sizeof *c + n * sizeof *c->sums);

    *kept = *c;
    kept->sums = (float *)(kept + 1);
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
    keep(call, &c, is_transposed);
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

/* ---- an output element ---- */

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

/* Returns the window of the input for an output element and a tap; -1: none. */
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

/* Elements from a filter's channel to the next channel, and the begin of channel 0. */
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

/* ---- ConvTranspose in vectors ---- */

/*
 * The output elements of an axis in reach of a tap: the position of the first, and the range from..to - 1 of inputs i
 * inside.
 */
struct reached {
    ptrdiff_t at, from, to;
};

static struct reached reach(const struct convolution *c, size_t d, ptrdiff_t tap)
{
    const ptrdiff_t at = tap * c->dilation[d] - c->before[d], s = c->stride[d], left = c->out[d] - at;
    const ptrdiff_t from = at < 0 ? (-at + s - 1) / s : 0, to = left <= 0 ? 0 : (left + s - 1) / s;

    return (struct reached){ at, from, to < c->in[d] ? to : c->in[d] };
}

/* Says what spreading a row accesses. */
static void note_spread(const struct convolution *c, const float *from, const float *to, ptrdiff_t first, size_t n)
{
    const size_t stride = (size_t)c->stride[2];

    op_note(from + first, n, 1, SIM_LOAD);
    op_note(to + first * c->stride[2], n, stride, SIM_LOAD);
    op_note(to + first * c->stride[2], n, stride, SIM_STORE);
}

/* Adds sums of the input's shape to the output elements of a tap. */
static void spread(const struct convolution *c, const float *sums, const ptrdiff_t tap[N_AXES], float *out)
{
    const struct reached r[N_AXES] = { reach(c, 0, tap[0]), reach(c, 1, tap[1]), reach(c, 2, tap[2]) };

    for (ptrdiff_t d = r[0].from; d < r[0].to; d++) {
        for (ptrdiff_t h = r[1].from; h < r[1].to; h++) {
            const float *from = sums + (d * c->in[1] + h) * c->in[2];
            const ptrdiff_t row = (d * c->stride[0] + r[0].at) * c->out[1] + h * c->stride[1] + r[1].at;
            float *to = out + row * c->out[2] + r[2].at;

            for (ptrdiff_t w = r[2].from; w < r[2].to; w++)
                to[w * c->stride[2]] += from[w];
            if (r[2].from < r[2].to)
                note_spread(c, from, to, r[2].from, (size_t)(r[2].to - r[2].from));
        }
    }
}

static void transposed_plane(const struct work *w, size_t i, float *sums)
{
    const struct convolution *c = w->call->own;
    const size_t image = i / c->filters, k = i % c->filters, channels = c->channels / c->groups;
    const size_t group = k / (c->filters / c->groups);
    const float *in = (const float *)w->t->in[0] + (image * c->channels + group * channels) * c->in_plane;
    const struct filter f = filter_of(c, w->t->in[1], k, true);
    float *out = (float *)w->t->out[0] + i * c->out_plane;

    for (size_t j = 0; j < c->out_plane; j++)
        out[j] = op_in(w->call, 2) ? ((const float *)w->t->in[2])[k] : 0;
    op_note(out, c->out_plane, 1, SIM_STORE);
    for (size_t t = 0; t < c->taps; t++) {
        ptrdiff_t tap[N_AXES];

        unravel(t, c->kernel, tap);
        memset(sums, 0, c->in_plane * sizeof *sums);
        op_note(sums, c->in_plane, 1, SIM_STORE);
        op_loops()->add_rows(sums, c->in_plane, &(struct op_rows){ f.at + t, in, channels, f.step, c->in_plane });
        spread(c, sums, tap, out);
    }
    op_activate(w->call, out, c->out_plane);
}

static void transposed_planes(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct convolution *c = w->call->own;

    for (size_t i = from; i < to; i++)
        transposed_plane(w, i, c->sums + share * c->in_plane);
}

static void run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct convolution *c = call->own;
    struct work w = { call, t, onnx_is(call->ask.node, "ConvTranspose") };

    op_share(call, team, c->images * c->filters, 0, w.is_transposed ? transposed_planes : planes, &w);
}

static void reference(const struct op_call *call, const struct op_tensors *t)
{
    const struct convolution *c = call->own;
    struct work w = { call, t, onnx_is(call->ask.node, "ConvTranspose") };

    planes(&w, 0, c->images * c->filters, 0);
}

#define RECORD(name_, prepare_, traits_)                                                                               \
    const struct op op_##name_ = { .name = #name_,                                                                     \
                                   .traits = OP_ACTIVATES | (traits_),                                                 \
                                   .prepare = prepare_,                                                                \
                                   .run = run,                                                                         \
                                   .reference = reference,                                                             \
                                   .magnitudes = op_magnitudes_of_sums };

RECORD(Conv, prepare_conv, OP_CONVOLVES)
RECORD(ConvTranspose, prepare_transposed, 0)
