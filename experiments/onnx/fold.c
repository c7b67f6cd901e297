/*
 * Folds constants: shape arithmetic, and nodes that move or convert constant weights. A small file can request much
 * work, so the bytes made (may_fold) and the elements visited (may_visit) are limited per file.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "experiments/onnx/infer.h"

/* ---- making a constant ---- */

/* Charges a visit of `elements` elements to the file's limit. Returns whether the limit allows the visit. */
static bool may_visit(const struct infer *c, size_t elements)
{
    if (elements > c->r->may_visit)
        return false;
    c->r->may_visit -= elements;
    return true;
}

/* Returns memory for the elements of a value; NULL: too many elements, or no numbers. */
static void *make(const struct infer *c, const struct onnx_value *v)
{
    const size_t bytes = v->elements * onnx_type_bytes(v->type);

    if (!onnx_type_bytes(v->type) || bytes > c->r->may_fold || !may_visit(c, v->elements))
        return NULL;
    c->r->may_fold -= bytes;
    return onnx_own(c->r, v->elements, onnx_type_bytes(v->type));
}

static void set_data(struct onnx_value *v, const void *data)
{
    v->data = data;
    v->bytes = data ? v->elements * onnx_type_bytes(v->type) : 0;
}

/* An element: whole numbers of all types fit into the first member. */
struct number {
    int64_t i;
    double f;
};

static struct number get(const struct onnx_value *v, size_t i)
{
    return (struct number){ onnx_element_int(v, i), onnx_element(v, i) };
}

static void put(enum onnx_type type, void *data, size_t i, struct number x)
{
    const size_t bytes = onnx_type_bytes(type);
    const float f = (float)x.f;
    const uint8_t truth = x.i || x.f < 0 || x.f > 0;

    /* Little-endian: the low bytes of a whole number are the number of a smaller type. */
    memcpy((uint8_t *)data + i * bytes,
           type == ONNX_FLOAT  ? (const void *)&f
           : type == ONNX_BOOL ? &truth
                               : (const void *)&x.i,
           bytes);
}

static bool is_float(const struct onnx_value *v)
{
    return v->type == ONNX_FLOAT;
}

/* ---- walking through an array in a permuted order ---- */

struct cursor {
    size_t n;
    int64_t dim[ONNX_MAX_DIMS], count[ONNX_MAX_DIMS];
    int64_t stride[ONNX_MAX_DIMS]; /* in elements of the read array */
    int64_t at;
};

static void dense_strides(const struct onnx_value *v, int64_t *stride)
{
    int64_t step = 1;

    for (size_t i = v->n_dims; i-- > 0;) {
        stride[i] = step;
        step *= v->dim[i];
    }
}

/* Walks through `in` as if it were broadcast to the shape of `out`. */
static struct cursor begin_broadcast(const struct onnx_value *in, const struct onnx_value *out)
{
    struct cursor w = { .n = out->n_dims };
    int64_t stride[ONNX_MAX_DIMS];

    dense_strides(in, stride);
    for (size_t i = 0; i < out->n_dims; i++) {
        const size_t missing = out->n_dims - in->n_dims;

        w.dim[i] = out->dim[i];
        w.stride[i] = i < missing || in->dim[i - missing] == 1 ? 0 : stride[i - missing];
    }
    return w;
}

static void step(struct cursor *w)
{
    for (size_t i = w->n; i-- > 0;) {
        w->at += w->stride[i];
        if (++w->count[i] < w->dim[i])
            return;
        w->at -= w->count[i] * w->stride[i];
        w->count[i] = 0;
    }
}

/* Copies the elements of a walk. */
static void copy_walk(const struct infer *c, const struct onnx_value *in, struct onnx_value *out, struct cursor w)
{
    const size_t bytes = onnx_type_bytes(out->type);
    uint8_t *data;

    if (in->is_filled) {
        out->is_filled = true;
        out->fill = in->fill;
        return;
    }
    data = make(c, out);
    for (size_t i = 0; data && i < out->elements; i++, step(&w))
        memcpy(data + i * bytes, (const uint8_t *)in->data + (size_t)w.at * bytes, bytes);
    set_data(out, data);
}

/* ---- moving elements ---- */

static void fold_view(const struct infer *c, struct onnx_value *out)
{
    const struct onnx_value *in = infer_in(c, 0);

    out->data = in->data;
    out->bytes = in->bytes;
    out->is_filled = in->is_filled;
    out->fill = in->fill;
}

