/* Rules of operators that compute elements: by element, along axes, or as matrices. */
#include <string.h>

#include "experiments/onnx/infer.h"

/* ---- element by element ---- */

int rule_same(const struct infer *c)
{
    return infer_like(c, 0, infer_in(c, 0));
}

int rule_same_bool(const struct infer *c)
{
    return infer_set(c, 0, ONNX_BOOL, infer_in(c, 0)->n_dims, infer_in(c, 0)->dim);
}

int rule_axis(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    size_t axis;
    int err = infer_axis(c, onnx_int(c->n, "axis", c->g->opset < 13 ? 1 : -1), in->n_dims, &axis);

    /* In old opsets the axis splits dimensions into two: the axis may stand behind the last dimension. */
    if (err && c->g->opset < 13 && onnx_int(c->n, "axis", 1) == (int64_t)in->n_dims)
        err = 0;
    return err ? err : infer_like(c, 0, in);
}

int rule_dropout(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int err = infer_like(c, 0, in);

    return err ? err : infer_set(c, 1, c->g->opset < 10 ? in->stored : ONNX_BOOL, in->n_dims, in->dim);
}

/* Checks inputs from the second on for an element per channel. */
static int check_channels(const struct infer *c, size_t n_parameters)
{
    const struct onnx_value *in = infer_in(c, 0);

    if (in->n_dims < 2)
        return infer_wrong(c, "its input has no channels");
    for (size_t i = 1; i <= n_parameters; i++) {
        if (infer_in(c, i)->elements != (size_t)in->dim[1])
            return infer_wrong(c, "its input %zu has %zu elements, and there are %lld channels", i + 1,
                               infer_in(c, i)->elements, (long long)in->dim[1]);
    }
    return 0;
}

int rule_channels(const struct infer *c)
{
    const int err = check_channels(c, 2);

    return err ? err : rule_same(c);
}

/* Opset 21 has a scale and a bias of each channel, opset 18 of each group. */
int rule_group_norm(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    const int64_t groups = onnx_int(c->n, "num_groups", 0);
    const bool is_of_groups = c->g->opset < 21;

    if (in->n_dims < 2 || groups < 1 || in->dim[1] % groups)
        return infer_wrong(c, "%lld groups do not divide its channels", (long long)groups);
    for (size_t i = 1; i < 3; i++) {
        if (infer_in(c, i)->elements != (size_t)(is_of_groups ? groups : in->dim[1]))
            return infer_wrong(c, "its input %zu has %zu elements, and there are %lld %s", i + 1,
                               infer_in(c, i)->elements, (long long)(is_of_groups ? groups : in->dim[1]),
                               is_of_groups ? "groups" : "channels");
    }
    return rule_same(c);
}

int rule_batch_norm(const struct infer *c)
{
    /* Before opset 9 the mean may have an element for each element. */
    int err = onnx_int(c->n, "spatial", 1) ? check_channels(c, 4) : 0;

    err = err ? err : rule_same(c);
    for (size_t i = 1; i < c->n->n_out && !err; i++)
        err = infer_like(c, i, infer_in(c, i < 3 ? i + 2 : i));
    return err;
}

int rule_layer_norm(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t dim[ONNX_MAX_DIMS];
    size_t axis;
    int err = infer_axis(c, onnx_int(c->n, "axis", -1), in->n_dims, &axis);

    err = err ? err : rule_same(c);
    for (size_t i = 0; i < in->n_dims && !err; i++)
        dim[i] = i < axis ? in->dim[i] : 1;
    for (size_t i = 1; i < 3 && !err; i++)
        err = infer_set(c, i, ONNX_FLOAT, in->n_dims, dim);
    return err;
}

/* ---- broadcasts ---- */

static int does_not_fit(const struct infer *c, const struct onnx_value *a, const struct onnx_value *b)
{
    char x[200], y[200];

    onnx_say_shape(x, sizeof x, a);
    onnx_say_shape(y, sizeof y, b);
    return infer_wrong(c, "shapes %s and %s do not fit", x, y);
}

