/* QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. */
#include <math.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

/* ---- elements ---- */

int32_t op_zero_point(const struct op_call *call, const struct op_tensors *t, size_t in, size_t i)
{
    const struct onnx_value *v = op_in(call, in);

    return v ? (int32_t)op_number(v->type, t->in[in], v->elements == 1 ? 0 : i) : 0;
}

struct op_range op_range_of(enum onnx_type type, int32_t zero)
{
    const bool is_signed = type == ONNX_INT8 || type == ONNX_INT16;
    const int32_t half = onnx_type_bytes(type) == 1 ? 1 << 7 : 1 << 15, low = is_signed ? -half : 0;

    return (struct op_range){ (float)(low - zero), (float)(low + 2 * half - 1 - zero), zero };
}

static bool is_quantized(enum onnx_type type)
{
    return type == ONNX_UINT8 || type == ONNX_INT8 || type == ONNX_UINT16 || type == ONNX_INT16;
}

static void set_element(enum onnx_type type, void *data, size_t i, int32_t x)
{
    if (onnx_type_bytes(type) == 1)
        ((uint8_t *)data)[i] = (uint8_t)x;
    else
        ((uint16_t *)data)[i] = (uint16_t)x;
}

/* ---- both directions ---- */

typedef void elements_fn(const struct op_call *call, const struct op_tensors *t, size_t from, size_t to);

/* Returns how many elements from i on, below `to`, have the scale of element i. */
static size_t alike(const struct onnx_scales *s, size_t i, size_t to)
{
    const size_t n = s->inner_step ? 1 : s->block_step || s->outer_step ? s->inner - i % s->inner : to - i;

    return n < to - i ? n : to - i;
}

static void quantize(const struct op_call *call, const struct op_tensors *t, size_t from, size_t to)
{
    const struct onnx_scales *s = call->own;
    const enum onnx_type type = op_out(call, 0)->type;
    const float *x = t->in[0];

    for (size_t i = from, n; i < to; i += n) {
        const size_t at = onnx_scale_at(s, i);
        const struct op_range r = op_range_of(type, op_zero_point(call, t, 2, at));
        const float scale = ((const float *)t->in[1])[at];

        n = alike(s, i, to);
        for (size_t k = i; k < i + n && onnx_type_bytes(type) == 1; k++)
            ((uint8_t *)t->out[0])[k] = (uint8_t)op_quantized(x[k] / scale, r);
        for (size_t k = i; k < i + n && onnx_type_bytes(type) == 2; k++)
            ((uint16_t *)t->out[0])[k] = (uint16_t)op_quantized(x[k] / scale, r);
    }
}

#define DEQUANTIZE(type_)                                                                                              \
    for (size_t k = i; k < i + n; k++)                                                                                 \
        out[k] = (float)((int64_t)((const type_ *)t->in[0])[k] - zero) * scale;                                        \
    break;

static void dequantize(const struct op_call *call, const struct op_tensors *t, size_t from, size_t to)
{
    const struct onnx_scales *s = call->own;
    float *out = t->out[0];

    for (size_t i = from, n; i < to; i += n) {
        const size_t at = onnx_scale_at(s, i);
        const int32_t zero = op_zero_point(call, t, 2, at);
        const float scale = ((const float *)t->in[1])[at];

        n = alike(s, i, to);
        switch (op_in(call, 0)->type) {
        case ONNX_UINT8:
            DEQUANTIZE(uint8_t)
        case ONNX_INT8:
            DEQUANTIZE(int8_t)
        case ONNX_UINT16:
            DEQUANTIZE(uint16_t)
        case ONNX_INT16:
            DEQUANTIZE(int16_t)
        default:
            DEQUANTIZE(int32_t)
        }
    }
}

struct work {
    const struct op_call *call;
    const struct op_tensors *t;
    elements_fn *elements;
};

static void do_elements(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;

    (void)share;
    w->elements(w->call, w->t, from, to);
}

static elements_fn *elements_of(const struct op_call *call)
{
    return onnx_is(call->ask.node, "QuantizeLinear") ? quantize : dequantize;
}

