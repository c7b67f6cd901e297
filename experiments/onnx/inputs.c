/* Types and shapes in the file, and the open sizes of inputs, which BATCH and INPUT set. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/onnx/reading.h"
#include "sim/machine/machine_words.h"

/* ---- types in the file ---- */

static const Onnx__TypeProto__Tensor *tensor_type(const Onnx__ValueInfoProto *info)
{
    return info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ? info->type->tensor_type : NULL;
}

static void set_type(struct onnx_value *v, int32_t type)
{
    v->stored = type > 0 && type < ONNX_N_TYPES ? (enum onnx_type)type : ONNX_UNKNOWN_TYPE;
    v->type = onnx_run_type(v->stored);
}

void onnx_take_stated(struct onnx_value *v, const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    struct onnx_value stated = { 0 };

    if (v->has_shape || !t || !t->shape || t->shape->n_dim > ONNX_MAX_DIMS)
        return;
    stated.n_dims = t->shape->n_dim;
    for (size_t i = 0; i < stated.n_dims; i++) {
        const Onnx__TensorShapeProto__Dimension *d = t->shape->dim[i];

        if (d->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
            return;
        stated.dim[i] = d->dim_value;
    }
    if (onnx_count_elements(&stated))
        return;
    set_type(v, t->elem_type);
    v->has_shape = true;
    v->n_dims = stated.n_dims;
    v->elements = stated.elements;
    memcpy(v->dim, stated.dim, sizeof v->dim);
}

/* ---- requested sizes of inputs ---- */

/*
 * Finds an input's part of INPUT: the dimensions behind "name=", or the dimensions without a name for the first input;
 * NULL: none.
 */
static const char *find_ask(const struct onnx_ask *ask, const char *name, bool is_first)
{
    const char *at = ask->input ? ask->input : "";
    const size_t n = strlen(name);

    for (; *at; at += strcspn(at, ",")) {
        const size_t length = strcspn(at += *at == ',', ","), equals = strcspn(at, "=");

        if (equals < length && equals == n && !strncmp(at, name, n))
            return at + equals + 1;
        if (equals >= length && length && is_first)
            return at;
    }
    return NULL;
}

/* Reads dimensions such as 3x224x224. Returns their number; 0: none. */
static size_t read_dims(const char *text, int64_t *dim)
{
    for (size_t n = 0; n < ONNX_MAX_DIMS; text++) {
        char *end;
        long long value;

        errno = 0;
        value = strtoll(text, &end, 10);
        if (*text < '0' || *text > '9' || errno || value < 1)
            return 0;
        dim[n++] = value;
        text = end;
        if (!*text || *text == ',')
            return n;
        if (*text != 'x')
            return 0;
    }
    return 0;
}

/* Values of named dimensions; at most MOST_SYMBOLS. */
enum { MOST_SYMBOLS = 256 };

struct symbols {
    const char *name[MOST_SYMBOLS];
    int64_t value[MOST_SYMBOLS];
    size_t n;
};

static const int64_t *find_symbol(const struct symbols *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++) {
        if (*name && !strcmp(s->name[i], name))
            return &s->value[i];
    }
    return NULL;
}

enum { OPEN = -1 };

/* Takes an input's type and dimensions from the file; open dimensions become OPEN. */
static int take_input(struct onnx_value *v, const Onnx__TypeProto__Tensor *t, const char *path, struct exp_why *why)
{
    const size_t n = t->shape ? t->shape->n_dim : 0;

    set_type(v, t->elem_type);
    if (n > ONNX_MAX_DIMS)
        return exp_fail(why, -EINVAL, "%s: input '%.60s': %zu dimensions, and at most %d are read", path, v->name, n,
                        ONNX_MAX_DIMS);
    v->has_shape = t->shape;
    v->n_dims = n;
    for (size_t i = 0; i < n; i++) {
        const Onnx__TensorShapeProto__Dimension *d = t->shape->dim[i];

        v->dim[i] = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && d->dim_value >= 0
                        ? d->dim_value
                        : OPEN;
    }
    return 0;
}

static int set_asked(struct onnx_value *v, const char *asked, const char *path, struct exp_why *why)
{
    int64_t dim[ONNX_MAX_DIMS];
    const size_t n = read_dims(asked, dim);

    if (n && n < ONNX_MAX_DIMS && !v->has_shape) {
        v->has_shape = true;
        v->n_dims = n + 1;
        v->dim[0] = OPEN;
    }
    if (!n || n > v->n_dims || n + 1 < v->n_dims)
        return exp_fail(
            why, -EINVAL,
            "%s: INPUT: '%.*s' is no size of input '%.60s', which has %zu dimensions: say as 3x224x224 those "
            "behind the batch, or all",
            path, (int)strcspn(asked, ","), asked, v->name, v->n_dims);
    memcpy(v->dim + (v->n_dims - n), dim, n * sizeof *dim);
    return 0;
}

