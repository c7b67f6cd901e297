/* Normalisations of planes, rows and neighbouring channels. */
#include <math.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

struct work {
    const struct op_call *call;
    const struct op_tensors *t;
};

/* ---- planes: BatchNormalization and InstanceNormalization ---- */

struct planes {
    size_t n, channels, elements;
    double epsilon;
    bool by_element; /* scale and bias are of elements, not of channels */
};

static int prepare_planes(struct op_call *call, size_t n_in, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    struct planes *p;
    int err = op_check_floats(call, n_in, why);

    if (!err && in->n_dims < 2)
        err = op_refuse(call, why, "an input of %zu dimensions", in->n_dims);
    if (!err)
        err = op_check_out(call, 0, in->n_dims, in->dim, why);
    for (size_t i = 1; !err && i < n_in; i++) {
        if (op_in(call, i)->elements != (size_t)in->dim[1])
            err = op_refuse(call, why, "'%s' has %zu elements for %lld channels", op_in(call, i)->name,
                            op_in(call, i)->elements, (long long)in->dim[1]);
    }
    if (err)
        return err;
    p = op_own(call, sizeof *p);
    *p = (struct planes){ op_elements(in, 0, 2), (size_t)in->dim[1], op_elements(in, 2, in->n_dims),
                          (double)onnx_float(call->ask.node, "epsilon", 1e-5F), false };
    return 0;
}

/* In old opsets only further outputs show that a node is in training. */
static int prepare_batch(struct op_call *call, struct exp_why *why)
{
    const struct onnx_node *node = call->ask.node;

    if (onnx_int(node, "training_mode", 0))
        return op_refuse(call, why, "training_mode is %lld", (long long)onnx_int(node, "training_mode", 0));
    if (!onnx_int(node, "spatial", 1))
        return op_refuse(call, why, "spatial is 0");
    for (size_t i = 1; i < node->n_out; i++) {
        if (op_out(call, i))
            return op_refuse(call, why, "'%s' is for training", op_out(call, i)->name);
    }
    return prepare_planes(call, 5, why);
}

static int prepare_instance(struct op_call *call, struct exp_why *why)
{
    return prepare_planes(call, 3, why);
}

/* How a plane is normalized: out = (in - mean) * by + bias. */
struct change {
    double mean, by, bias;
};

static struct change batch_change(const struct planes *p, const struct op_tensors *t, size_t i)
{
    const size_t c = i % p->channels;

    return (struct change){ .mean = (double)((const float *)t->in[3])[c],
                            .by = (double)((const float *)t->in[1])[c] /
                                  sqrt((double)((const float *)t->in[4])[c] + p->epsilon),
                            .bias = (double)((const float *)t->in[2])[c] };
}

/* Normalizes n elements piece by piece: the activation finds each piece in the cache. */
static void scale(const struct op_call *call, float *out, const float *in, size_t n, const struct change *c)
{
    enum { PIECE = 4096 };
    const float p[3] = { (float)c->mean, (float)c->by, (float)c->bias };

    for (size_t i = 0; i < n; i += PIECE) {
        const size_t m = n - i < PIECE ? n - i : PIECE;

        op_loops()->map[OP_MAP_CENTER](out + i, in + i, m, p);
        op_activate(call, out + i, m);
    }
}

static void batch_planes(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct planes *p = w->call->own;

    (void)share;
    for (size_t i = from; i < to; i++) {
        const struct change c = batch_change(p, w->t, i);

        scale(w->call, (float *)w->t->out[0] + i * p->elements, (const float *)w->t->in[0] + i * p->elements,
              p->elements, &c);
    }
}

static void run_batch(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct planes *p = call->own;
    struct work w = { call, t };

    op_share(call, team, p->n, 8 * p->elements, batch_planes, &w);
}

