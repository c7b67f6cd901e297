/* Rules of operators that move elements. */
#include <string.h>

#include "experiments/onnx/infer.h"

int rule_concat(const struct infer *c)
{
    const struct onnx_value *first = infer_in(c, 0);
    int64_t dim[ONNX_MAX_DIMS];
    size_t axis;
    int err = infer_axis(c, onnx_int(c->n, "axis", 1), first->n_dims, &axis);

    if (!err && c->g->opset >= 4 && !onnx_attribute(c->n, "axis"))
        err = infer_wrong(c, "it has no axis, and has to have one from opset 4 on");
    if (err)
        return err;
    memcpy(dim, first->dim, sizeof dim);
    for (size_t i = 1; i < c->n->n_in; i++) {
        const struct onnx_value *v = infer_in(c, i);
        bool fits = v && v->n_dims == first->n_dims;

        for (size_t d = 0; d < first->n_dims && fits; d++)
            fits = d == axis || v->dim[d] == first->dim[d];
        if (!fits || __builtin_add_overflow(dim[axis], v->dim[axis], &dim[axis]))
            return infer_wrong(c, "its input %zu does not fit the first", i + 1);
    }
    return infer_set(c, 0, first->stored, first->n_dims, dim);
}

/* ---- split ---- */

/* The length of each part, if not in the file: equal parts, and the rest for the last. */
static int part_evenly(const struct infer *c, int64_t size, struct onnx_list *part)
{
    const size_t n = c->n->n_out;
    const int64_t each = (size + (int64_t)n - 1) / (int64_t)n;

    if (n > ONNX_MAX_LIST)
        return infer_unknown(c, "it has more than %d outputs", ONNX_MAX_LIST);
    if (onnx_int(c->n, "num_outputs", (int64_t)n) != (int64_t)n)
        return infer_wrong(c, "its num_outputs is %lld, and it has %zu", (long long)onnx_int(c->n, "num_outputs", 0),
                           n);
    if (c->g->opset < 18 && size % (int64_t)n)
        return infer_wrong(c, "%lld in %zu parts", (long long)size, n);
    part->n = n;
    for (size_t i = 0; i < n; i++) {
        const int64_t left = size - each * (int64_t)i;

        part->at[i] = left < each ? left : each;
        if (part->at[i] < 0)
            return infer_wrong(c, "%lld in %zu parts", (long long)size, n);
    }
    return 0;
}

int rule_split(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t dim[ONNX_MAX_DIMS], left;
    struct onnx_list part;
    size_t axis = 0;
    int err = infer_axis(c, onnx_int(c->n, "axis", 0), in->n_dims, &axis);

    err = err ? err : infer_list(c, "split", 1, &part);
    if (!err && part.is_given && onnx_attribute(c->n, "num_outputs"))
        err = infer_wrong(c, "it says both its parts and num_outputs");
    if (!err && !part.is_given)
        err = part_evenly(c, in->dim[axis], &part);
    if (err)
        return err;
    if (part.n != c->n->n_out)
        return infer_wrong(c, "%zu parts for %zu outputs", part.n, c->n->n_out);
    left = in->dim[axis];
    memcpy(dim, in->dim, sizeof dim);
    for (size_t i = 0; i < part.n && !err; i++) {
        if (part.at[i] < 0 || part.at[i] > left)
            return infer_wrong(c, "its parts are not %lld together", (long long)in->dim[axis]);
        left -= dim[axis] = part.at[i];
        err = infer_set(c, i, in->stored, in->n_dims, dim);
    }
    return err || !left ? err : infer_wrong(c, "its parts are not %lld together", (long long)in->dim[axis]);
}

/* ---- slice ---- */

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Counts the elements of a slice of a dimension. */
static int64_t count_slice(int64_t size, int64_t start, int64_t end, int64_t step)
{
    uint64_t span, stride;

    if (!size)
        return 0;
    start = clamp(start < 0 ? start + size : start, 0, step > 0 ? size : size - 1);
    end = end < 0 ? clamp(end + size, -1, size) : clamp(end, 0, size);
    if (step > 0) {
        end = clamp(end, 0, size);
        return start < end ? (end - start - 1) / step + 1 : 0;
    }
    if (start <= end)
        return 0;
    span = (uint64_t)(start - end);
    stride = 0 - (uint64_t)step;
    return (int64_t)((span - 1) / stride) + 1;
}

