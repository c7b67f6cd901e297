/* Reductions along axes. */
#include <math.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

enum finish { AS_IS, MEAN, ROOT };

struct kind {
    enum op_fold fold;
    enum finish finish;
};

/* Reduced axes and kept axes; adjacent axes of a sort are merged. */
struct reduction {
    struct kind kind;
    size_t n_in, n_out, n_each; /* elements, and input elements per output element */
    bool last_is_kept;
    size_t n_last;                                                /* elements of the last axis */
    size_t n_kept, kept[ONNX_MAX_DIMS], kept_step[ONNX_MAX_DIMS]; /* the axes before the last, and steps in the input */
    size_t n_gone, gone[ONNX_MAX_DIMS], gone_step[ONNX_MAX_DIMS];
};

/* ---- preparing ---- */

static int read_axes(const struct op_call *call, bool is_gone[ONNX_MAX_DIMS], struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    struct onnx_list axes;
    int err = 0;

    if (onnx_list(call->ask.graph, call->ask.node, "axes", 1, &axes))
        return op_refuse(call, why, "axes are not known before the run");
    for (size_t d = 0; d < in->n_dims; d++)
        is_gone[d] = !axes.n && !onnx_int(call->ask.node, "noop_with_empty_axes", 0);
    for (size_t i = 0; !err && i < axes.n; i++) {
        size_t d = 0;

        err = op_axis(call, axes.at[i], in->n_dims, &d, why);
        if (!err)
            is_gone[d] = true;
    }
    return err;
}

static int check_kept(const struct op_call *call, const bool is_gone[ONNX_MAX_DIMS], struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    const bool keeps = onnx_int(call->ask.node, "keepdims", 1);
    int64_t dim[ONNX_MAX_DIMS];
    size_t n = 0;

    for (size_t d = 0; d < in->n_dims; d++) {
        if (keeps || !is_gone[d])
            dim[n++] = is_gone[d] ? 1 : in->dim[d];
    }
    return op_check_out(call, 0, n, dim, why);
}

/* Merges axes, from the last. */
static void set_reduction(struct reduction *r, const struct onnx_value *in, const bool is_gone[ONNX_MAX_DIMS])
{
    size_t step = 1, d = in->n_dims;

    r->last_is_kept = d && !is_gone[d - 1];
    r->n_last = 1;
    for (; d && is_gone[d - 1] != r->last_is_kept; d--)
        r->n_last *= (size_t)in->dim[d - 1];
    step = r->n_last;
    for (; d; d--) {
        const size_t n = (size_t)in->dim[d - 1], i = is_gone[d - 1] ? r->n_gone++ : r->n_kept++;

        (is_gone[d - 1] ? r->gone : r->kept)[i] = n;
        (is_gone[d - 1] ? r->gone_step : r->kept_step)[i] = step;
        step *= n;
    }
}

static int prepare(struct op_call *call, const struct kind *kind, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    bool is_gone[ONNX_MAX_DIMS] = { false };
    struct reduction *r;
    int err = op_check_shapes(call, 1, why);

    if (!err && (in->type != ONNX_FLOAT || op_out(call, 0)->type != ONNX_FLOAT))
        err = op_refuse(call, why, "elements of type %s", onnx_type_name(in->type));
    if (!err)
        err = read_axes(call, is_gone, why);
    if (!err)
        err = check_kept(call, is_gone, why);
    if (err)
        return err;
    r = op_own(call, sizeof *r);
    r->kind = *kind;
    r->n_in = in->elements;
    r->n_out = op_out(call, 0)->elements;
    set_reduction(r, in, is_gone);
    r->n_each = r->last_is_kept ? 1 : r->n_last;
    for (size_t i = 0; i < r->n_gone; i++)
        r->n_each *= r->gone[i];
    return 0;
}

/* ---- plain loops ---- */

/* Returns the offset of index i of some axes; axis 0 is the innermost. */
static size_t place_of(size_t i, size_t n, const size_t *dim, const size_t *step)
{
    size_t at = 0;

    for (size_t d = 0; d < n; i /= dim[d++])
        at += i % dim[d] * step[d];
    return at;
}

/* The input offset of output element o, and of the i-th number from there. */
static size_t first_of(const struct reduction *r, size_t o)
{
    if (!r->last_is_kept)
        return place_of(o, r->n_kept, r->kept, r->kept_step);
    return place_of(o / r->n_last, r->n_kept, r->kept, r->kept_step) + o % r->n_last;
}

static size_t number_of(const struct reduction *r, size_t i)
{
    if (r->last_is_kept)
        return place_of(i, r->n_gone, r->gone, r->gone_step);
    return place_of(i / r->n_last, r->n_gone, r->gone, r->gone_step) + i % r->n_last;
}