static void reference_batch(const struct op_call *call, const struct op_tensors *t)
{
    const struct planes *p = call->own;

    for (size_t i = 0; i < p->n * p->elements; i++) {
        const size_t c = i / p->elements % p->channels;
        const double x = (double)((const float *)t->in[0])[i] - (double)((const float *)t->in[3])[c];
        const double y =
            x / sqrt((double)((const float *)t->in[4])[c] + p->epsilon) * (double)((const float *)t->in[1])[c] +
            (double)((const float *)t->in[2])[c];

        ((float *)t->out[0])[i] = (float)y;
    }
    op_activate(call, t->out[0], p->n * p->elements);
}

/* The mean is an exact float, so elements near the mean lose no digits when the mean is subtracted. */
static void magnitudes_batch(const struct op_call *call, const struct op_tensors *t)
{
    const struct planes *p = call->own;

    for (size_t i = 0; i < p->n * p->elements; i++) {
        const struct change c = batch_change(p, t, i / p->elements);

        ((float *)t->out[0])[i] =
            (float)(fabs((double)((const float *)t->in[0])[i] - c.mean) * fabs(c.by) + fabs(c.bias));
    }
}

const struct op op_BatchNormalization = { .name = "BatchNormalization",
                                          .traits = OP_IN_PLACE | OP_ACTIVATES,
                                          .prepare = prepare_batch,
                                          .run = run_batch,
                                          .reference = reference_batch,
                                          .magnitudes = magnitudes_batch };

/* Statistics of numbers whose mean is subtracted. */
struct centered {
    double mean, by; /* by: 1 / standard deviation */
    double rest;     /* the mean of the written elements: the rounding error of the mean as a float */
};

/* Writes the elements less their mean, as far as a float holds the mean; `rest` is the mean of the written elements. */
static struct centered center(float *out, const float *in, size_t n, double epsilon)
{
    const struct op_loops *l = op_loops();
    struct centered c = { 0 };
    float first;

    if (!n)
        return c;
    first = l->fold[OP_FOLD_SUM](in, n) / (float)n;
    l->map[OP_MAP_CENTER](out, in, n, (const float[]){ first, 1, 0 });
    c.rest = (double)l->fold[OP_FOLD_SUM](out, n) / (double)n;
    c.mean = (double)first + c.rest;
    c.by = 1 / sqrt(fmax((double)l->fold[OP_FOLD_SQUARE](out, n) / (double)n - c.rest * c.rest, 0) + epsilon);
    return c;
}

static double center_plainly(const float *in, size_t n, double epsilon, double *mean)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)in[i];
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((double)in[i] - *mean) * ((double)in[i] - *mean);
    return 1 / sqrt(squares / (double)n + epsilon);
}

static void instance_planes(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct planes *p = w->call->own;

    (void)share;
    for (size_t i = from; i < to; i++) {
        const float *in = (const float *)w->t->in[0] + i * p->elements;
        float *out = (float *)w->t->out[0] + i * p->elements;
        const size_t c = i % p->channels;
        const struct centered x = center(out, in, p->elements, p->epsilon);

        scale(w->call, out, out, p->elements,
              &(struct change){ x.rest, (double)((const float *)w->t->in[1])[c] * x.by,
                                (double)((const float *)w->t->in[2])[c] });
    }
}

static void run_instance(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct planes *p = call->own;
    struct work w = { call, t };

    op_share(call, team, p->n, 8 * p->elements, instance_planes, &w);
}

/* The second and third output: each row's mean, and the inverse of each row's deviation. */
static void keep_statistics(const struct work *w, size_t row, double mean, double by)
{
    float *const out[2] = { op_out(w->call, 1) ? w->t->out[1] : NULL, op_out(w->call, 2) ? w->t->out[2] : NULL };
    const double value[2] = { mean, by };

    for (size_t i = 0; i < 2; i++) {
        if (!out[i])
            continue;
        out[i][row] = (float)value[i];
        op_note(&out[i][row], 1, 1, SIM_STORE);
    }
}

/* Returns scale and bias of element j of row i. */
static struct change change_of(const struct work *w, size_t i, size_t j)
{
    const struct planes *p = w->call->own;
    const size_t at = p->by_element ? j : i % p->channels;

