/* Operators of two or more tensors, element by element, broadcast. */
#include <errno.h>
#include <math.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

enum { SLOW = OP_N_PAIRS, CHUNK = 1024 };

typedef double function(double a, double b);

struct kind {
    size_t pair; /* enum op_pair, or SLOW */
    function *slow;
    bool is_mean;
};

struct broadcast {
    struct kind kind;
    size_t elements, n_operands;
    float *exponents;      /* of Pow, if the exponents are integers */
    bool are_two;          /* two operands are joined at once */
    struct op_walk walk[]; /* of each operand; if are_two, [0] is of both operands */
};

/* ---- preparing ---- */

/*
 * Before opset 7, `broadcast` aligned the right operand's dimensions with the left operand's from `axis` on; PRelu's
 * slopes were per channel. Returns the operand in today's form.
 */
static struct onnx_value as_today(const struct op_call *call, size_t i)
{
    const struct onnx_node *node = call->ask.node;
    const struct onnx_value *left = op_in(call, 0);
    struct onnx_value v = *op_in(call, i);
    const bool is_slope = onnx_is(node, "PRelu") && v.n_dims == 1 && v.elements != 1;
    int64_t axis = is_slope ? 1 : onnx_int(node, "axis", (int64_t)left->n_dims - (int64_t)v.n_dims);

    if (i != 1 || call->ask.graph->opset >= 7)
        return v;
    if (axis < 0)
        axis += (int64_t)left->n_dims;
    while (axis >= 0 && (size_t)axis + v.n_dims < left->n_dims)
        v.dim[v.n_dims++] = 1;
    return v;
}

/* Sets the walks: a walk of each operand, or a single walk of both. */
static int set_walks(struct op_call *call, struct broadcast *b, struct exp_why *why)
{
    const bool are_two = b->are_two = b->n_operands == 2 && !b->kind.is_mean;
    const struct onnx_value *out = op_out(call, 0);

    for (size_t i = 0; i < (are_two ? 1 : b->n_operands); i++) {
        const struct onnx_value v[2] = { as_today(call, i), as_today(call, are_two ? 1 : i) };
        const struct onnx_value *of[2] = { &v[0], &v[1] };

        if (!op_walk_init(&b->walk[i], out, are_two ? 2 : 1, of))
            return op_refuse(call, why, "'%s' or '%s' cannot be broadcast to its output", v[0].name, v[1].name);
    }
    return 0;
}

static int prepare(struct op_call *call, const struct kind *kind, struct exp_why *why)
{
    const size_t n = call->ask.node->n_in;
    struct broadcast *b;
    int err = op_check_floats(call, n, why);

    if (err)
        return err;
    if (!n)
        return op_refuse(call, why, "it has no input");
    b = op_own(call, sizeof *b + n * sizeof *b->walk);
    b->kind = *kind;
    b->n_operands = n;
    b->elements = op_out(call, 0)->elements;
    return set_walks(call, b, why);
}

static int prepare_two(struct op_call *call, const struct kind *kind, struct exp_why *why)
{
    if (call->ask.node->n_in != 2)
        return op_refuse(call, why, "it has %zu inputs, not 2", call->ask.node->n_in);
    return prepare(call, kind, why);
}

/* Exponents may be integers; their floats are kept behind the walk. */
static int prepare_power(struct op_call *call, const struct kind *kind, struct exp_why *why)
{
    const struct onnx_value *exponent = op_in(call, 1);
    struct broadcast *b;

    if (call->ask.node->n_in != 2 || !exponent || exponent->type == ONNX_FLOAT)
        return prepare_two(call, kind, why);
    if (op_check_shapes(call, 2, why))
        return -ENOTSUP;
    if (op_in(call, 0)->type != ONNX_FLOAT || op_out(call, 0)->type != ONNX_FLOAT || !op_is_number(exponent->type))
        return op_refuse(call, why, "%s to the power of %s", onnx_type_name(op_in(call, 0)->type),
                         onnx_type_name(exponent->type));
    b = op_own(call, sizeof *b + sizeof *b->walk + exponent->elements * sizeof *b->exponents);
    *b = (struct broadcast){ .kind = *kind, .n_operands = 2, .elements = op_out(call, 0)->elements };
    b->exponents = (float *)&b->walk[1];
    return set_walks(call, b, why);
}