/* Gives an open dimension a size: the size of its name, else 1 if the dimension is the batch. */
static int close_dim(struct onnx_value *v, size_t i, const char *symbol, struct symbols *s, const char *path,
                     struct exp_why *why)
{
    const int64_t *known = find_symbol(s, symbol);

    if (v->dim[i] == OPEN && known)
        v->dim[i] = *known;
    if (v->dim[i] == OPEN && !i && v->n_dims > 1)
        v->dim[i] = 1;
    if (v->dim[i] == OPEN)
        return exp_fail(
            why, -EINVAL,
            "%s: input '%.60s': its dimension %zu of %zu%s%.40s is open: say it by INPUT, such as 3x224x224 (those "
            "behind the batch)",
            path, v->name, i + 1, v->n_dims, *symbol ? ", " : "", symbol);
    if (*symbol && !known && s->n < MOST_SYMBOLS) {
        s->name[s->n] = symbol;
        s->value[s->n++] = v->dim[i];
    }
    return 0;
}

static int close_dims(struct onnx_value *v, const Onnx__TensorShapeProto *shape, struct symbols *s, const char *path,
                      struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; i < v->n_dims && !err; i++) {
        const Onnx__TensorShapeProto__Dimension *d = shape ? shape->dim[i] : NULL;
        const bool is_named = d && d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;

        err = close_dim(v, i, is_named ? onnx_text_or_empty(d->dim_param) : "", s, path, why);
    }
    if (err || !v->has_shape)
        return err;
    err = onnx_count_elements(v);
    return err ? exp_fail(why, err, "%s: input '%.60s' is too large", path, v->name) : 0;
}

/*
 * Replaces the batch of an input. The file's batch of the first input is kept, because reshapes may repeat the batch.
 */
static void set_batch(struct onnx_reading *r, struct onnx_value *v, const struct onnx_ask *ask, bool is_first)
{
    if (!ask->batch || v->n_dims < 2)
        return;
    if (is_first && v->dim[0] > 0 && v->dim[0] != (int64_t)ask->batch) {
        r->fixed_batch = v->dim[0];
        r->batch = (int64_t)ask->batch;
    }
    v->dim[0] = (int64_t)ask->batch;
}

static int set_input(struct onnx_reading *r, struct onnx_value *v, const Onnx__ValueInfoProto *info,
                     const struct onnx_ask *ask, struct symbols *s, struct exp_why *why)
{
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    const bool is_first = r->graph.n_inputs == 1;
    const char *asked = find_ask(ask, v->name, is_first), *path = r->graph.path;
    int err;

    v->is_input = true;
    if (!t)
        return 0; /* the readers of the value report the missing shape */
    err = take_input(v, t, path, why);
    if (!err && asked)
        err = set_asked(v, asked, path, why);
    if (err)
        return err;
    if (ask->batch > INT32_MAX)
        return exp_fail(why, -EINVAL, "%s: BATCH: %zu is too large", path, ask->batch);
    set_batch(r, v, ask, is_first);
    return close_dims(v, t->shape, s, path, why);
}

/* ---- checks of INPUT before it is used ---- */

/* Inputs of the file without an initializer. */
struct open_inputs {
    const Onnx__ValueInfoProto **info;
    const char **name;
    size_t n;
};

static struct open_inputs find_inputs(const struct onnx_reading *r, const struct onnx_names *constants)
{
    const Onnx__GraphProto *proto = r->model->graph;
    struct open_inputs of = { exp_new(proto->n_input, sizeof *of.info), exp_new(proto->n_input, sizeof *of.name), 0 };

    for (size_t i = 0; i < proto->n_input; i++) {
        const char *name = onnx_text_or_empty(proto->input[i]->name);

        if (onnx_find_value(constants, name) != ONNX_NONE)
            continue;
        of.info[of.n] = proto->input[i];
        of.name[of.n++] = name;
    }
    return of;
}

enum { SHOWN_INPUTS = 8 };

