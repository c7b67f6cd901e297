/* Concat, Split, and the views: nodes that only change a shape. */
#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

/* ---- Concat and Split: rows of pieces ---- */

struct pieces {
    size_t rows, row_bytes, n;
    size_t end[]; /* of each piece in a row of the whole tensor */
};

static int find_axis(const struct op_call *call, const struct onnx_value *whole, int64_t otherwise, size_t *axis,
                     struct exp_why *why)
{
    return op_axis(call, onnx_int(call->ask.node, "axis", otherwise), whole->n_dims, axis, why);
}

/* Checks that a piece differs from the whole in a single axis. */
static int check_piece(const struct op_call *call, const struct onnx_value *whole, const struct onnx_value *v,
                       size_t axis, struct exp_why *why)
{
    if (v->n_dims != whole->n_dims)
        return op_refuse(call, why, "'%s' has %zu dimensions, '%s' %zu", v->name, v->n_dims, whole->name,
                         whole->n_dims);
    for (size_t d = 0; d < v->n_dims; d++) {
        if (d != axis && v->dim[d] != whole->dim[d])
            return op_refuse(call, why, "dimension %zu of '%s' is %lld, of '%s' %lld", d, v->name, (long long)v->dim[d],
                             whole->name, (long long)whole->dim[d]);
    }
    return v->type == whole->type ? 0 : op_refuse(call, why, "'%s' and '%s' differ in type", v->name, whole->name);
}

typedef const struct onnx_value *get_fn(const struct op_call *call, size_t i);

/* A missing piece has no bytes. */
static int prepare_pieces(struct op_call *call, const struct onnx_value *whole, get_fn *get, size_t n,
                          struct exp_why *why)
{
    const size_t bytes = onnx_type_bytes(whole->type);
    struct pieces *p;
    size_t axis, end = 0;
    int err = find_axis(call, whole, onnx_is(call->ask.node, "Concat") ? 1 : 0, &axis, why);

    if (err)
        return err;
    p = op_own(call, sizeof *p + n * sizeof *p->end);
    p->rows = op_elements(whole, 0, axis);
    p->row_bytes = bytes * op_elements(whole, axis, whole->n_dims);
    p->n = n;
    for (size_t i = 0; !err && i < n; i++) {
        if (!get(call, i))
            return op_refuse(call, why, "a piece is left out");
        err = check_piece(call, whole, get(call, i), axis, why);
        p->end[i] = end += bytes * op_elements(get(call, i), axis, whole->n_dims);
    }
    if (!err && p->rows && end != p->row_bytes)
        err = op_refuse(call, why, "the pieces are %zu bytes of %zu in a row", end, p->row_bytes);
    return err;
}

static int prepare_joins(struct op_call *call, struct exp_why *why)
{
    const struct onnx_node *n = call->ask.node;
    int err = op_check_moved(call, 1, why);

    if (err)
        return err;
    return onnx_is(n, "Concat") ? prepare_pieces(call, op_out(call, 0), op_in, n->n_in, why)
                                : prepare_pieces(call, op_in(call, 0), op_out, n->n_out, why);
}

struct work {
    const struct pieces *p;
    const struct op_tensors *t;
    bool joins;
};

/* Copies bytes from..to - 1 of a row, a part of piece i. */
static void copy_piece(const struct work *w, size_t row, size_t i, size_t from, size_t to)
{
    const size_t begin = i ? w->p->end[i - 1] : 0, at = row * (w->p->end[i] - begin) + from - begin;
    const size_t whole = row * w->p->row_bytes + from;

    if (w->joins)
        op_copy((char *)w->t->out[0] + whole, (const char *)w->t->in[i] + at, to - from);
    else if (w->t->out[i])
        op_copy((char *)w->t->out[i] + at, (const char *)w->t->in[0] + whole, to - from);
}

enum { UNIT = 4096 }; /* bytes of a unit of work */