static void fold_transpose(const struct infer *c, struct onnx_value *out)
{
    const struct onnx_value *in = infer_in(c, 0);
    struct cursor w = { .n = out->n_dims };
    int64_t stride[ONNX_MAX_DIMS];
    size_t n;
    const int64_t *perm = onnx_ints(c->n, "perm", &n);

    dense_strides(in, stride);
    for (size_t i = 0; i < out->n_dims; i++) {
        w.dim[i] = out->dim[i];
        w.stride[i] = stride[perm ? (size_t)perm[i] : out->n_dims - 1 - i];
    }
    copy_walk(c, in, out, w);
}

static void fold_expand(const struct infer *c, struct onnx_value *out)
{
    copy_walk(c, infer_in(c, 0), out, begin_broadcast(infer_in(c, 0), out));
}

static void fold_slice(const struct infer *c, struct onnx_value *out)
{
    const struct onnx_value *in = infer_in(c, 0);
    struct cursor w = begin_broadcast(in, in);
    struct onnx_list start, axes, steps;

    if (onnx_list(c->g, c->n, "starts", 1, &start) || onnx_list(c->g, c->n, "axes", 3, &axes) ||
        onnx_list(c->g, c->n, "steps", 4, &steps))
        return;
    dense_strides(in, w.stride);
    for (size_t i = 0; i < start.n; i++) {
        const int64_t axis = axes.is_given ? axes.at[i] : (int64_t)i, by = steps.is_given ? steps.at[i] : 1;
        const size_t at = (size_t)(axis < 0 ? axis + (int64_t)in->n_dims : axis);
        int64_t from = start.at[i] < 0 ? start.at[i] + in->dim[at] : start.at[i];

        from = from < 0 ? 0 : from >= in->dim[at] ? in->dim[at] - (by < 0) : from;
        w.at += from * w.stride[at];
        w.stride[at] *= out->dim[at] > 1 ? by : 0; /* a step may be any number */
    }
    memcpy(w.dim, out->dim, sizeof w.dim);
    copy_walk(c, in, out, w);
}

/* ---- blocks along an axis ---- */

/* An array as [outer][size][inner] around an axis. */
struct blocks {
    size_t outer, size, inner; /* inner: bytes */
};

static struct blocks blocks_of(const struct onnx_value *v, int64_t axis)
{
    const size_t at = (size_t)(axis < 0 ? axis + (int64_t)v->n_dims : axis);
    struct blocks b = { 1, v->n_dims ? (size_t)v->dim[at] : 1, onnx_type_bytes(v->type) };

    for (size_t i = 0; i < v->n_dims; i++) {
        if (i < at)
            b.outer *= (size_t)v->dim[i];
        else if (i > at)
            b.inner *= (size_t)v->dim[i];
    }
    return b;
}

static void fold_concat(const struct infer *c, struct onnx_value *out)
{
    const int64_t axis = onnx_int(c->n, "axis", 1);
    const struct blocks to = blocks_of(out, axis);
    uint8_t *data = make(c, out);
    size_t at = 0;

    for (size_t k = 0; k < c->n->n_in && data; k++) {
        const struct onnx_value *in = infer_in(c, k);
        const struct blocks from = blocks_of(in, axis);
        const size_t bytes = from.size * from.inner;

        for (size_t o = 0; o < from.outer && !in->is_filled && bytes; o++)
            memcpy(data + (o * to.size + at) * to.inner, (const uint8_t *)in->data + o * bytes, bytes);
        for (size_t o = 0; o < from.outer && in->is_filled && bytes; o++) {
            for (size_t i = 0; i < bytes / sizeof in->fill; i++)
                memcpy(data + (o * to.size + at) * to.inner + i * sizeof in->fill, &in->fill, sizeof in->fill);
        }
        at += from.size;
    }
    set_data(out, data);
}

static void fold_split(const struct infer *c, struct onnx_value *out)
{
    const struct onnx_value *in = infer_in(c, 0);
    const int64_t axis = onnx_int(c->n, "axis", 0);
    const struct blocks from = blocks_of(in, axis);
    size_t at = 0;

    (void)out;
    for (size_t k = 0; k < c->n->n_out; k++) {
        struct onnx_value *part = infer_out(c, k);
        const struct blocks to = part ? blocks_of(part, axis) : from;
        uint8_t *data = part && !in->is_filled ? make(c, part) : NULL;

        if (!part)
            return; /* the length is not known */
        for (size_t o = 0; o < to.outer && data && part->elements; o++)
            memcpy(data + o * to.size * to.inner, (const uint8_t *)in->data + (o * from.size + at) * from.inner,
                   to.size * to.inner);
        set_data(part, data);
        part->is_filled = in->is_filled;
        part->fill = in->fill;
        at += to.size;
    }
}

