/* What rules are made of: what rules say, set and read. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/onnx/infer.h"

int infer_wrong(const struct infer *c, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = exp_format_list(format, args);
    va_end(args);
    exp_fail(c->why, -EINVAL, "%s: node '%.60s' (%.40s): %s", c->g->path, c->n->name, c->n->op, text);
    free(text);
    return -EINVAL;
}

static void say_reason(const struct infer *c, const char *format, va_list args)
{
    char *text = exp_format_list(format, args);
    struct exp_why line;

    exp_say(line.text, sizeof line.text, "%s", text);
    free(text);
    c->n->why_no_shape = onnx_own_text(c->r, "%s", line.text);
}

int infer_unknown(const struct infer *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_reason(c, format, args);
    va_end(args);
    return INFER_NO_SHAPE;
}

int infer_unread(const struct infer *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_reason(c, format, args);
    va_end(args);
    c->n->why_unread = c->n->why_no_shape;
    return INFER_NO_SHAPE;
}

int infer_set(const struct infer *c, size_t out, enum onnx_type stored, size_t n_dims, const int64_t *dim)
{
    struct onnx_value *v = infer_out(c, out);
    char shape[200];

    if (!v)
        return 0;
    if (n_dims > ONNX_MAX_DIMS)
        return infer_wrong(c, "%zu dimensions, and at most %d are read", n_dims, ONNX_MAX_DIMS);
    v->n_dims = n_dims;
    for (size_t i = 0; i < n_dims; i++)
        v->dim[i] = dim[i];
    v->stored = stored;
    v->type = onnx_run_type(stored);
    if (onnx_count_elements(v)) {
        onnx_say_shape(shape, sizeof shape, v);
        return infer_wrong(c, "its output would be %s", shape);
    }
    v->has_shape = true;
    return 0;
}

int infer_like(const struct infer *c, size_t out, const struct onnx_value *v)
{
    return infer_set(c, out, v->stored, v->n_dims, v->dim);
}

int infer_axis(const struct infer *c, int64_t axis, size_t n, size_t *at)
{
    const int64_t end = (int64_t)n;

    if (axis < -end || axis >= end)
        return infer_wrong(c, "axis %lld of %zu dimensions", (long long)axis, n);
    *at = (size_t)(axis < 0 ? axis + end : axis);
    return 0;
}

int infer_axes(const struct infer *c, const struct onnx_list *list, size_t n, bool *which)
{
    int err = 0;

    memset(which, 0, n * sizeof *which);
    for (size_t i = 0; i < list->n && !err; i++) {
        size_t at = 0;

        err = infer_axis(c, list->at[i], n, &at);
        if (!err && which[at])
            err = infer_wrong(c, "axis %zu stands twice", at);
        if (!err)
            which[at] = true;
    }
    return err;
}

int infer_list(const struct infer *c, const char *name, size_t in, struct onnx_list *list)
{
    if (!onnx_list(c->g, c->n, name, in, list))
        return 0;
    return infer_unknown(c, "its '%s' depends on data, or has more than %d numbers", name, ONNX_MAX_LIST);
}

bool infer_broadcast(size_t *n, int64_t *to, const struct onnx_value *b)
{
    const size_t more = b->n_dims > *n ? b->n_dims - *n : 0;

    memmove(to + more, to, *n * sizeof *to);
    for (size_t i = 0; i < more; i++)
        to[i] = 1;
    *n += more;
    for (size_t i = 0; i < b->n_dims; i++) {
        int64_t *d = &to[*n - b->n_dims + i];

        if (*d != b->dim[i] && *d != 1 && b->dim[i] != 1)
            return false;
        *d = *d == 1 ? b->dim[i] : *d;
    }
    return true;
}

int infer_tensor(const struct infer *c, const char *name, struct onnx_value *v)
{
    struct exp_why what;

    *v = (struct onnx_value){ .producer = ONNX_NONE };
    for (size_t i = 0; i < c->proto->n_attribute; i++) {
        const Onnx__AttributeProto *a = c->proto->attribute[i];

        if (strcmp(onnx_text_or_empty(a->name), name) || !a->t)
            continue;
        exp_say(what.text, sizeof what.text, "%s: node '%.60s' (%.40s): its %s", c->g->path, c->n->name, c->n->op,
                name);
        return onnx_read_tensor(c->r, a->t, what.text, v, c->why);
    }
    return INFER_NO_SHAPE;
}
