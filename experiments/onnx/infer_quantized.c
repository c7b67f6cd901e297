/* Rules of quantized operators. */
#include <math.h>

#include "experiments/onnx/infer.h"

/* ---- checks ---- */

/* Checks that a scale is floats. A constant scale must be finite, and a divisor not 0. */
static int check_scale(const struct infer *c, size_t in, bool divides)
{
    const struct onnx_value *v = infer_in(c, in);

    if (!v)
        return 0;
    if (v->type != ONNX_FLOAT)
        return infer_wrong(c, "its scale '%.100s' is of type %s, not float", v->name, onnx_type_name(v->stored));
    for (size_t i = 0; onnx_is_constant(v) && i < (v->is_filled ? 1 : v->elements); i++) {
        const double x = onnx_element(v, i);

        if (!isfinite(x) || (divides && x == 0))
            return infer_wrong(c, "element %zu of its scale '%.100s' is %g", i, v->name, x);
    }
    return 0;
}

/* Checks that a zero point has a type. */
static int check_zero(const struct infer *c, size_t in, enum onnx_type type)
{
    const struct onnx_value *v = infer_in(c, in);

    if (!v || v->stored == type)
        return 0;
    return infer_wrong(c, "its zero point '%.100s' is of type %s, not %s", v->name, onnx_type_name(v->stored),
                       onnx_type_name(type));
}

/* Checks that a scale or a zero point has a single element, or n elements. */
static int check_length(const struct infer *c, size_t in, int64_t n, const char *of)
{
    const struct onnx_value *v = infer_in(c, in);

    if (!v || v->elements == 1 || v->elements == (size_t)n)
        return 0;
    return infer_wrong(c, "its input '%.100s' has %zu elements, not 1 or %lld (%s)", v->name, v->elements, (long long)n,
                       of);
}

/* ---- QuantizeLinear, DequantizeLinear ---- */

/* Reads output_dtype of newer opsets (21, 23); 0 or a missing attribute: `otherwise`. */
static int output_type(const struct infer *c, enum onnx_type otherwise, enum onnx_type *to)
{
    const int64_t type = onnx_int(c->n, "output_dtype", 0);

    *to = type ? (enum onnx_type)type : otherwise;
    return type < 0 || type >= ONNX_N_TYPES ? infer_wrong(c, "type %lld is not known", (long long)type) : 0;
}

/* Checks the scale, and a zero point of the type, and sets the output. */
static int set_scaled(const struct infer *c, enum onnx_type zero_type, bool divides, enum onnx_type to)
{
    const struct onnx_value *in = infer_in(c, 0), *scale = infer_in(c, 1), *zero = infer_in(c, 2);
    struct onnx_scales scales;
    struct exp_why reason;
    int err = onnx_scales(c->g, c->n, &scales, &reason) ? infer_wrong(c, "%s", reason.text) : 0;

    err = err ? err : check_zero(c, 2, zero_type);
    err = err ? err : check_scale(c, 1, divides);
    if (!err && zero && zero->elements != scale->elements)
        err = infer_wrong(c, "its zero point '%.100s' has %zu elements, and its scale has %zu", zero->name,
                          zero->elements, scale->elements);
    return err ? err : infer_set(c, 0, to, in->n_dims, in->dim);
}

int rule_quantize(const struct infer *c)
{
    const struct onnx_value *zero = infer_in(c, 2);
    enum onnx_type to;
    int err = output_type(c, zero ? zero->stored : ONNX_UINT8, &to);

    if (!err && zero && zero->stored != to)
        err = infer_wrong(c, "its output_dtype is %s, and its zero point is %s", onnx_type_name(to),
                          onnx_type_name(zero->stored));
    return err ? err : set_scaled(c, to, true, to);
}

int rule_dequantize(const struct infer *c)
{
    enum onnx_type to;
    const int err = output_type(c, infer_in(c, 1)->stored, &to);

    return err ? err : set_scaled(c, infer_in(c, 0)->stored, false, to);
}

int rule_quantize_dynamically(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int err = infer_set(c, 0, ONNX_UINT8, in->n_dims, in->dim);

    err = err ? err : infer_set(c, 1, ONNX_FLOAT, 0, NULL);
    return err ? err : infer_set(c, 2, ONNX_UINT8, 0, NULL);
}

/* ---- convolutions and products of whole numbers ---- */

static int check_bytes(const struct infer *c, size_t in)
{
    const struct onnx_value *v = infer_in(c, in);

    if (v->stored == ONNX_UINT8 || v->stored == ONNX_INT8)
        return 0;
    return infer_unknown(c, "its input '%.100s' is of type %s, and int8 and uint8 are run", v->name,
                         onnx_type_name(v->stored));
}

/* Checks that a bias is s32. */
static int check_bias(const struct infer *c, size_t in)
{
    const struct onnx_value *v = infer_in(c, in);

    if (!v || v->stored == ONNX_INT32)
        return 0;
    return infer_wrong(c, "its bias '%.100s' is of type %s, not int32", v->name, onnx_type_name(v->stored));
}

/* Checks types: x, w, their zero points, scales and the bias. */
static int check_types(const struct infer *c, const struct onnx_integers *i)
{
    int err = check_bytes(c, i->x);

    err = err ? err : check_bytes(c, i->w);
    err = err ? err : check_zero(c, i->x_zero, infer_in(c, i->x)->stored);
    err = err ? err : check_zero(c, i->w_zero, infer_in(c, i->w)->stored);
    err = err ? err : check_scale(c, i->x_scale, false);
    err = err ? err : check_scale(c, i->w_scale, false);
    err = err ? err : check_scale(c, i->y_scale, true);
    return err ? err : check_bias(c, i->bias);
}

/* Checks numbers of elements: of x 1 or the rows, of w 1 or the filters or columns, of y 1. */
static int check_lengths(const struct infer *c, const struct onnx_integers *i)
{
    const struct onnx_value *x = infer_in(c, i->x), *w = infer_in(c, i->w);
    const int64_t rows = i->convolves || x->n_dims < 2 ? 1 : x->dim[x->n_dims - 2];
    const int64_t columns = i->convolves ? w->dim[0] : w->n_dims < 2 ? 1 : w->dim[w->n_dims - 1];
    const char *of_x = i->convolves ? "of all of x" : "one a row",
               *of_w = i->convolves ? "one a filter" : "one a column";
    int err = check_length(c, i->x_zero, rows, of_x);

    err = err ? err : check_length(c, i->x_scale, rows, of_x);
    err = err ? err : check_length(c, i->w_zero, columns, of_w);
    err = err ? err : check_length(c, i->w_scale, columns, of_w);
    err = err ? err : check_length(c, i->y_scale, 1, "of all outputs");
    return err ? err : check_length(c, i->y_zero, 1, "of all outputs");
}

int rule_integers(const struct infer *c)
{
    const struct onnx_integers *i = onnx_integers(c->n);
    const struct onnx_value *zero = infer_in(c, i->y_zero), *w = infer_in(c, i->w);
    const enum onnx_type to = zero ? zero->stored : ONNX_INT32;
    int err = check_types(c, i);

    if (!err && zero && to != ONNX_UINT8 && to != ONNX_INT8)
        err = infer_unknown(c, "its zero point '%.100s' is of type %s, and int8 and uint8 are run", zero->name,
                            onnx_type_name(to));
    err = err ? err : i->convolves ? infer_conv(c, to, w, i->bias) : infer_product(c, to, w);
    return err ? err : check_lengths(c, i);
}
