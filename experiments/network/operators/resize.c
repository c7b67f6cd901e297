/*
 * Resize and Upsample: each axis has taps, input indexes with weights; an output element is the sum over all
 * combinations. The nearest neighbour is a move.
 */
#include <math.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

enum method { NEAREST, LINEAR, CUBIC };

/* An input index and its weight. */
struct tap {
    size_t at;
    double weight;
};

struct resize {
    enum method method;
    const char *place, *nearest; /* coordinate_transformation_mode, nearest_mode */
    double cubic_a;
    size_t n_dims, dim[ONNX_MAX_DIMS], stride[ONNX_MAX_DIMS];
    double scale[ONNX_MAX_DIMS];
    size_t n_taps[ONNX_MAX_DIMS];   /* of an output index; 1 for an unchanged axis */
    struct tap *tap[ONNX_MAX_DIMS]; /* [dim][n_taps] */
};

/* ---- attributes ---- */

static int read_method(const struct op_call *call, struct resize *r, struct exp_why *why)
{
    const struct onnx_node *node = call->ask.node;
    const bool is_old = call->ask.graph->opset < 11;
    const char *mode = onnx_text(node, "mode", "nearest");

    r->method = !strcmp(mode, "nearest") ? NEAREST : !strcmp(mode, "cubic") ? CUBIC : LINEAR;
    if (r->method == LINEAR && strcmp(mode, "linear") && strcmp(mode, "bilinear"))
        return op_refuse(call, why, "mode '%s'", mode);
    if (onnx_int(node, "antialias", 0) && r->method != NEAREST)
        return op_refuse(call, why, "antialias is 1");
    if (onnx_int(node, "exclude_outside", 0) && r->method != NEAREST)
        return op_refuse(call, why, "exclude_outside is 1");
    r->place = onnx_text(node, "coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel");
    r->nearest = onnx_text(node, "nearest_mode", is_old ? "floor" : "round_prefer_floor");
    r->cubic_a = (double)onnx_float(node, "cubic_coeff_a", -0.75F);
    return 0;
}

/* The number of the input with scales; Resize's input moved in opset 11. */
static size_t scales_at(const struct op_call *call)
{
    return onnx_is(call->ask.node, "Upsample") || call->ask.graph->opset < 11 ? 1 : 2;
}

/* Sets the node's scales, maybe different from the ratios of the sizes. */
static int set_scales(const struct op_call *call, const struct onnx_resized *which, struct resize *r,
                      struct exp_why *why)
{
    const struct onnx_value *scales = op_in(call, scales_at(call));
    size_t n;
    const float *old = onnx_floats(call->ask.node, "scales", &n);
    const bool are_given = scales && scales->elements && scales->elements == which->n;

    if (are_given && !onnx_is_constant(scales))
        return op_refuse(call, why, "scales are not known before the run");
    for (size_t i = 0; i < which->n; i++) {
        const size_t d = which->axis[i];

        r->scale[d] = are_given         ? onnx_element(scales, i)
                      : old && n > i    ? (double)old[i]
                      : which->kept > 0 ? which->kept
                                        : r->scale[d];
        if (!(r->scale[d] > 0) && r->dim[d])
            return op_refuse(call, why, "a scale of %g", r->scale[d]);
    }
    return 0;
}

/* Sets the shapes, and the scales as ratios of sizes. */
static int set_sizes(const struct op_call *call, struct resize *r, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0), *out = op_out(call, 0);

    if (in->n_dims != out->n_dims)
        return op_refuse(call, why, "%zu dimensions become %zu", in->n_dims, out->n_dims);
    r->n_dims = in->n_dims;
    for (size_t d = 0; d < in->n_dims; d++) {
        r->scale[d] = in->dim[d] ? (double)out->dim[d] / (double)in->dim[d] : 1;
        if (out->dim[d] && !in->dim[d])
            return op_refuse(call, why, "nothing becomes %lld elements", (long long)out->dim[d]);
        r->dim[d] = (size_t)out->dim[d];
        r->stride[d] = op_elements(in, d + 1, in->n_dims);
    }
    return 0;
}