/* Broadcasts the inputs from `first` on to a common shape. */
static int broadcast(const struct infer *c, size_t first, size_t *n, int64_t *dim)
{
    const struct onnx_value *a = infer_in(c, first);

    *n = a->n_dims;
    memcpy(dim, a->dim, sizeof a->dim);
    for (size_t i = first + 1; i < c->n->n_in; i++) {
        const struct onnx_value *b = infer_in(c, i);

        if (b && !infer_broadcast(n, dim, b))
            return does_not_fit(c, a, b);
    }
    return 0;
}

/* Opsets before 7: the second input has dimensions of the first, from an axis on, if "broadcast" is set. */
static int check_old(const struct infer *c)
{
    const struct onnx_value *a = infer_in(c, 0), *b = infer_in(c, 1);
    const int64_t from = onnx_int(c->n, "axis", (int64_t)a->n_dims - (int64_t)b->n_dims);

    if (b->elements == 1 || onnx_int(c->n, "broadcast", 0) == 0)
        return b->elements == 1 || (a->n_dims == b->n_dims && !memcmp(a->dim, b->dim, a->n_dims * sizeof *a->dim))
                   ? 0
                   : does_not_fit(c, a, b);
    if (from < 0 || from > (int64_t)a->n_dims || (size_t)from + b->n_dims > a->n_dims)
        return does_not_fit(c, a, b);
    for (size_t i = 0; i < b->n_dims; i++) {
        if (b->dim[i] != a->dim[(size_t)from + i] && b->dim[i] != 1)
            return does_not_fit(c, a, b);
    }
    return 0;
}

static bool is_old(const struct infer *c)
{
    return c->g->opset < 7 && infer_in(c, 1) && c->n->n_in == 2;
}

static int set_broadcast(const struct infer *c, size_t first, enum onnx_type stored)
{
    const bool old = !first && is_old(c);
    int64_t dim[ONNX_MAX_DIMS];
    size_t n;
    int err = old ? check_old(c) : broadcast(c, first, &n, dim);

    if (err)
        return err;
    return old ? infer_set(c, 0, stored, infer_in(c, 0)->n_dims, infer_in(c, 0)->dim) : infer_set(c, 0, stored, n, dim);
}

int rule_binary(const struct infer *c)
{
    return set_broadcast(c, 0, infer_in(c, 0)->stored);
}

int rule_compare(const struct infer *c)
{
    return set_broadcast(c, 0, ONNX_BOOL);
}

int rule_prelu(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0), *slope = infer_in(c, 1);
    int64_t dim[ONNX_MAX_DIMS];
    size_t n = in->n_dims;

    memcpy(dim, in->dim, sizeof dim);
    /* In opsets before 7 there may be a slope of each channel. */
    if (c->g->opset >= 7 || slope->n_dims != 1 || n < 2 || slope->dim[0] != in->dim[1]) {
        if (!infer_broadcast(&n, dim, slope) || n != in->n_dims || memcmp(dim, in->dim, n * sizeof *dim))
            return does_not_fit(c, in, slope);
    }
    return rule_same(c);
}

int rule_where(const struct infer *c)
{
    return set_broadcast(c, 0, infer_in(c, 1)->stored);
}

/* ---- matrices ---- */

int infer_product(const struct infer *c, enum onnx_type stored, const struct onnx_value *b)
{
    const struct onnx_value *a = infer_in(c, 0);
    struct onnx_value left = *a, right = *b;
    int64_t dim[ONNX_MAX_DIMS], rows, columns;
    size_t n;

    if (!a->n_dims || !b->n_dims)
        return infer_wrong(c, "a factor is a scalar");
    rows = a->n_dims > 1 ? a->dim[a->n_dims - 2] : 1;
    columns = b->n_dims > 1 ? b->dim[b->n_dims - 1] : 1;
    if (a->dim[a->n_dims - 1] != b->dim[b->n_dims > 1 ? b->n_dims - 2 : 0])
        return does_not_fit(c, a, b);
    left.n_dims -= left.n_dims > 1 ? 2 : 1;
    right.n_dims -= right.n_dims > 1 ? 2 : 1;
    n = left.n_dims;
    memcpy(dim, left.dim, sizeof left.dim);
    if (!infer_broadcast(&n, dim, &right))
        return does_not_fit(c, a, b);
    if (a->n_dims > 1)
        dim[n++] = rows;
    if (b->n_dims > 1)
        dim[n++] = columns;
    return infer_set(c, 0, stored, n, dim);
}

