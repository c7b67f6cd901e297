/* Rules of operators that select elements, and of operators on shapes. */
#include <math.h>
#include <string.h>

#include "experiments/onnx/infer.h"

int rule_gather(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0), *indices = infer_in(c, 1);
    int64_t dim[3 * ONNX_MAX_DIMS];
    size_t axis, n = 0;
    int err = infer_axis(c, onnx_int(c->n, "axis", 0), in->n_dims, &axis);

    if (err)
        return err;
    for (size_t i = 0; i < axis; i++)
        dim[n++] = in->dim[i];
    for (size_t i = 0; i < indices->n_dims; i++)
        dim[n++] = indices->dim[i];
    for (size_t i = axis + 1; i < in->n_dims; i++)
        dim[n++] = in->dim[i];
    return infer_set(c, 0, in->stored, n, dim);
}

int rule_gather_elements(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0), *indices = infer_in(c, 1);

    if (in->n_dims != indices->n_dims)
        return infer_wrong(c, "its indices have %zu dimensions, and its input has %zu", indices->n_dims, in->n_dims);
    return infer_set(c, 0, in->stored, indices->n_dims, indices->dim);
}

int rule_gather_nd(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0), *indices = infer_in(c, 1);
    const int64_t batch = onnx_int(c->n, "batch_dims", 0);
    int64_t dim[2 * ONNX_MAX_DIMS], depth;
    size_t n = 0;

    if (!indices->n_dims || batch < 0 || batch >= (int64_t)indices->n_dims)
        return infer_wrong(c, "batch_dims of %lld", (long long)batch);
    depth = indices->dim[indices->n_dims - 1];
    if (depth < 1 || depth > (int64_t)in->n_dims - batch)
        return infer_wrong(c, "indices of %lld in %zu dimensions", (long long)depth, in->n_dims);
    for (size_t i = 0; i + 1 < indices->n_dims; i++)
        dim[n++] = indices->dim[i];
    for (size_t i = (size_t)(batch + depth); i < in->n_dims; i++)
        dim[n++] = in->dim[i];
    return infer_set(c, 0, in->stored, n, dim);
}

int rule_depends(const struct infer *c)
{
    return infer_unknown(c, "how many elements it has depends on the data");
}

/* ---- values out of shapes ---- */

int rule_shape(const struct infer *c)
{
    const int64_t n = (int64_t)infer_in(c, 0)->n_dims;
    int64_t start = onnx_int(c->n, "start", 0), end = onnx_int(c->n, "end", n);

    start += start < 0 ? n : 0;
    end += end < 0 ? n : 0;
    start = start < 0 ? 0 : start > n ? n : start;
    end = end < start ? start : end > n ? n : end;
    return infer_set(c, 0, ONNX_INT64, 1, (int64_t[]){ end - start });
}

int rule_size(const struct infer *c)
{
    return infer_set(c, 0, ONNX_INT64, 0, NULL);
}

int rule_constant(const struct infer *c)
{
    struct onnx_value v;
    size_t n;
    int err = infer_tensor(c, "value", &v);

    if (err < 0)
        return err;
    if (!err) {
        err = infer_like(c, 0, &v);
        infer_out(c, 0)->data = v.data;
        infer_out(c, 0)->bytes = v.bytes;
        return err;
    }
    if (onnx_attribute(c->n, "value_float") || onnx_attribute(c->n, "value_int"))
        return infer_set(c, 0, onnx_attribute(c->n, "value_int") ? ONNX_INT64 : ONNX_FLOAT, 0, NULL);
    if (onnx_floats(c->n, "value_floats", &n))
        return infer_set(c, 0, ONNX_FLOAT, 1, (int64_t[]){ (int64_t)n });
    if (onnx_ints(c->n, "value_ints", &n))
        return infer_set(c, 0, ONNX_INT64, 1, (int64_t[]){ (int64_t)n });
    return infer_unknown(c, "a constant that is no tensor of numbers");
}