static void run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    struct work w = { call, t, elements_of(call) };

    if (!op_is_emitted()) /* a model stands in */
        op_share(call, team, op_in(call, 0)->elements, sizeof(float), do_elements, &w);
}

static double clamped(double x, double low, double high)
{
    return !(x > low) ? low : x > high ? high : x;
}

/* Both directions in double. */
static void reference(const struct op_call *call, const struct op_tensors *t)
{
    const bool quantizes = elements_of(call) == quantize;
    const enum onnx_type type = quantizes ? op_out(call, 0)->type : op_in(call, 0)->type;
    const struct op_range r = op_range_of(type, 0);

    for (size_t i = 0; i < op_in(call, 0)->elements; i++) {
        const size_t at = onnx_scale_at(call->own, i);
        const float scale = ((const float *)t->in[1])[at];
        const double zero = op_zero_point(call, t, 2, at);

        if (quantizes)
            set_element(type, t->out[0], i,
                        (int32_t)clamped(rint((double)(((const float *)t->in[0])[i] / scale)) + zero, (double)r.low,
                                         (double)r.high));
        else
            ((float *)t->out[0])[i] = (float)(op_number(type, t->in[0], i) - zero) * scale;
    }
}

/* Checks the types that run here, and leaves the scales. */
static int prepare(struct op_call *call, struct exp_why *why)
{
    const bool quantizes = elements_of(call) == quantize;
    const struct onnx_value *in = op_in(call, 0), *out = op_out(call, 0), *q = quantizes ? out : in;
    const struct onnx_value *real = quantizes ? in : out;
    int err = op_check_shapes(call, 2, why);

    if (!err && !is_quantized(q->type) && (quantizes || q->type != ONNX_INT32))
        err = op_refuse(call, why, "'%s' is of type %s, which is not quantized here", q->name, onnx_type_name(q->type));
    if (!err && (real->type != ONNX_FLOAT || op_in(call, 1)->type != ONNX_FLOAT))
        err = op_refuse(call, why, "'%s' is of type %s, not float", real->name, onnx_type_name(real->type));
    err = err ? err : op_check_out(call, 0, in->n_dims, in->dim, why);
    return err ? err : onnx_scales(call->ask.graph, call->ask.node, op_own(call, sizeof(struct onnx_scales)), why);
}

const struct op op_QuantizeLinear = {
    .name = "QuantizeLinear", .prepare = prepare, .run = run, .reference = reference
};
const struct op op_DequantizeLinear = {
    .name = "DequantizeLinear", .prepare = prepare, .run = run, .reference = reference
};

/* ---- DynamicQuantizeLinear ---- */

static int prepare_dynamic(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    const int err = op_check_shapes(call, 1, why);

    if (err)
        return err;
    if (in->type != ONNX_FLOAT || call->ask.node->n_out != 3 || !op_out(call, 1) || !op_out(call, 2))
        return op_refuse(call, why, "it needs floats and three outputs");
    return op_check_out(call, 0, in->n_dims, in->dim, why);
}

/* The range of the inputs includes 0; of zeros alone the scale is 1, as in ONNX Runtime. */
static void reference_dynamic(const struct op_call *call, const struct op_tensors *t)
{
    const size_t n = op_in(call, 0)->elements;
    const float *x = t->in[0];
    float low = 0, high = 0, scale;
    struct op_range r = op_range_of(ONNX_UINT8, 0);

    for (size_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    scale = high > low ? (high - low) / r.high : 1;
    r = op_range_of(ONNX_UINT8, op_quantized(-low / scale, r));
    for (size_t i = 0; i < n; i++)
        set_element(ONNX_UINT8, t->out[0], i, op_quantized(x[i] / scale, r));
    *(float *)t->out[1] = scale;
    *(uint8_t *)t->out[2] = (uint8_t)r.zero;
}

const struct op op_DynamicQuantizeLinear = { .name = "DynamicQuantizeLinear",
                                             .prepare = prepare_dynamic,
                                             .reference = reference_dynamic };