/* Reads starts, ends, axes and steps, lists of equal length. */
static int read_slices(const struct infer *c, struct onnx_list *start, struct onnx_list *end, struct onnx_list *axes,
                       struct onnx_list *step)
{
    int err = infer_list(c, "starts", 1, start);

    err = err ? err : infer_list(c, "ends", 2, end);
    err = err ? err : infer_list(c, "axes", 3, axes);
    err = err ? err : infer_list(c, "steps", 4, step);
    if (err)
        return err;
    if (!start->is_given || end->n != start->n || (axes->is_given && axes->n != start->n) ||
        (step->is_given && step->n != start->n))
        return infer_wrong(c, "its starts, ends, axes and steps are not equally many");
    for (size_t i = 0; i < start->n; i++) {
        axes->at[i] = axes->is_given ? axes->at[i] : (int64_t)i;
        step->at[i] = step->is_given ? step->at[i] : 1;
        if (!step->at[i])
            return infer_wrong(c, "a step of 0");
    }
    axes->n = start->n;
    return 0;
}

int rule_slice(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    struct onnx_list start, end, axes, step;
    int64_t dim[ONNX_MAX_DIMS];
    bool which[ONNX_MAX_DIMS];
    int err = read_slices(c, &start, &end, &axes, &step);

    err = err ? err : infer_axes(c, &axes, in->n_dims, which);
    if (err)
        return err;
    memcpy(dim, in->dim, sizeof dim);
    for (size_t i = 0; i < start.n; i++) {
        const size_t axis = (size_t)(axes.at[i] < 0 ? axes.at[i] + (int64_t)in->n_dims : axes.at[i]);

        dim[axis] = count_slice(in->dim[axis], start.at[i], end.at[i], step.at[i]);
    }
    return infer_set(c, 0, in->stored, in->n_dims, dim);
}

/* ---- pad ---- */

/* The padded axes in order: all, or the axes of an input. */
static int read_padded(const struct infer *c, size_t n_dims, size_t n, size_t *axis)
{
    struct onnx_list axes = { 0 };
    int err = c->g->opset < 18 ? 0 : infer_list(c, "axes", 3, &axes);

    if (err)
        return err;
    if ((axes.is_given ? axes.n : n_dims) != n)
        return infer_wrong(c, "it pads %zu axes of %zu", n, axes.is_given ? axes.n : n_dims);
    for (size_t i = 0; i < n && !err; i++) {
        axis[i] = i;
        if (axes.is_given)
            err = infer_axis(c, axes.at[i], n_dims, &axis[i]);
    }
    return err;
}

int rule_pad(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    size_t axis[ONNX_MAX_LIST];
    int64_t dim[ONNX_MAX_DIMS];
    struct onnx_list pads;
    int err = infer_list(c, c->g->opset < 2 ? "paddings" : "pads", 1, &pads);

    if (err)
        return err;
    err = read_padded(c, in->n_dims, pads.n / 2, axis);
    if (err)
        return err;
    memcpy(dim, in->dim, sizeof dim);
    for (size_t i = 0; i < pads.n / 2; i++) {
        int64_t *d = &dim[axis[i]];

        if (pads.n % 2 || __builtin_add_overflow(*d, pads.at[i], d) ||
            __builtin_add_overflow(*d, pads.at[i + pads.n / 2], d))
            return infer_wrong(c, "its pads do not fit");
    }
    return infer_set(c, 0, in->stored, in->n_dims, dim);
}

/* ---- shapes ---- */

static int cannot_reshape(const struct infer *c, const struct onnx_value *to)
{
    char from_text[200], to_text[200];

    onnx_say_shape(from_text, sizeof from_text, infer_in(c, 0));
    onnx_say_shape(to_text, sizeof to_text, to);
    return infer_wrong(c, "a shape of %s cannot become %s", from_text, to_text);
}