    return (struct change){ .by = (double)((const float *)w->t->in[1])[at],
                            .bias = op_in(w->call, 2) ? (double)((const float *)w->t->in[2])[at] : 0 };
}

/*
 * Returns the magnitude of an element: the distance from the mean, plus 1/64 of the element and of the mean. The last
 * digits of both numbers are lost where the mean is large, and 1/64 of a magnitude allows for a rounding error.
 */
static float magnitude_of(double x, double mean, double by, double bias)
{
    const double last_digits = (fabs(x) + fabs(mean)) / 64;

    return (float)((fabs(x - mean) + last_digits) * fabs(by) + fabs(bias));
}

static float element_of(double x, double mean, double by, struct change c, bool is_magnitude)
{
    return is_magnitude ? magnitude_of(x, mean, by * c.by, c.bias) : (float)((x - mean) * by * c.by + c.bias);
}

/* Makes all rows plainly: the elements, or the elements' magnitudes. */
static void make_rows(const struct op_call *call, const struct op_tensors *t, bool are_magnitudes)
{
    const struct planes *p = call->own;
    const struct work w = { call, t };

    for (size_t i = 0; i < p->n && p->elements; i++) {
        const float *in = (const float *)t->in[0] + i * p->elements;
        double mean;
        const double by = center_plainly(in, p->elements, p->epsilon, &mean);

        for (size_t j = 0; j < p->elements; j++)
            ((float *)t->out[0])[i * p->elements + j] =
                element_of((double)in[j], mean, by, change_of(&w, i, j), are_magnitudes);
        if (!are_magnitudes)
            keep_statistics(&w, i, mean, by);
        else if (op_out(call, 1))
            ((float *)t->out[1])[i] = (float)op_largest(in, p->elements);
    }
}

static void reference_rows(const struct op_call *call, const struct op_tensors *t)
{
    const struct planes *p = call->own;

    make_rows(call, t, false);
    op_activate(call, t->out[0], p->n * p->elements);
}

static void magnitudes_rows(const struct op_call *call, const struct op_tensors *t)
{
    make_rows(call, t, true);
}

const struct op op_InstanceNormalization = { .name = "InstanceNormalization",
                                             .traits = OP_IN_PLACE | OP_ACTIVATES,
                                             .prepare = prepare_instance,
                                             .run = run_instance,
                                             .reference = reference_rows,
                                             .magnitudes = magnitudes_rows };

/* ---- LayerNormalization: rows ---- */

static int prepare_layer(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    struct planes *p;
    size_t axis;
    int err = op_check_floats(call, 2, why);

    if (!err)
        err = op_axis(call, onnx_int(call->ask.node, "axis", -1), in->n_dims, &axis, why);
    if (!err)
        err = op_check_out(call, 0, in->n_dims, in->dim, why);
    if (err)
        return err;
    p = op_own(call, sizeof *p);
    *p = (struct planes){ op_elements(in, 0, axis), 1, op_elements(in, axis, in->n_dims),
                          (double)onnx_float(call->ask.node, "epsilon", 1e-5F), true };
    for (size_t i = 1; i < 3; i++) {
        if (op_in(call, i) && op_in(call, i)->elements != p->elements)
            return op_refuse(call, why, "'%s' has %zu elements for rows of %zu", op_in(call, i)->name,
                             op_in(call, i)->elements, p->elements);
        if (op_out(call, i) && op_out(call, i)->elements != p->n)
            return op_refuse(call, why, "'%s' has %zu elements for %zu rows", op_out(call, i)->name,
                             op_out(call, i)->elements, p->n);
    }
    return 0;
}

static void layer_rows(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct planes *p = w->call->own;
    const struct op_loops *l = op_loops();

    (void)share;
    for (size_t i = from; i < to; i++) {
        float *out = (float *)w->t->out[0] + i * p->elements;
        const struct centered x = center(out, (const float *)w->t->in[0] + i * p->elements, p->elements, p->epsilon);

        l->map[OP_MAP_CENTER](out, out, p->elements, (const float[]){ (float)x.rest, (float)x.by, 0 });
        l->pair[OP_PAIR_MUL][OP_BOTH_ARRAYS](out, out, w->t->in[1], p->elements);
        if (op_in(w->call, 2))
            l->pair[OP_PAIR_ADD][OP_BOTH_ARRAYS](out, out, w->t->in[2], p->elements);
        keep_statistics(w, i, x.mean, x.by);
    }
}