static int read_places(const struct op_call *call, struct resize *r, struct exp_why *why)
{
    struct onnx_resized which;
    struct exp_why reason;
    int err = set_sizes(call, r, why);

    if (err)
        return err;
    if (onnx_resized(call->ask.graph, call->ask.node, &which, &reason))
        return op_refuse(call, why, "%s", reason.text);
    return set_scales(call, &which, r, why);
}

/* ---- places ---- */

/* Returns the input position of output index i of axis d; NAN: unknown coordinate_transformation_mode. */
static double place(const struct resize *r, size_t d, size_t i, double n)
{
    const double x = (double)i, out = (double)r->dim[d], scale = r->scale[d], whole = scale * n; /* before it is cut */

    if (!strcmp(r->place, "half_pixel"))
        return (x + 0.5) / scale - 0.5;
    if (!strcmp(r->place, "half_pixel_symmetric"))
        return n / 2 * (1 - out / whole) + (x + 0.5) / scale - 0.5;
    if (!strcmp(r->place, "pytorch_half_pixel"))
        return out > 1 ? (x + 0.5) / scale - 0.5 : 0;
    if (!strcmp(r->place, "asymmetric"))
        return x / scale;
    if (!strcmp(r->place, "tf_half_pixel_for_nn"))
        return (x + 0.5) / scale;
    if (!strcmp(r->place, "align_corners"))
        return out > 1 && whole > 1 ? x * (n - 1) / (whole - 1) : 0;
    return (double)NAN;
}

static size_t within(double x, double n)
{
    return x <= 0 ? 0 : x >= n - 1 ? (size_t)(n - 1) : (size_t)x;
}

/* Returns the nearest index; n: unknown nearest_mode. */
static size_t nearest(const struct resize *r, double x, double n)
{
    const double at = !strcmp(r->nearest, "round_prefer_floor")  ? ceil(x - 0.5)
                      : !strcmp(r->nearest, "round_prefer_ceil") ? floor(x + 0.5)
                      : !strcmp(r->nearest, "floor")             ? floor(x)
                      : !strcmp(r->nearest, "ceil")              ? ceil(x)
                                                                 : (double)NAN;

    return at != at ? (size_t)n : within(at, n);
}