static double joined(enum op_fold fold, double a, double x)
{
    switch (fold) {
    case OP_FOLD_SUM:
        return a + x;
    case OP_FOLD_SQUARE:
        return a + x * x;
    case OP_FOLD_MIN:
        return x < a || x != x ? x : a;
    default:
        return x > a || x != x ? x : a;
    }
}

static double neutral(enum op_fold fold)
{
    return fold == OP_FOLD_MIN ? HUGE_VAL : fold == OP_FOLD_MAX ? -HUGE_VAL : 0;
}

static double finished(const struct reduction *r, double value)
{
    return r->kind.finish == MEAN ? value / (double)r->n_each : r->kind.finish == ROOT ? sqrt(value) : value;
}

static void reduce_plainly(const struct reduction *r, const float *in, float *out, size_t o)
{
    const float *first = in + first_of(r, o);
    double value = neutral(r->kind.fold);

    for (size_t i = 0; i < r->n_each; i++)
        value = joined(r->kind.fold, value, (double)first[number_of(r, i)]);
    out[o] = (float)finished(r, value);
}

static void reference(const struct op_call *call, const struct op_tensors *t)
{
    const struct reduction *r = call->own;

    for (size_t o = 0; o < r->n_out; o++)
        reduce_plainly(r, t->in[0], t->out[0], o);
}

static void magnitudes(const struct op_call *call, const struct op_tensors *t)
{
    if (((const struct reduction *)call->own)->kind.fold == OP_FOLD_SUM)
        op_magnitudes_of_sums(call, t);
}

/* ---- vectors ---- */

struct work {
    const struct reduction *r;
    const float *in;
    float *out;
};

/* Returns how two folded parts are joined: parts of sums of squares are sums. */
static enum op_fold again(enum op_fold fold)
{
    return fold == OP_FOLD_SQUARE ? OP_FOLD_SUM : fold;
}

/* Output elements whose last axis is reduced: runs of neighbours, folded. */
static void fold_runs(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct reduction *r = w->r;
    const struct op_loops *l = op_loops();

    (void)share;
    for (size_t o = from; o < to; o++) {
        const float *first = w->in + first_of(r, o);
        double all = neutral(r->kind.fold);

        for (size_t i = 0; i < r->n_each / r->n_last; i++)
            all = joined(again(r->kind.fold), all,
                         (double)l->fold[r->kind.fold](first + number_of(r, i * r->n_last), r->n_last));
        w->out[o] = (float)finished(r, all);
        op_note(&w->out[o], 1, 1, SIM_STORE);
    }
}

/* Folds output rows: adds input rows element by element. */
static void fold_rows(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct reduction *r = w->r;

    (void)share;
    for (size_t row = from; row < to; row++) {
        const float *first = w->in + first_of(r, row * r->n_last);
        float *out = w->out + row * r->n_last;

        for (size_t i = 0; i < r->n_last; i++)
            out[i] = (float)neutral(r->kind.fold);
        op_note(out, r->n_last, 1, SIM_STORE);
        for (size_t i = 0; i < r->n_each; i++)
            op_loops()->fold_rows[r->kind.fold](out, first + number_of(r, i), r->n_last);
        for (size_t i = 0; r->kind.finish != AS_IS && i < r->n_last; i++)
            out[i] = (float)finished(r, (double)out[i]);
    }
}

static void plainly(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;

    (void)share;
    for (size_t o = from; o < to; o++)
        reduce_plainly(w->r, w->in, w->out, o);
}

static void run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct reduction *r = call->own;
    struct work w = { r, t->in[0], t->out[0] };

    if (!r->n_in)
        op_share(call, team, r->n_out, 64 * r->n_each, plainly, &w);
    else if (r->last_is_kept)
        op_share(call, team, r->n_out / r->n_last, 4 * r->n_each * r->n_last, fold_rows, &w);
    else
        op_share(call, team, r->n_out, 4 * r->n_each, fold_runs, &w);
}

#define RECORD(name_, fold_, finish_)                                                                                  \
    static int prepare_##name_(struct op_call *call, struct exp_why *why)                                              \
    {                                                                                                                  \
        return prepare(call, &(struct kind){ fold_, finish_ }, why);                                                   \
    }                                                                                                                  \
    const struct op op_##name_ = {                                                                                     \
        .name = #name_, .prepare = prepare_##name_, .run = run, .reference = reference, .magnitudes = magnitudes       \
    };

RECORD(ReduceSum, OP_FOLD_SUM, AS_IS)
RECORD(ReduceMean, OP_FOLD_SUM, MEAN)
RECORD(ReduceMax, OP_FOLD_MAX, AS_IS)
RECORD(ReduceMin, OP_FOLD_MIN, AS_IS)
RECORD(ReduceL2, OP_FOLD_SQUARE, ROOT)
RECORD(ReduceSumSquare, OP_FOLD_SQUARE, AS_IS)