/* Sets the dimension of -1, if any, from the number of elements. */
static int complete(const struct infer *c, const struct onnx_value *asked)
{
    const size_t elements = infer_in(c, 0)->elements;
    struct onnx_value to = *asked, known = *asked;
    size_t open = ONNX_NONE;

    for (size_t i = 0; i < to.n_dims; i++) {
        if (to.dim[i] != -1)
            continue;
        if (open != ONNX_NONE)
            return cannot_reshape(c, asked);
        open = i;
        known.dim[i] = 1;
    }
    if (onnx_count_elements(&known))
        return cannot_reshape(c, asked);
    if (open != ONNX_NONE && (!known.elements || elements % known.elements))
        return cannot_reshape(c, asked);
    if (open != ONNX_NONE)
        to.dim[open] = (int64_t)(elements / known.elements);
    else if (known.elements != elements)
        return cannot_reshape(c, asked);
    return infer_set(c, 0, infer_in(c, 0)->stored, to.n_dims, to.dim);
}

/* Tells whether a new shape has the file's batch, while the input has the requested batch. */
static bool says_old_batch(const struct infer *c, const struct onnx_list *list)
{
    const struct onnx_value *in = infer_in(c, 0);
    struct onnx_value to = { .n_dims = list->n };

    if (!c->r->batch || !list->n || list->n > ONNX_MAX_DIMS || list->at[0] != c->r->fixed_batch || !in->n_dims ||
        in->dim[0] != c->r->batch)
        return false;
    for (size_t i = 0; i < list->n; i++) {
        to.dim[i] = i ? list->at[i] : c->r->batch;
        if (to.dim[i] <= 0)
            return true; /* without the batch, as the rest is not known yet */
    }
    return !onnx_count_elements(&to) && to.elements == in->elements;
}

/* Replaces the batch in the new shape, and in the constant of the shape. */
static void replace_batch(const struct infer *c, struct onnx_list *list)
{
    struct onnx_value *v = c->n->n_in > 1 && c->n->in[1] != ONNX_NONE ? &c->g->value[c->n->in[1]] : NULL;
    int64_t *data;

    if (!says_old_batch(c, list))
        return;
    list->at[0] = c->r->batch;
    if (!v || v->type != ONNX_INT64 || !v->data)
        return;
    data = memcpy(onnx_own(c->r, v->elements, sizeof *data), v->data, v->bytes);
    data[0] = c->r->batch;
    v->data = data;
}

int rule_reshape(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    const bool keeps_zero = onnx_int(c->n, "allowzero", 0);
    struct onnx_value to = { 0 };
    struct onnx_list list;
    int err = infer_list(c, "shape", 1, &list);

    if (err)
        return err;
    if (!list.is_given || list.n > ONNX_MAX_DIMS)
        return infer_wrong(c, "a new shape of %zu dimensions", list.n);
    replace_batch(c, &list);
    to.n_dims = list.n;
    for (size_t i = 0; i < list.n; i++) {
        to.dim[i] = list.at[i];
        if (to.dim[i] || keeps_zero)
            continue;
        if (i >= in->n_dims)
            return infer_wrong(c, "dimension %zu of its new shape is 0, and its input has %zu", i + 1, in->n_dims);
        to.dim[i] = in->dim[i];
    }
    return complete(c, &to);
}

int rule_flatten(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    struct onnx_value rows = *in, columns = *in;
    int64_t axis = onnx_int(c->n, "axis", 1);

    axis += axis < 0 ? (int64_t)in->n_dims : 0;
    if (axis < 0 || axis > (int64_t)in->n_dims)
        return infer_wrong(c, "axis %lld of %zu dimensions", (long long)axis, in->n_dims);
    rows.n_dims = (size_t)axis;
    columns.n_dims = in->n_dims - (size_t)axis;
    memmove(columns.dim, columns.dim + axis, columns.n_dims * sizeof *columns.dim);
    if (onnx_count_elements(&rows) || onnx_count_elements(&columns))
        return infer_wrong(c, "its output is too large");
    return infer_set(c, 0, in->stored, 2, (int64_t[]){ (int64_t)rows.elements, (int64_t)columns.elements });
}

