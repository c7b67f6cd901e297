/*
 * Operators of a tensor, element by element: a line each. Frequent operators have a loop for vectors; rare operators
 * are computed in double, by the reference.
 */
#include <math.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

enum { N_PARAMETERS = 2, SLOW = OP_N_MAPS };

/* An operator has up to two parameters: attributes, or numbers without a name. */
/* clang-format off */
#define UNARIES(X)                                                                                                     \
    X(Relu, OP_MAP_RELU, x < 0 ? 0 : x, "", 0, "", 0)                                                                  \
    X(LeakyRelu, OP_MAP_LEAKY_RELU, x < 0 ? x * p[0] : x, "alpha", 0.01F, "", 0)                                       \
    X(HardSigmoid, OP_MAP_HARD_SIGMOID, clip(x * p[0] + p[1], 0, 1), "alpha", 0.2F, "beta", 0.5F)                      \
    X(HardSwish, OP_MAP_HARD_SWISH, x * clip(x / 6 + 0.5, 0, 1), "", 1 / 6.0F, "", 0.5F)                               \
    X(Sigmoid, OP_MAP_SIGMOID, 1 / (1 + exp(-x)), "", 0, "", 0)                                                        \
    X(Exp, OP_MAP_EXP, exp(x), "", 0, "", 0)                                                                           \
    X(Abs, OP_MAP_ABS, fabs(x), "", 0, "", 0)                                                                          \
    X(Neg, OP_MAP_NEG, -x, "", 0, "", 0)                                                                               \
    X(Sqrt, OP_MAP_SQRT, sqrt(x), "", 0, "", 0)                                                                        \
    X(Reciprocal, OP_MAP_RECIPROCAL, 1 / x, "", 0, "", 0)                                                              \
    X(Elu, SLOW, x < 0 ? p[0] * expm1(x) : x, "alpha", 1, "", 0)                                                       \
    X(Selu, SLOW, p[1] * (x <= 0 ? p[0] * expm1(x) : x), "alpha", 1.67326319F, "gamma", 1.05070102F)                   \
    X(Celu, SLOW, x < 0 ? p[0] * expm1(x / p[0]) : x, "alpha", 1, "", 0)                                               \
    X(Swish, SLOW, x / (1 + exp(-p[0] * x)), "alpha", 1, "", 0)                                                        \
    X(Mish, SLOW, x * tanh(softplus(x)), "", 0, "", 0)                                                                 \
    X(Softplus, SLOW, softplus(x), "", 0, "", 0)                                                                       \
    X(Shrink, SLOW, x < -p[0] ? x + p[1] : x > p[0] ? x - p[1] : x == x ? 0 : x, "lambd", 0.5F, "bias", 0)             \
    X(Log, SLOW, log(x), "", 0, "", 0)                                                                                 \
    X(Floor, SLOW, floor(x), "", 0, "", 0)                                                                             \
    X(Ceil, SLOW, ceil(x), "", 0, "", 0)                                                                               \
    X(Round, SLOW, rint(x), "", 0, "", 0)                                                                              \
    X(Erf, SLOW, erf(x), "", 0, "", 0)                                                                                 \
    X(Sign, SLOW, x > 0 ? 1 : x < 0 ? -1 : x, "", 0, "", 0)                                                            \
    X(Tanh, SLOW, tanh(x), "", 0, "", 0)
/* clang-format on */

typedef double function(double x, const float *p);

struct unary {
    size_t n;
    size_t map; /* enum op_map, or SLOW */
    function *slow;
    float p[N_PARAMETERS];
};

static double clip(double x, double low, double high)
{
    const double at_least = x < low ? low : x;

    return at_least > high ? high : at_least;
}

static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static int prepare(struct op_call *call, const struct unary *u, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    int err = op_check_floats(call, 1, why);

    if (!err)
        err = op_check_out(call, 0, in->n_dims, in->dim, why);
    if (err)
        return err;
    memcpy(op_own(call, sizeof *u), u, sizeof *u);
    ((struct unary *)call->own)->n = in->elements;
    return 0;
}

struct work {
    const struct unary *u;
    const float *in, *p;
    float *out;
};

static void slowly(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;

    (void)share;
    for (size_t i = from; i < to; i++)
        w->out[i] = (float)w->u->slow((double)w->in[i], w->p);
    op_note_map(w->out + from, w->in + from, to - from);
}