static void fold_gather(const struct infer *c, struct onnx_value *out)
{
    const struct onnx_value *in = infer_in(c, 0), *indices = infer_in(c, 1);
    const struct blocks b = blocks_of(in, onnx_int(c->n, "axis", 0));
    uint8_t *data = in->is_filled ? NULL : make(c, out);

    out->is_filled = in->is_filled;
    out->fill = in->fill;
    for (size_t o = 0; o < b.outer && data && out->elements; o++) {
        for (size_t i = 0; i < indices->elements; i++) {
            const int64_t index = onnx_element_int(indices, i), at = index < 0 ? index + (int64_t)b.size : index;

            if (at < 0 || at >= (int64_t)b.size)
                return; /* the run refuses the node */
            memcpy(data + (o * indices->elements + i) * b.inner,
                   (const uint8_t *)in->data + (o * b.size + (size_t)at) * b.inner, b.inner);
        }
    }
    set_data(out, data);
}

/* ---- values out of shapes ---- */

static void fold_shape(const struct infer *c, struct onnx_value *out)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t *data = make(c, out), start = onnx_int(c->n, "start", 0);

    start += start < 0 ? (int64_t)in->n_dims : 0;
    start = start < 0 ? 0 : start;
    if (data && out->elements)
        memcpy(data, in->dim + start, out->elements * sizeof *data);
    set_data(out, data);
}

static void fold_size(const struct infer *c, struct onnx_value *out)
{
    int64_t *data = make(c, out);

    if (data)
        *data = (int64_t)infer_in(c, 0)->elements;
    set_data(out, data);
}

static void fold_constant(const struct infer *c, struct onnx_value *out)
{
    size_t n_floats, n_ints;
    const float *floats = onnx_floats(c->n, "value_floats", &n_floats);
    const int64_t *ints = onnx_ints(c->n, "value_ints", &n_ints);
    uint8_t *data;

    if (out->data)
        return; /* a tensor */
    data = make(c, out);
    for (size_t i = 0; i < out->elements && data; i++)
        put(out->type, data, i,
            (struct number){ ints ? ints[i] : onnx_int(c->n, "value_int", 0),
                             (double)(floats ? floats[i] : onnx_float(c->n, "value_float", 0)) });
    set_data(out, data);
}

static void fold_constant_of_shape(const struct infer *c, struct onnx_value *out)
{
    struct number fill = { 0, 0 };
    struct onnx_value v;
    uint8_t *data;

    if (!infer_tensor(c, "value", &v) && v.data)
        fill = get(&v, 0);
    if (is_float(out)) {
        out->is_filled = true;
        out->fill = (float)fill.f;
        return;
    }
    data = make(c, out);
    for (size_t i = 0; i < out->elements && data; i++)
        put(out->type, data, i, fill);
    set_data(out, data);
}

static void fold_range(const struct infer *c, struct onnx_value *out)
{
    const struct number start = get(infer_in(c, 0), 0), delta = get(infer_in(c, 2), 0);
    uint8_t *data = make(c, out);

    for (size_t i = 0; i < out->elements && data; i++)
        put(out->type, data, i,
            (struct number){ (int64_t)((uint64_t)start.i + i * (uint64_t)delta.i), start.f + (double)i * delta.f });
    set_data(out, data);
}

/* ---- arithmetic ---- */