int rule_matmul(const struct infer *c)
{
    return infer_product(c, infer_in(c, 0)->stored, infer_in(c, 1));
}

int rule_gemm(const struct infer *c)
{
    const struct onnx_value *a = infer_in(c, 0), *b = infer_in(c, 1), *add = infer_in(c, 2);
    const size_t ta = onnx_int(c->n, "transA", 0) != 0, tb = onnx_int(c->n, "transB", 0) != 0;
    int64_t dim[ONNX_MAX_DIMS];
    size_t n = 2;

    if (a->n_dims != 2 || b->n_dims != 2 || a->dim[1 - ta] != b->dim[tb])
        return does_not_fit(c, a, b);
    dim[0] = a->dim[ta];
    dim[1] = b->dim[1 - tb];
    if (add && (add->n_dims > 2 || !infer_broadcast(&n, dim, add) || dim[0] != a->dim[ta] || dim[1] != b->dim[1 - tb]))
        return infer_wrong(c, "what is added does not fit a product of %lldx%lld", (long long)a->dim[ta],
                           (long long)b->dim[1 - tb]);
    return infer_set(c, 0, a->stored, 2, dim);
}

/* ---- along axes ---- */

/* Sets the output without the reduced axes, or with 1 in their place. */
static int set_reduced(const struct infer *c, enum onnx_type stored, const bool *gone)
{
    const struct onnx_value *in = infer_in(c, 0);
    const bool keeps = onnx_int(c->n, "keepdims", 1) != 0;
    int64_t dim[ONNX_MAX_DIMS];
    size_t n = 0;

    for (size_t i = 0; i < in->n_dims; i++) {
        if (!gone[i] || keeps)
            dim[n++] = gone[i] ? 1 : in->dim[i];
    }
    return infer_set(c, 0, stored, n, dim);
}

int rule_reduce(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    bool gone[ONNX_MAX_DIMS];
    struct onnx_list axes;
    int err = infer_list(c, "axes", 1, &axes);

    err = err ? err : infer_axes(c, &axes, in->n_dims, gone);
    if (err)
        return err;
    if (!axes.n && onnx_int(c->n, "noop_with_empty_axes", 0))
        return rule_same(c);
    for (size_t i = 0; i < in->n_dims && !axes.n; i++)
        gone[i] = true;
    return set_reduced(c, in->stored, gone);
}

int rule_arg(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    const struct onnx_list axes = { true, 1, { onnx_int(c->n, "axis", 0) } };
    bool gone[ONNX_MAX_DIMS];
    int err = infer_axes(c, &axes, in->n_dims, gone);

    return err ? err : set_reduced(c, ONNX_INT64, gone);
}

/* ---- types ---- */

/* Opsets before 6 name a type by a text, "FLOAT". */
static enum onnx_type type_of_text(const char *text)
{
    for (enum onnx_type t = ONNX_FLOAT; t < ONNX_N_TYPES; t++) {
        const char *name = onnx_type_name(t);
        size_t i = 0;

        while (name[i] && (text[i] == name[i] || (name[i] >= 'a' && text[i] == name[i] - 'a' + 'A')))
            i++;
        if (!name[i] && !text[i])
            return t;
    }
    return ONNX_UNKNOWN_TYPE;
}

int rule_cast(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    const int64_t number = onnx_int(c->n, "to", ONNX_UNKNOWN_TYPE);
    enum onnx_type to = number > 0 && number < ONNX_N_TYPES ? (enum onnx_type)number : ONNX_UNKNOWN_TYPE;

    if (onnx_is(c->n, "CastLike"))
        to = infer_in(c, 1)->stored;
    else if (onnx_text(c->n, "to", NULL))
        to = type_of_text(onnx_text(c->n, "to", ""));
    if (!to)
        return infer_wrong(c, "type %lld is not known", (long long)number);
    return infer_set(c, 0, to, in->n_dims, in->dim);
}