/* Appends " x (1x3xHxW)". */
static void say_input(char *text, size_t bytes, const char *name, const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    const Onnx__TensorShapeProto *shape = t ? t->shape : NULL;

    exp_say_more(text, bytes, " %.40s (", name);
    for (size_t i = 0; shape && i < shape->n_dim && i < ONNX_MAX_DIMS; i++) {
        const Onnx__TensorShapeProto__Dimension *d = shape->dim[i];
        const bool is_named = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;

        exp_say_more(text, bytes, "%s", i ? "x" : "");
        if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && d->dim_value >= 0)
            exp_say_more(text, bytes, "%lld", (long long)d->dim_value);
        else
            exp_say_more(text, bytes, "%.20s", is_named && *onnx_text_or_empty(d->dim_param) ? d->dim_param : "?");
    }
    exp_say_more(text, bytes, "%s)", !t ? "no tensor" : !shape ? "of no shape" : shape->n_dim ? "" : "a scalar");
}

/* Returns the input whose name a slip may have made "name=" of. NULL: none. */
static const char *guess(const struct open_inputs *of, const char *at)
{
    char *word = exp_format("%.*s", (int)strcspn(at, "="), at);
    const char *found = of->n <= SHOWN_INPUTS ? sim_nearest_word(word, of->name, of->n) : NULL;

    free(word);
    return found;
}

/* Refuses a part of INPUT, and lists the inputs. `meant` is a guess, or NULL. */
static int refuse_ask(const struct onnx_reading *r, const struct open_inputs *of, const char *at, const char *reason,
                      const char *meant, struct exp_why *why)
{
    char list[512] = "";

    for (size_t i = 0; i < of->n && i < SHOWN_INPUTS; i++) {
        exp_say_more(list, sizeof list, "%s", i ? "," : "");
        say_input(list, sizeof list, of->name[i], of->info[i]);
    }
    if (of->n > SHOWN_INPUTS)
        exp_say_more(list, sizeof list, " and %zu more", of->n - SHOWN_INPUTS);
    return exp_fail(why, -EINVAL, "%s: INPUT: '%.*s' %s%s%.40s%s%s%s", r->graph.path, (int)strcspn(at, ","), at, reason,
                    meant ? ": did you mean " : "", meant ? meant : "", meant ? "?" : "",
                    of->n ? "; its inputs are" : ": it has none", list);
}

/*
 * Returns the input meant by a part of INPUT: the input with the stated name, or the first input. ONNX_NONE: no input
 * has the name.
 */
static size_t asked_input(const struct open_inputs *of, const char *at)
{
    const size_t length = strcspn(at, ","), equals = strcspn(at, "=");

    for (size_t i = 0; i < of->n && equals < length; i++) {
        if (strlen(of->name[i]) == equals && !strncmp(at, of->name[i], equals))
            return i;
    }
    return equals >= length && length && of->n ? 0 : ONNX_NONE;
}

/* Checks that each part of INPUT means an input, and that the inputs of the parts differ. */
static int check_asked(const struct onnx_reading *r, const struct onnx_names *constants, const struct onnx_ask *ask,
                       struct exp_why *why)
{
    const struct open_inputs of = find_inputs(r, constants);
    const char *at = onnx_text_or_empty(ask->input);
    bool *seen = exp_new(of.n, sizeof *seen);
    int err = 0;

    for (; *at && !err; at += strcspn(at, ",")) {
        const size_t i = asked_input(&of, at += *at == ',');

        if (i == ONNX_NONE)
            err = refuse_ask(r, &of, at, "is no size of an input of this network", guess(&of, at), why);
        else if (seen[i])
            err = refuse_ask(r, &of, at, "is a second size of one input", NULL, why);
        else
            seen[i] = true;
    }
    free(seen);
    free(of.info);
    free(of.name);
    return err;
}

int onnx_add_inputs(struct onnx_reading *r, const struct onnx_names *constants, const struct onnx_ask *ask,
                    struct exp_why *why)
{
    const Onnx__GraphProto *proto = r->model->graph;
    struct onnx_graph *g = &r->graph;
    size_t *input = onnx_own(r, proto->n_input, sizeof *input);
    struct symbols s = { .n = 0 };
    int err = check_asked(r, constants, ask, why);

    g->input = input;
    for (size_t i = 0; i < proto->n_input && !err; i++) {
        const char *name = onnx_text_or_empty(proto->input[i]->name);

        if (onnx_find_value(constants, name) != ONNX_NONE)
            continue;
        input[g->n_inputs++] = g->n_values;
        err = set_input(r, onnx_add_value(g, name), proto->input[i], ask, &s, why);
    }
    return err;
}