/* The weight at a distance from the position: linear, or Keys' cubic convolution. */
static double weight(const struct resize *r, double far)
{
    const double x = fabs(far), a = r->cubic_a;

    if (r->method == LINEAR)
        return x < 1 ? 1 - x : 0;
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static size_t reach(const struct resize *r)
{
    return r->method == CUBIC ? 2 : 1;
}

static void set_taps(const struct resize *r, double x, double n, struct tap *tap)
{
    const double first = floor(x) + 1 - (double)reach(r);

    for (size_t i = 0; i < 2 * reach(r); i++)
        tap[i] = (struct tap){ within(first + (double)i, n), weight(r, x - (first + (double)i)) };
}

/* ---- preparing ---- */

/* The nearest: a move with an index for each axis. */
static int prepare_nearest(struct op_call *call, const struct resize *r, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    struct op_moves *m = op_moves_new(call, r->n_dims, r->dim, onnx_type_bytes(in->type));

    for (size_t d = 0; d < r->n_dims; d++) {
        for (size_t i = 0; i < r->dim[d]; i++) {
            const double n = (double)in->dim[d], x = place(r, d, i, n);
            const size_t at = nearest(r, x, n);

            if (x != x)
                return op_refuse(call, why, "coordinate_transformation_mode '%s'", r->place);
            if (at == (size_t)n)
                return op_refuse(call, why, "nearest_mode '%s'", r->nearest);
            m->at[d][i] = (ptrdiff_t)(at * r->stride[d]);
        }
    }
    op_moves_finish(m);
    return 0;
}

/* Sets the number of taps of each axis. Returns the sum over all output indices of all axes. */
static size_t count_taps(const struct op_call *call, struct resize *r)
{
    size_t n = 0;

    for (size_t d = 0; d < r->n_dims; d++) {
        const bool stays = r->scale[d] == 1 && op_in(call, 0)->dim[d] == (int64_t)r->dim[d];

        r->n_taps[d] = stays || !r->dim[d] ? 1 : 2 * reach(r);
        n += r->dim[d] * r->n_taps[d];
    }
    return n;
}

static int prepare_weighted(struct op_call *call, struct resize *plain, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    const size_t n_taps = count_taps(call, plain);
    struct resize *r = op_own(call, sizeof *r + n_taps * sizeof(struct tap));
    struct tap *tap = (struct tap *)(r + 1);

    *r = *plain;
    for (size_t d = 0; d < r->n_dims; d++) {
        r->tap[d] = tap;
        for (size_t i = 0; i < r->dim[d]; i++, tap += r->n_taps[d]) {
            const double x = place(r, d, i, (double)in->dim[d]);

            if (x != x)
                return op_refuse(call, why, "coordinate_transformation_mode '%s'", r->place);
            if (r->n_taps[d] == 1)
                *tap = (struct tap){ i, 1 };
            else
                set_taps(r, x, (double)in->dim[d], tap);
        }
    }
    return 0;
}

static int prepare(struct op_call *call, struct exp_why *why)
{
    struct resize r = { 0 };
    int err = op_check_moved(call, 1, why);

    if (!err)
        err = read_method(call, &r, why);
    if (!err && r.method != NEAREST && op_in(call, 0)->type != ONNX_FLOAT)
        err = op_refuse(call, why, "elements of type %s", onnx_type_name(op_in(call, 0)->type));
    if (!err)
        err = read_places(call, &r, why);
    if (err)
        return err;
    return r.method == NEAREST ? prepare_nearest(call, &r, why) : prepare_weighted(call, &r, why);
}

/* ---- running ---- */

static double element(const struct resize *r, const float *in, const size_t index[ONNX_MAX_DIMS])
{
    size_t combinations = 1;
    double sum = 0;

    for (size_t d = 0; d < r->n_dims; d++)
        combinations *= r->n_taps[d];
    for (size_t c = 0; c < combinations; c++) {
        size_t left = c, at = 0;
        double by = 1;

        for (size_t d = 0; d < r->n_dims; left /= r->n_taps[d++]) {
            const struct tap *tap = &r->tap[d][index[d] * r->n_taps[d] + left % r->n_taps[d]];

            at += tap->at * r->stride[d];
            by *= tap->weight;
        }
        sum += by * (double)in[at];
    }
    return sum;
}

struct work {
    const struct resize *r;
    const struct op_tensors *t;
};

static void elements(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;

    (void)share;
    for (size_t i = from; i < to; i++) {
        size_t index[ONNX_MAX_DIMS], left = i;

        for (size_t d = w->r->n_dims; d-- > 0; left /= w->r->dim[d])
            index[d] = left % w->r->dim[d];
        ((float *)w->t->out[0])[i] = (float)element(w->r, w->t->in[0], index);
    }
}

static bool is_nearest(const struct op_call *call)
{
    return !strcmp(onnx_text(call->ask.node, "mode", "nearest"), "nearest");
}

static void run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    struct work w = { call->own, t };

    if (is_nearest(call))
        op_moves_run(call, t, team);
    else
        op_share(call, team, op_out(call, 0)->elements, 128, elements, &w);
}

static void reference(const struct op_call *call, const struct op_tensors *t)
{
    struct work w = { call->own, t };

    if (is_nearest(call))
        op_moves_reference(call, t);
    else
        elements(&w, 0, op_out(call, 0)->elements, 0);
}

/* Weights of neighbours may have both signs. */
static void magnitudes(const struct op_call *call, const struct op_tensors *t)
{
    const double most = op_largest(t->in[0], op_in(call, 0)->elements);

    for (size_t i = 0; i < op_out(call, 0)->elements; i++)
        ((float *)t->out[0])[i] = (float)most;
}

#define RECORD(name_)                                                                                                  \
    const struct op op_##name_ = {                                                                                     \
        .name = #name_, .prepare = prepare, .run = run, .reference = reference, .magnitudes = magnitudes               \
    };

RECORD(Resize)
RECORD(Upsample)