static void fast(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;

    (void)share;
    op_loops()->map[w->u->map](w->out + from, w->in + from, to - from, w->p);
}

static void run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct unary *u = call->own;
    struct work w = { u, t->in[0], u->p, t->out[0] };

    op_share(call, team, u->n, u->map == SLOW ? 64 : 8, u->map == SLOW ? slowly : fast, &w);
}

static void reference(const struct op_call *call, const struct op_tensors *t)
{
    const struct unary *u = call->own;
    struct work w = { u, t->in[0], u->p, t->out[0] };

    slowly(&w, 0, u->n, 0);
}

#define RECORD(name_, map_, value, a, a_value, b, b_value)                                                             \
    static double of_##name_(double x, const float *p)                                                                 \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        return value;                                                                                                  \
    }                                                                                                                  \
    static int prepare_##name_(struct op_call *call, struct exp_why *why)                                              \
    {                                                                                                                  \
        const struct onnx_node *node = call->ask.node;                                                                 \
        const struct unary u = { .map = map_,                                                                          \
                                 .slow = of_##name_,                                                                   \
                                 .p = { *(a) ? onnx_float(node, a, a_value) : (a_value),                               \
                                        *(b) ? onnx_float(node, b, b_value) : (b_value) } };                           \
        return prepare(call, &u, why);                                                                                 \
    }                                                                                                                  \
    const struct op op_##name_ = {                                                                                     \
        .name = #name_, .traits = OP_IN_PLACE, .prepare = prepare_##name_, .run = run, .reference = reference          \
    };

UNARIES(RECORD)

/* ---- Gelu: two formulas ---- */

static double of_gelu(double x, const float *p)
{
    const double root = 0.79788456080286535588; /* sqrt(2 / pi) */

    return p[0] > 0 ? 0.5 * x * (1 + tanh(root * (x + 0.044715 * x * x * x)))
                    : 0.5 * x * (1 + erf(x * 0.70710678118654752440));
}

static int prepare_gelu(struct op_call *call, struct exp_why *why)
{
    const char *approximate = onnx_text(call->ask.node, "approximate", "none");
    const bool is_tanh = !strcmp(approximate, "tanh");
    const struct unary u = { .map = SLOW, .slow = of_gelu, .p = { is_tanh, 0 } };

    if (!is_tanh && strcmp(approximate, "none") != 0)
        return op_refuse(call, why, "approximate '%.40s'", approximate);
    return prepare(call, &u, why);
}

const struct op op_Gelu = {
    .name = "Gelu", .traits = OP_IN_PLACE, .prepare = prepare_gelu, .run = run, .reference = reference
};

/* ---- Clip, whose bounds may be tensors ---- */

static double of_clip(double x, const float *p)
{
    return clip(x, (double)p[0], (double)p[1]);
}

static int prepare_clip(struct op_call *call, struct exp_why *why)
{
    const struct onnx_node *node = call->ask.node;
    const struct unary u = {
        .map = OP_MAP_CLIP,
        .slow = of_clip,
        .p = { onnx_float(node, "min", -INFINITY), onnx_float(node, "max", INFINITY) },
    };

    for (size_t i = 1; i < 3; i++) {
        if (op_in(call, i) && op_in(call, i)->has_shape && op_in(call, i)->elements != 1)
            return op_refuse(call, why, "a bound of %zu elements", op_in(call, i)->elements);
    }
    return prepare(call, &u, why);
}

static void read_bounds(const struct op_call *call, const struct op_tensors *t, float *p)
{
    const struct unary *u = call->own;

    for (size_t i = 0; i < 2; i++)
        p[i] = op_in(call, i + 1) ? *(const float *)t->in[i + 1] : u->p[i];
}

static void run_clip(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct unary *u = call->own;
    float p[N_PARAMETERS];
    struct work w = { u, t->in[0], p, t->out[0] };

    read_bounds(call, t, p);
    op_share(call, team, u->n, 8, fast, &w);
}

static void reference_clip(const struct op_call *call, const struct op_tensors *t)
{
    const struct unary *u = call->own;
    float p[N_PARAMETERS];
    struct work w = { u, t->in[0], p, t->out[0] };

    read_bounds(call, t, p);
    slowly(&w, 0, u->n, 0);
}

const struct op op_Clip = {
    .name = "Clip", .traits = OP_IN_PLACE, .prepare = prepare_clip, .run = run_clip, .reference = reference_clip
};