static void run_layer(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct planes *p = call->own;
    struct work w = { call, t };

    if (p->elements)
        op_share(call, team, p->n, 8 * p->elements, layer_rows, &w);
}

const struct op op_LayerNormalization = { .name = "LayerNormalization",
                                          .prepare = prepare_layer,
                                          .run = run_layer,
                                          .reference = reference_rows,
                                          .magnitudes = magnitudes_rows };

/* ---- LRN: neighbouring channels ---- */

struct lrn {
    size_t images, strips; /* of an image */
    struct op_lrn of;
};

enum { STRIP = 256 }; /* neighbours of a unit of work */

static int prepare_lrn(struct op_call *call, struct exp_why *why)
{
    const struct onnx_node *node = call->ask.node;
    const struct onnx_value *in = op_in(call, 0);
    const int64_t size = onnx_int(node, "size", 0);
    struct lrn *l;
    int err = op_check_floats(call, 1, why);

    if (!err && in->n_dims < 2)
        err = op_refuse(call, why, "an input of %zu dimensions", in->n_dims);
    if (!err && (size < 1 || size > INT32_MAX))
        err = op_refuse(call, why, "a size of %lld", (long long)size);
    if (!err)
        err = op_check_out(call, 0, in->n_dims, in->dim, why);
    if (err)
        return err;
    l = op_own(call, sizeof *l);
    l->images = (size_t)in->dim[0];
    l->of = (struct op_lrn){ .channels = (size_t)in->dim[1],
                             .plane = op_elements(in, 2, in->n_dims),
                             .size = (size_t)size,
                             .alpha = onnx_float(node, "alpha", 1e-4F) / (float)size,
                             .beta = onnx_float(node, "beta", 0.75F),
                             .bias = onnx_float(node, "bias", 1) };
    l->strips = (l->of.plane + STRIP - 1) / STRIP;
    return 0;
}

static void lrn_strips(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct lrn *l = w->call->own;

    (void)share;
    for (size_t i = from; i < to; i++) {
        const size_t strip = i % l->strips * STRIP, left = l->of.plane - strip;
        const size_t at = i / l->strips * l->of.channels * l->of.plane + strip;

        op_loops()->lrn((float *)w->t->out[0] + at, (const float *)w->t->in[0] + at, left < STRIP ? left : STRIP,
                        &l->of);
    }
}

static void run_lrn(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct lrn *l = call->own;
    struct work w = { call, t };

    if (l->of.channels)
        op_share(call, team, l->images * l->strips, 8 * STRIP * l->of.channels, lrn_strips, &w);
}

static double lrn_of(const struct op_lrn *l, const float *image, size_t c, size_t i)
{
    const size_t before = (l->size - 1) / 2, after = l->size - 1 - before;
    double sum = 0;

    for (size_t k = c < before ? 0 : c - before; k < l->channels && k <= c + after; k++)
        sum += (double)image[k * l->plane + i] * (double)image[k * l->plane + i];
    return (double)image[c * l->plane + i] / pow((double)l->bias + (double)l->alpha * sum, (double)l->beta);
}

static void reference_lrn(const struct op_call *call, const struct op_tensors *t)
{
    const struct lrn *l = call->own;
    const size_t image = l->of.channels * l->of.plane;

    for (size_t i = 0; i < l->images * image; i++)
        ((float *)t->out[0])[i] = (float)lrn_of(&l->of, (const float *)t->in[0] + i / image * image,
                                                i % image / l->of.plane, i % l->of.plane);
}

const struct op op_LRN = { .name = "LRN", .prepare = prepare_lrn, .run = run_lrn, .reference = reference_lrn };