/* Returns the operands as floats: integers are converted into in[1]. */
static struct op_tensors as_floats(const struct op_call *call, const struct op_tensors *t, const void *in[2])
{
    const struct broadcast *b = call->own;
    const struct onnx_value *v = op_in(call, 1);

    if (!b->exponents)
        return *t;
    for (size_t i = 0; i < v->elements; i++)
        b->exponents[i] = (float)op_number(v->type, t->in[1], i);
    in[0] = t->in[0];
    in[1] = b->exponents;
    return (struct op_tensors){ in, t->out };
}

/* ---- two operands ---- */

struct work {
    const struct op_call *call;
    const struct broadcast *b;
    const struct op_tensors *t;
    float *out; /* where the next row goes */
};

static void do_pair(const struct kind *kind, enum op_ends ends, const float *const x[2], float *out, size_t n)
{
    if (kind->pair != SLOW) {
        op_loops()->pair[kind->pair][ends](out, x[0], x[1], n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (float)kind->slow((double)x[0][ends == OP_LEFT_IS_ONE ? 0 : i],
                                   (double)x[1][ends == OP_RIGHT_IS_ONE ? 0 : i]);
}

static void pair_row(void *ctx, const size_t *at, size_t n)
{
    struct work *w = ctx;
    const struct op_walk *walk = &w->b->walk[0];
    const size_t last = walk->n_dims - 1;
    const size_t step[2] = { n > 1 ? walk->step[0][last] : 1, n > 1 ? walk->step[1][last] : 1 };
    const float *const in[2] = { w->t->in[0], w->t->in[1] };

    for (size_t i = 0; i < n; i += CHUNK) { /* in chunks, so that the activation finds a chunk in the nearest cache */
        const size_t m = n - i < CHUNK ? n - i : CHUNK;
        const float *const x[2] = { in[0] + at[0] + i * step[0], in[1] + at[1] + i * step[1] };

        do_pair(&w->b->kind, !step[0] ? OP_LEFT_IS_ONE : !step[1] ? OP_RIGHT_IS_ONE : OP_BOTH_ARRAYS, x, w->out, m);
        op_activate(w->call, w->out, m);
        w->out += m;
    }
}

static void do_two(void *ctx, size_t from, size_t to, unsigned share)
{
    struct work w = *(const struct work *)ctx;

    (void)share;
    w.out += from;
    op_walk_run(&w.b->walk[0], from, to, pair_row, &w);
}

/* ---- any number of operands ---- */

struct gathering {
    const struct kind *kind;
    const struct op_walk *walk;
    const float *in;
    float *to; /* where the next row goes */
    bool is_first;
};

static void gather_row(void *ctx, const size_t *at, size_t n)
{
    struct gathering *g = ctx;
    const float *in = g->in + at[0];
    const bool is_one = n > 1 && !g->walk->step[0][g->walk->n_dims - 1];
    const float *const x[2] = { g->to, in };

    if (g->is_first)
        for (size_t i = 0; i < n; i++)
            g->to[i] = in[is_one ? 0 : i];
    else
        do_pair(g->kind, is_one ? OP_RIGHT_IS_ONE : OP_BOTH_ARRAYS, x, g->to, n);
    g->to += n;
}

/* Chunks are made aside: the output may lie where any of the inputs lies. */
static void do_many(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct broadcast *b = w->b;
    const float part[2] = { 1 / (float)b->n_operands, 0 };
    float chunk[CHUNK];

    (void)share;
    for (size_t i = from; i < to; i += CHUNK) {
        const size_t end = to - i < CHUNK ? to : i + CHUNK;

        for (size_t o = 0; o < b->n_operands; o++) {
            struct gathering g = { &b->kind, &b->walk[o], w->t->in[o], chunk, !o };

            op_walk_run(g.walk, i, end, gather_row, &g);
        }
        op_loops()->map[b->kind.is_mean ? OP_MAP_SCALE : OP_MAP_COPY](w->out + i, chunk, end - i, part);
        op_activate(w->call, w->out + i, end - i);
    }
}

static void run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct broadcast *b = call->own;
    const void *in[2];
    const struct op_tensors floats = as_floats(call, t, in);
    struct work w = { call, b, &floats, t->out[0] };

    op_share(call, team, b->elements, b->kind.pair == SLOW ? 128 : 4 * (b->n_operands + 1),
             b->are_two ? do_two : do_many, &w);
}

/* ---- the reference ---- */

/* Where element i of the output is in an operand, by dividing. */
static size_t place_of(const struct onnx_value *out, const struct onnx_value *v, size_t i)
{
    size_t at = 0, step = 1;

    for (size_t d = 1; d <= out->n_dims; d++) {
        const size_t n = (size_t)out->dim[out->n_dims - d], index = i % n;

        i /= n;
        if (d > v->n_dims)
            break;
        if (v->dim[v->n_dims - d] != 1)
            at += index * step;
        step *= (size_t)v->dim[v->n_dims - d];
    }
    return at;
}

static double activated(const struct op_call *call, double x)
{
    if (call->ask.activation != SCONV_NO_ACTIVATION && x < 0)
        return 0;
    return call->ask.activation == SCONV_RELU6 && x > 6 ? 6 : x;
}

static void reference(const struct op_call *call, const struct op_tensors *t)
{
    const struct broadcast *b = call->own;
    const struct onnx_value *out = op_out(call, 0);
    const void *in[2];
    const struct op_tensors floats = as_floats(call, t, in);

    for (size_t i = 0; i < b->elements; i++) {
        double value = 0;

        for (size_t o = 0; o < b->n_operands; o++) {
            const struct onnx_value v = as_today(call, o);
            const double x = (double)((const float *)floats.in[o])[place_of(out, &v, i)];

            value = o ? b->kind.slow(value, x) : x;
        }
        ((float *)t->out[0])[i] = (float)activated(call, b->kind.is_mean ? value / (double)b->n_operands : value);
    }
}

/* ---- the records ---- */

#define RECORD(name_, prepare_, pair_, is_mean_, value) RECORD_OF(name_, prepare_, pair_, is_mean_, value, NULL)
#define RECORD_OF_SUMS(name_, is_mean_) RECORD_OF(name_, prepare, OP_PAIR_ADD, is_mean_, a + b, op_magnitudes_of_sums)

#define RECORD_OF(name_, prepare_, pair_, is_mean_, value, magnitudes_)                                                \
    static double of_##name_(double a, double b)                                                                       \
    {                                                                                                                  \
        return value;                                                                                                  \
    }                                                                                                                  \
    static int prepare_##name_(struct op_call *call, struct exp_why *why)                                              \
    {                                                                                                                  \
        return prepare_(call, &(struct kind){ pair_, of_##name_, is_mean_ }, why);                                     \
    }                                                                                                                  \
    const struct op op_##name_ = { .name = #name_,                                                                     \
                                   .traits = OP_IN_PLACE | OP_ACTIVATES,                                               \
                                   .prepare = prepare_##name_,                                                         \
                                   .run = run,                                                                         \
                                   .reference = reference,                                                             \
                                   .magnitudes = magnitudes_ };

RECORD(Add, prepare_two, OP_PAIR_ADD, false, a + b)
RECORD(Sub, prepare_two, OP_PAIR_SUB, false, a - b)
RECORD(Mul, prepare_two, OP_PAIR_MUL, false, a *b)
RECORD(Div, prepare_two, OP_PAIR_DIV, false, a / b)
RECORD(Pow, prepare_power, SLOW, false, b == 2 ? a * a : pow(a, b))
RECORD(PRelu, prepare_two, OP_PAIR_PRELU, false, a < 0 ? a * b : a)
RECORD_OF_SUMS(Sum, false)
RECORD_OF_SUMS(Mean, true)
RECORD(Min, prepare, OP_PAIR_MIN, false, a < b || a != a ? a : b)
RECORD(Max, prepare, OP_PAIR_MAX, false, a > b || a != a ? a : b)