static void copy_pieces(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const size_t all = w->p->rows * w->p->row_bytes, last = to * UNIT < all ? to * UNIT : all;
    size_t row = from * UNIT / w->p->row_bytes, at = from * UNIT % w->p->row_bytes, i = 0;

    (void)share;
    for (size_t done = from * UNIT; done < last;) {
        size_t end;

        while (w->p->end[i] <= at)
            i++;
        end = w->p->end[i] - at < last - done ? w->p->end[i] : at + last - done;
        copy_piece(w, row, i, at, end);
        done += end - at;
        at = end;
        if (at == w->p->row_bytes)
            row++, at = i = 0;
    }
}

static void run_pieces(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct pieces *p = call->own;
    struct work w = { p, t, onnx_is(call->ask.node, "Concat") };

    if (p->rows && p->row_bytes)
        op_share(call, team, (p->rows * p->row_bytes + UNIT - 1) / UNIT, UNIT, copy_pieces, &w);
}

static void reference_pieces(const struct op_call *call, const struct op_tensors *t)
{
    const struct pieces *p = call->own;
    const struct work w = { p, t, onnx_is(call->ask.node, "Concat") };

    for (size_t row = 0; row < p->rows; row++) {
        for (size_t i = 0; i < p->n; i++) {
            for (size_t at = i ? p->end[i - 1] : 0; at < p->end[i]; at++)
                copy_piece(&w, row, i, at, at + 1);
        }
    }
}

#define JOIN(name_)                                                                                                    \
    const struct op op_##name_ = {                                                                                     \
        .name = #name_, .prepare = prepare_joins, .run = run_pieces, .reference = reference_pieces                     \
    };

JOIN(Concat)
JOIN(Split)

/* ---- views ---- */

static int prepare_view(struct op_call *call, struct exp_why *why)
{
    int err = op_check_moved(call, 1, why);

    if (!err && op_in(call, 0)->elements != op_out(call, 0)->elements)
        err = op_refuse(call, why, "%zu elements become %zu", op_in(call, 0)->elements, op_out(call, 0)->elements);
    return err;
}

/* In inference nothing is dropped; a mask is full of ones. */
static int prepare_dropout(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *trains = op_in(call, 2);
    int err = prepare_view(call, why);

    if (!err && trains && (!trains->data || onnx_element_int(trains, 0)))
        err = op_refuse(call, why, "it is for training");
    if (!err && op_out(call, 1) && op_out(call, 1)->elements != op_in(call, 0)->elements)
        err = op_refuse(call, why, "a mask of %zu elements", op_out(call, 1)->elements);
    return err;
}

static void reference_view(const struct op_call *call, const struct op_tensors *t)
{
    const struct onnx_value *in = op_in(call, 0);

    if (in->elements && t->out[0] != t->in[0])
        op_copy(t->out[0], t->in[0], in->elements * onnx_type_bytes(in->type));
}

static void reference_dropout(const struct op_call *call, const struct op_tensors *t)
{
    const struct onnx_value *mask = op_out(call, 1);

    reference_view(call, t);
    if (!mask || !t->out[1])
        return;
    for (size_t i = 0; i < mask->elements; i++) {
        if (mask->type == ONNX_FLOAT)
            ((float *)t->out[1])[i] = 1;
        else
            ((unsigned char *)t->out[1])[i] = 1;
    }
}

#define VIEW(name_, prepare_, what)                                                                                    \
    const struct op op_##name_ = {                                                                                     \
        .name = #name_, .traits = OP_IS_VIEW, .prepare = prepare_, .reference = reference_##what                       \
    };

VIEW(Identity, prepare_view, view)
VIEW(Reshape, prepare_view, view)
VIEW(Flatten, prepare_view, view)
VIEW(Squeeze, prepare_view, view)
VIEW(Unsqueeze, prepare_view, view)
VIEW(Dropout, prepare_dropout, dropout)