int rule_constant_of_shape(const struct infer *c)
{
    struct onnx_list shape;
    struct onnx_value v;
    int err = infer_list(c, "shape", 0, &shape);

    if (err)
        return err;
    if (onnx_is_constant(infer_in(c, 0)) && shape.n > ONNX_MAX_DIMS)
        return infer_wrong(c, "%zu dimensions, and at most %d are read", shape.n, ONNX_MAX_DIMS);
    err = infer_tensor(c, "value", &v);
    if (err < 0)
        return err;
    if (!err && v.elements != 1)
        return infer_wrong(c, "its value has %zu elements, not one", v.elements);
    return infer_set(c, 0, err ? ONNX_FLOAT : v.stored, shape.n, shape.at);
}

int rule_range(const struct infer *c)
{
    const struct onnx_value *start = infer_in(c, 0), *limit = infer_in(c, 1), *delta = infer_in(c, 2);
    double n;

    if (!onnx_is_constant(start) || !onnx_is_constant(limit) || !onnx_is_constant(delta))
        return infer_unknown(c, "how many elements it has depends on the data");
    if (start->elements != 1 || limit->elements != 1 || delta->elements != 1)
        return infer_wrong(c, "a begin, an end or a step that is no scalar");
    n = ceil((onnx_element(limit, 0) - onnx_element(start, 0)) / onnx_element(delta, 0));
    if (!(fabs(n) < 0x1p60))
        return infer_wrong(c, "%g elements", n);
    return infer_set(c, 0, start->stored, 1, (int64_t[]){ n > 0 ? (int64_t)n : 0 });
}

int rule_one_hot(const struct infer *c)
{
    const struct onnx_value *indices = infer_in(c, 0), *depth = infer_in(c, 1);
    int64_t dim[ONNX_MAX_DIMS + 1];
    size_t axis;
    int err = infer_axis(c, onnx_int(c->n, "axis", -1), indices->n_dims + 1, &axis);

    if (err)
        return err;
    if (!onnx_is_constant(depth) || depth->elements != 1)
        return infer_unknown(c, "its depth depends on the data");
    for (size_t i = 0; i <= indices->n_dims; i++)
        dim[i] = i == axis ? onnx_element_int(depth, 0) : indices->dim[i < axis ? i : i - 1];
    return infer_set(c, 0, infer_in(c, 2)->stored, indices->n_dims + 1, dim);
}

int rule_eye_like(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    const int64_t type = onnx_int(c->n, "dtype", in->stored);

    if (in->n_dims != 2 || type < 1 || type >= ONNX_N_TYPES)
        return infer_wrong(c, "it takes a matrix, and a type");
    return infer_set(c, 0, (enum onnx_type)type, 2, in->dim);
}

int rule_top_k(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t dim[ONNX_MAX_DIMS];
    struct onnx_list k = { true, 1, { onnx_int(c->n, "k", -1) } };
    size_t axis = 0;
    int err = infer_axis(c, onnx_int(c->n, "axis", -1), in->n_dims, &axis);

    if (!err && c->g->opset >= 10)
        err = infer_list(c, "k", 1, &k);
    if (err)
        return err;
    if (k.n != 1 || k.at[0] < 0 || k.at[0] > in->dim[axis])
        return infer_wrong(c, "%lld of %lld", (long long)(k.n ? k.at[0] : 0), (long long)in->dim[axis]);
    memcpy(dim, in->dim, sizeof dim);
    dim[axis] = k.at[0];
    err = infer_set(c, 0, in->stored, in->n_dims, dim);
    return err ? err : infer_set(c, 1, ONNX_INT64, in->n_dims, dim);
}

int rule_det(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);

    if (in->n_dims < 2 || in->dim[in->n_dims - 1] != in->dim[in->n_dims - 2])
        return infer_wrong(c, "it takes square matrices");
    return infer_set(c, 0, in->stored, in->n_dims - 2, in->dim);
}
