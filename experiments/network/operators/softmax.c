/* Softmax, LogSoftmax: along an axis; before opset 13 along the flattened axes from `axis` on. */
#include <math.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

enum kind { SOFT, LOG };

struct soft {
    enum kind kind;
    size_t outer, n, inner; /* rows; numbers in a row; elements from a number to the next */
};

enum { STRIP = 64 }; /* neighbouring rows at once, if inner > 1 */

static int prepare(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    const bool is_flat = call->ask.graph->opset < 13;
    struct soft *s;
    size_t axis = 0;
    int err = op_check_floats(call, 1, why);

    if (!err)
        err = op_check_out(call, 0, in->n_dims, in->dim, why);
    if (!err && (in->n_dims || !is_flat))
        err = op_axis(call,
                      onnx_int(call->ask.node, "axis",
                               is_flat && in->n_dims > 1 ? 1
                               : is_flat                 ? 0
                                                         : -1),
                      in->n_dims, &axis, why);
    if (err)
        return err;
    s = op_own(call, sizeof *s);
    s->kind = onnx_is(call->ask.node, "Softmax") ? SOFT : LOG;
    s->outer = op_elements(in, 0, axis);
    s->n = is_flat ? op_elements(in, axis, in->n_dims) : (size_t)in->dim[axis];
    s->inner = is_flat ? 1 : op_elements(in, axis + 1, in->n_dims);
    return 0;
}

/* ---- plain loops ---- */

/* Returns the index of the first largest number; of the first NaN, if there is a NaN. */
static size_t largest(const float *in, size_t n, size_t step)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++) {
        if (in[i * step] > in[best * step] || (in[i * step] != in[i * step] && in[best * step] == in[best * step]))
            best = i;
    }
    return best;
}

static void one_row(const struct soft *s, float *out, const float *in)
{
    const double most = (double)in[largest(in, s->n, s->inner) * s->inner];
    double sum = 0;

    for (size_t i = 0; i < s->n; i++)
        sum += exp((double)in[i * s->inner] - most);
    for (size_t i = 0; i < s->n; i++) {
        const double x = (double)in[i * s->inner] - most;

        out[i * s->inner] = (float)(s->kind == SOFT ? exp(x) / sum : x - log(sum));
    }
}

static void reference(const struct op_call *call, const struct op_tensors *t)
{
    const struct soft *s = call->own;

    for (size_t i = 0; i < s->outer * s->inner && s->n; i++) {
        const size_t at = i / s->inner * s->n * s->inner + i % s->inner;

        one_row(s, (float *)t->out[0] + at, (const float *)t->in[0] + at);
    }
}

/* ---- vectors ---- */

struct work {
    const struct soft *s;
    const struct op_tensors *t;
};

static void dense_row(const struct soft *s, float *out, const float *in)
{
    const struct op_loops *l = op_loops();
    const float most = l->fold[OP_FOLD_MAX](in, s->n), sum = l->exp_sum(out, in, s->n, most);
    const float by[2] = { s->kind == SOFT ? 1 / sum : 1, s->kind == SOFT ? 0 : -logf(sum) };

    if (s->kind == LOG)
        l->map[OP_MAP_SCALE](out, in, s->n, (const float[]){ 1, -most });
    l->map[OP_MAP_SCALE](out, out, s->n, by);
}

static void dense_rows(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;

    (void)share;
    for (size_t i = from; i < to; i++)
        dense_row(w->s, (float *)w->t->out[0] + i * w->s->n, (const float *)w->t->in[0] + i * w->s->n);
}

/* Does width <= STRIP neighbouring rows, whose elements are `inner` apart. */
static void strip(const struct soft *s, float *out, const float *in, size_t width)
{
    const struct op_loops *l = op_loops();
    float most[STRIP], sum[STRIP], part[STRIP];

    l->map[OP_MAP_COPY](most, in, width, NULL);
    for (size_t i = 1; i < s->n; i++)
        l->fold_rows[OP_FOLD_MAX](most, in + i * s->inner, width);
    for (size_t i = 0; i < s->n; i++) {
        float *to = s->kind == SOFT ? out + i * s->inner : part;

        l->pair[OP_PAIR_SUB][OP_BOTH_ARRAYS](to, in + i * s->inner, most, width);
        l->exp_sum(to, to, width, 0);
        if (i)
            l->fold_rows[OP_FOLD_SUM](sum, to, width);
        else
            l->map[OP_MAP_COPY](sum, to, width, NULL);
    }
    for (size_t i = 0; s->kind == LOG && i < width; i++)
        sum[i] = logf(sum[i]);
    for (size_t i = 0; i < s->n; i++) {
        float *to = out + i * s->inner;

        if (s->kind == LOG) {
            l->pair[OP_PAIR_SUB][OP_BOTH_ARRAYS](to, in + i * s->inner, most, width);
            l->pair[OP_PAIR_SUB][OP_BOTH_ARRAYS](to, to, sum, width);
        } else {
            l->pair[OP_PAIR_DIV][OP_BOTH_ARRAYS](to, to, sum, width);
        }
    }
}

static void strips(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct soft *s = w->s;
    const size_t each = (s->inner + STRIP - 1) / STRIP;

    (void)share;
    for (size_t i = from; i < to; i++) {
        const size_t first = i % each * STRIP, at = i / each * s->n * s->inner + first;
        const size_t left = s->inner - first;

        strip(s, (float *)w->t->out[0] + at, (const float *)w->t->in[0] + at, left < STRIP ? left : STRIP);
    }
}

static void run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct soft *s = call->own;
    struct work w = { s, t };

    if (s->n && s->inner == 1)
        op_share(call, team, s->outer, 16 * s->n, dense_rows, &w);
    else if (s->n)
        op_share(call, team, s->outer * ((s->inner + STRIP - 1) / STRIP), 16 * s->n * STRIP, strips, &w);
}

#define RECORD(name_)                                                                                                  \
    const struct op op_##name_ = { .name = #name_, .prepare = prepare, .run = run, .reference = reference };

RECORD(Softmax)
RECORD(LogSoftmax)