static int64_t divide(int64_t a, int64_t b)
{
    return !b ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

/* As Python's %: the sign of b. */
static int64_t modulo(int64_t a, int64_t b)
{
    const int64_t rest = b == -1 || !b ? 0 : a % b;

    return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

enum operation {
    ADD,
    SUB,
    MUL,
    DIV,
    MOD,
    POW,
    MIN,
    MAX,
    EQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    AND,
    OR,
    XOR,
    NEG,
    ABS,
    FLOOR,
    CEIL,
    SQRT,
    NOT,
    CAST
};

static int64_t compute_int(enum operation op, int64_t a, int64_t b)
{
    switch (op) {
    case ADD:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case SUB:
        return (int64_t)((uint64_t)a - (uint64_t)b);
    case MUL:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case DIV:
        return divide(a, b);
    case MOD:
        return modulo(a, b);
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case AND:
        return a && b;
    case OR:
        return a || b;
    case XOR:
        return !a != !b;
    case NEG:
        return (int64_t)(0 - (uint64_t)a);
    case ABS:
        return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
    case NOT:
        return !a;
    default:
        return a;
    }
}

static double compute_float(enum operation op, double a, double b)
{
    switch (op) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case DIV:
        return a / b;
    case MOD:
        return fmod(a, b);
    case POW:
        return pow(a, b);
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case NEG:
        return -a;
    case ABS:
        return fabs(a);
    case FLOOR:
        return floor(a);
    case CEIL:
        return ceil(a);
    case SQRT:
        return sqrt(a);
    default:
        return a;
    }
}

static bool compare(enum operation op, struct number a, struct number b, bool floats)
{
    const bool equal = floats ? a.f == b.f : a.i == b.i, less = floats ? a.f < b.f : a.i < b.i;
    const bool greater = floats ? a.f > b.f : a.i > b.i;

    switch (op) {
    case EQUAL:
        return equal;
    case LESS:
        return less;
    case LESS_EQUAL:
        return less || equal;
    case GREATER:
        return greater;
    default:
        return greater || equal;
    }
}

/* Returns a number as a whole number; 0 for NaN and infinities. */
static int64_t whole(double x)
{
    return fabs(x) < 0x1p63 ? (int64_t)x : 0;
}

static struct number compute(enum operation op, struct number a, struct number b, bool floats)
{
    struct number x;

    if (op >= EQUAL && op <= GREATER_EQUAL) {
        x.i = compare(op, a, b, floats);
        x.f = (double)x.i;
    } else if (floats) {
        x = (struct number){ a.i, compute_float(op, a.f, b.f) };
    } else {
        x.i = op == POW ? whole(pow(a.f, b.f)) : compute_int(op, a.i, b.i);
        x.f = (double)x.i;
    }
    return x;
}

static void fold_arithmetic(const struct infer *c, struct onnx_value *out, enum operation op)
{
    const struct onnx_value *a = infer_in(c, 0), *b = c->n->n_in > 1 && infer_in(c, 1) ? infer_in(c, 1) : a;
    struct cursor x, y;
    uint8_t *data;

    if (c->n->n_in > 2 || onnx_int(c->n, "fmod", 0) || (c->g->opset < 7 && b->n_dims && b->n_dims != a->n_dims))
        return;
    data = make(c, out);
    x = begin_broadcast(a, out);
    y = begin_broadcast(op == CAST ? a : b, out);
    for (size_t i = 0; i < out->elements && data; i++, step(&x), step(&y))
        put(out->type, data, i, compute(op, get(a, (size_t)x.at), get(b, (size_t)y.at), is_float(a)));
    set_data(out, data);
}

static void fold_where(const struct infer *c, struct onnx_value *out)
{
    const struct onnx_value *which = infer_in(c, 0), *a = infer_in(c, 1), *b = infer_in(c, 2);
    struct cursor w = begin_broadcast(which, out), x = begin_broadcast(a, out), y = begin_broadcast(b, out);
    uint8_t *data = make(c, out);

    for (size_t i = 0; i < out->elements && data; i++, step(&w), step(&x), step(&y)) {
        const bool first = onnx_element_int(which, (size_t)w.at);

        put(out->type, data, i, first ? get(a, (size_t)x.at) : get(b, (size_t)y.at));
    }
    set_data(out, data);
}

/* Returns the reduction of n equal elements x. */
static double reduce_alike(enum operation op, double x, double n)
{
    return op == ADD ? x * n : op == MUL ? pow(x, n) : x;
}

/* Reduces all elements to a single element: enough for shape arithmetic. */
static void fold_reduce(const struct infer *c, struct onnx_value *out, enum operation op)
{
    const struct onnx_value *in = infer_in(c, 0);
    struct number sum;
    uint8_t *data;

    if (out->elements != 1 || !in->elements)
        return;
    if (in->is_filled) {
        out->is_filled = true;
        out->fill = (float)reduce_alike(op, (double)in->fill, (double)in->elements);
        return;
    }
    if (!may_visit(c, in->elements))
        return;
    sum = get(in, 0);
    for (size_t i = 1; i < in->elements; i++)
        sum = compute(op, sum, get(in, i), is_float(in));
    data = make(c, out);
    if (data)
        put(out->type, data, 0, sum);
    set_data(out, data);
}

/* Converts constant weights to floats. */
static void fold_dequantize(const struct infer *c, struct onnx_value *out)
{
    const struct onnx_value *in = infer_in(c, 0), *scale = infer_in(c, 1), *zero = infer_in(c, 2);
    struct onnx_scales scales;
    float *data;

    if (!onnx_type_bytes(in->type) || out->type != ONNX_FLOAT || onnx_scales(c->g, c->n, &scales, NULL))
        return;
    data = make(c, out);
    for (size_t i = 0; i < out->elements && data; i++) {
        const size_t at = onnx_scale_at(&scales, i);

        data[i] =
            (float)(onnx_element_int(in, i) - (zero ? onnx_element_int(zero, at) : 0)) * (float)onnx_element(scale, at);
    }
    set_data(out, data);
}

/* ---- which operator ---- */

struct folding {
    const char *op;
    void (*fold)(const struct infer *c, struct onnx_value *out);
    void (*compute)(const struct infer *c, struct onnx_value *out, enum operation op); /* or this one */
    enum operation operation;
    bool takes_any; /* the inputs need not be constant */
};

static const struct folding foldings[] = {
    { "Abs", NULL, fold_arithmetic, ABS, false },
    { "Add", NULL, fold_arithmetic, ADD, false },
    { "And", NULL, fold_arithmetic, AND, false },
    { "Cast", NULL, fold_arithmetic, CAST, false },
    { "CastLike", NULL, fold_arithmetic, CAST, false },
    { "Ceil", NULL, fold_arithmetic, CEIL, false },
    { "Concat", fold_concat, NULL, 0, false },
    { "Constant", fold_constant, NULL, 0, false },
    { "ConstantOfShape", fold_constant_of_shape, NULL, 0, false },
    { "DequantizeLinear", fold_dequantize, NULL, 0, false },
    { "Div", NULL, fold_arithmetic, DIV, false },
    { "Equal", NULL, fold_arithmetic, EQUAL, false },
    { "Expand", fold_expand, NULL, 0, false },
    { "Flatten", fold_view, NULL, 0, false },
    { "Floor", NULL, fold_arithmetic, FLOOR, false },
    { "Gather", fold_gather, NULL, 0, false },
    { "Greater", NULL, fold_arithmetic, GREATER, false },
    { "GreaterOrEqual", NULL, fold_arithmetic, GREATER_EQUAL, false },
    { "Identity", fold_view, NULL, 0, false },
    { "Less", NULL, fold_arithmetic, LESS, false },
    { "LessOrEqual", NULL, fold_arithmetic, LESS_EQUAL, false },
    { "Max", NULL, fold_arithmetic, MAX, false },
    { "Min", NULL, fold_arithmetic, MIN, false },
    { "Mod", NULL, fold_arithmetic, MOD, false },
    { "Mul", NULL, fold_arithmetic, MUL, false },
    { "Neg", NULL, fold_arithmetic, NEG, false },
    { "Not", NULL, fold_arithmetic, NOT, false },
    { "Or", NULL, fold_arithmetic, OR, false },
    { "Pow", NULL, fold_arithmetic, POW, false },
    { "Range", fold_range, NULL, 0, false },
    { "ReduceMax", NULL, fold_reduce, MAX, false },
    { "ReduceMin", NULL, fold_reduce, MIN, false },
    { "ReduceProd", NULL, fold_reduce, MUL, false },
    { "ReduceSum", NULL, fold_reduce, ADD, false },
    { "Reshape", fold_view, NULL, 0, false },
    { "Shape", fold_shape, NULL, 0, true },
    { "Size", fold_size, NULL, 0, true },
    { "Slice", fold_slice, NULL, 0, false },
    { "Split", fold_split, NULL, 0, false },
    { "Sqrt", NULL, fold_arithmetic, SQRT, false },
    { "Squeeze", fold_view, NULL, 0, false },
    { "Sub", NULL, fold_arithmetic, SUB, false },
    { "Transpose", fold_transpose, NULL, 0, false },
    { "Unsqueeze", fold_view, NULL, 0, false },
    { "Where", fold_where, NULL, 0, false },
    { "Xor", NULL, fold_arithmetic, XOR, false },
};

static const struct folding *find_folding(const struct onnx_node *n)
{
    for (size_t i = 0; i < sizeof foldings / sizeof foldings[0]; i++) {
        if (onnx_is(n, foldings[i].op))
            return &foldings[i];
    }
    return NULL;
}

void infer_fold(const struct infer *c)
{
    const struct folding *f = find_folding(c->n);
    struct onnx_value *out = infer_out(c, 0);

    if (!f || !out)
        return;
    for (size_t i = 0; i < c->n->n_in && !f->takes_any; i++) {
        if (infer_in(c, i) && !onnx_is_constant(infer_in(c, i)))
            return;
    }
    if (f->fold)
        f->fold(c, out);
    else
        f->compute(c, out, f->operation);
}