int rule_transpose(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t dim[ONNX_MAX_DIMS];
    bool seen[ONNX_MAX_DIMS] = { false };
    size_t n;
    const int64_t *perm = onnx_ints(c->n, "perm", &n);

    if (perm && n != in->n_dims)
        return infer_wrong(c, "an order of %zu of %zu dimensions", n, in->n_dims);
    for (size_t i = 0; i < in->n_dims; i++) {
        const int64_t from = perm ? perm[i] : (int64_t)(in->n_dims - 1 - i);

        if (from < 0 || from >= (int64_t)in->n_dims || seen[from])
            return infer_wrong(c, "its order is none: dimension %lld", (long long)from);
        seen[from] = true;
        dim[i] = in->dim[from];
    }
    return infer_set(c, 0, in->stored, in->n_dims, dim);
}

int rule_squeeze(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t dim[ONNX_MAX_DIMS];
    bool gone[ONNX_MAX_DIMS];
    struct onnx_list axes;
    size_t n = 0;
    int err = infer_list(c, "axes", 1, &axes);

    err = err ? err : infer_axes(c, &axes, in->n_dims, gone);
    for (size_t i = 0; i < in->n_dims && !err; i++) {
        if (gone[i] && in->dim[i] != 1)
            return infer_wrong(c, "axis %zu is %lld long, not 1", i, (long long)in->dim[i]);
        if (axes.is_given ? !gone[i] : in->dim[i] != 1)
            dim[n++] = in->dim[i];
    }
    return err ? err : infer_set(c, 0, in->stored, n, dim);
}

int rule_unsqueeze(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t dim[ONNX_MAX_DIMS];
    bool is_new[ONNX_MAX_DIMS];
    struct onnx_list axes;
    size_t from = 0, n;
    int err = infer_list(c, "axes", 1, &axes);

    if (err)
        return err;
    n = in->n_dims + axes.n;
    if (!axes.is_given || n > ONNX_MAX_DIMS)
        return infer_wrong(c, "%zu new dimensions beside %zu", axes.n, in->n_dims);
    err = infer_axes(c, &axes, n, is_new);
    for (size_t i = 0; i < n && !err; i++)
        dim[i] = is_new[i] ? 1 : in->dim[from++];
    return err ? err : infer_set(c, 0, in->stored, n, dim);
}

int rule_expand(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    struct onnx_value to = { 0 };
    struct onnx_list list;
    size_t n;
    int64_t dim[ONNX_MAX_DIMS];
    int err = infer_list(c, "shape", 1, &list);

    if (err)
        return err;
    if (list.n > ONNX_MAX_DIMS)
        return infer_wrong(c, "a shape of %zu dimensions", list.n);
    to.n_dims = list.n;
    memcpy(to.dim, list.at, list.n * sizeof *to.dim);
    n = in->n_dims;
    memcpy(dim, in->dim, sizeof dim);
    if (!infer_broadcast(&n, dim, &to))
        return cannot_reshape(c, &to);
    return infer_set(c, 0, in->stored, n, dim);
}

int rule_tile(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t dim[ONNX_MAX_DIMS];
    struct onnx_list repeats, axis = { 0 };
    int err = infer_list(c, "repeats", 1, &repeats);

    if (!err && c->g->opset < 6)
        err = infer_list(c, "axis", 2, &axis);
    if (err)
        return err;
    memcpy(dim, in->dim, sizeof dim);
    if (axis.n == 1 && repeats.n == 1 && axis.at[0] >= 0 && axis.at[0] < (int64_t)in->n_dims) {
        if (__builtin_mul_overflow(dim[axis.at[0]], repeats.at[0], &dim[axis.at[0]]))
            return infer_wrong(c, "it would be too large");
        return infer_set(c, 0, in->stored, in->n_dims, dim);
    }
    if (repeats.n != in->n_dims)
        return infer_wrong(c, "repeats of %zu of %zu dimensions", repeats.n, in->n_dims);
    for (size_t i = 0; i < in->n_dims; i++) {
        if (__builtin_mul_overflow(dim[i], repeats.at[i], &dim[i]))
            return infer_wrong(c, "it would be too large");
    }
    return infer_set(c, 0, in->stored, in->n_dims, dim);
}
