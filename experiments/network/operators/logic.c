/* Comparisons, what joins truths, Where, and Cast: rare in networks that convolve, so plain loops. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

/* ---- numbers of any type ---- */

double op_number(enum onnx_type type, const void *data, size_t i)
{
    switch (type) {
    case ONNX_FLOAT:
        return (double)((const float *)data)[i];
    case ONNX_INT8:
        return ((const int8_t *)data)[i];
    case ONNX_UINT16:
        return ((const uint16_t *)data)[i];
    case ONNX_INT16:
        return ((const int16_t *)data)[i];
    case ONNX_INT32:
        return ((const int32_t *)data)[i];
    case ONNX_INT64:
        return (double)((const int64_t *)data)[i];
    case ONNX_UINT32:
        return ((const uint32_t *)data)[i];
    case ONNX_UINT64:
        return (double)((const uint64_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}

bool op_is_number(enum onnx_type type)
{
    return (type >= ONNX_FLOAT && type <= ONNX_INT64) || type == ONNX_BOOL || type == ONNX_UINT32 ||
           type == ONNX_UINT64;
}

/* ---- element by element, broadcast ---- */

struct work {
    const struct op_call *call;
    const struct op_tensors *t;
    const struct op_walk *walk;
    size_t next; /* the output's element */
};

static int prepare(struct op_call *call, size_t n, struct exp_why *why)
{
    const struct onnx_value *of[OP_MAX_OPERANDS];
    int err = op_check_shapes(call, n, why);

    for (size_t i = 0; !err && i < n; i++) {
        of[i] = op_in(call, i);
        if (!op_is_number(of[i]->type))
            err = op_refuse(call, why, "'%s' is of type %s", of[i]->name, onnx_type_name(of[i]->type));
    }
    if (!err && !op_walk_init(op_own(call, sizeof(struct op_walk)), op_out(call, 0), n, of))
        err = op_refuse(call, why, "its inputs cannot be broadcast to its output");
    return err;
}

static int prepare_truth(struct op_call *call, size_t n, struct exp_why *why)
{
    int err = prepare(call, n, why);

    if (!err && op_out(call, 0)->type != ONNX_BOOL)
        err = op_refuse(call, why, "an output of type %s", onnx_type_name(op_out(call, 0)->type));
    return err;
}

static int prepare_one(struct op_call *call, struct exp_why *why)
{
    return prepare_truth(call, 1, why);
}

static int prepare_two(struct op_call *call, struct exp_why *why)
{
    return prepare_truth(call, 2, why);
}

static int prepare_where(struct op_call *call, struct exp_why *why)
{
    int err = prepare(call, 3, why);

    if (!err && (op_in(call, 1)->type != op_out(call, 0)->type || op_in(call, 2)->type != op_out(call, 0)->type))
        err = op_refuse(call, why, "its values differ in type");
    return err;
}

/* How many elements an operand goes on with each of a row. */
static size_t step_of(const struct work *w, size_t operand)
{
    return w->walk->step[operand][w->walk->n_dims - 1];
}

static void where_row(void *ctx, const size_t *at, size_t n)
{
    struct work *w = ctx;
    const size_t bytes = onnx_type_bytes(op_out(w->call, 0)->type);

    for (size_t i = 0; i < n; i++) {
        const bool is = ((const unsigned char *)w->t->in[0])[at[0] + i * step_of(w, 0)];
        const size_t from = at[is ? 1 : 2] + i * step_of(w, is ? 1 : 2);

        memcpy((char *)w->t->out[0] + w->next++ * bytes, (const char *)w->t->in[is ? 1 : 2] + from * bytes, bytes);
    }
}

static void walk(const struct op_call *call, const struct op_tensors *t, op_row_fn *row)
{
    struct work w = { call, t, call->own, 0 };

    op_walk_run(w.walk, 0, w.walk->elements, row, &w);
}

#define RECORD(name_, prepare_, row)                                                                                   \
    static void reference_##name_(const struct op_call *call, const struct op_tensors *t)                              \
    {                                                                                                                  \
        walk(call, t, row);                                                                                            \
    }                                                                                                                  \
    static void run_##name_(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)           \
    {                                                                                                                  \
        (void)team;                                                                                                    \
        walk(call, t, row);                                                                                            \
    }                                                                                                                  \
    const struct op op_##name_ = {                                                                                     \
        .name = #name_, .prepare = prepare_, .run = run_##name_, .reference = reference_##name_                        \
    };

/* a, b: numbers of the operands; of an operator of one, b is a. */
#define TRUTH(name_, prepare_, value)                                                                                  \
    static void row_##name_(void *ctx, const size_t *at, size_t n)                                                     \
    {                                                                                                                  \
        struct work *w = ctx;                                                                                          \
        const size_t right = w->walk->n_operands - 1;                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const double a = op_number(op_in(w->call, 0)->type, w->t->in[0], at[0] + i * step_of(w, 0));               \
            const double b =                                                                                           \
                op_number(op_in(w->call, right)->type, w->t->in[right], at[right] + i * step_of(w, right));            \
            ((unsigned char *)w->t->out[0])[w->next++] = (value);                                                      \
            (void)b;                                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    RECORD(name_, prepare_, row_##name_)

TRUTH(Greater, prepare_two, a > b)
TRUTH(GreaterOrEqual, prepare_two, a >= b)
TRUTH(Less, prepare_two, a < b)
TRUTH(LessOrEqual, prepare_two, a <= b)
TRUTH(Equal, prepare_two, a == b)
TRUTH(And, prepare_two, a != 0 && b != 0)
TRUTH(Or, prepare_two, a != 0 || b != 0)
TRUTH(Xor, prepare_two, (a != 0) != (b != 0))
TRUTH(Not, prepare_one, a == 0)
TRUTH(IsNaN, prepare_one, a != a)
TRUTH(IsInf, prepare_one,
      (a > DBL_MAX && onnx_int(w->call->ask.node, "detect_positive", 1)) ||
          (a < -DBL_MAX && onnx_int(w->call->ask.node, "detect_negative", 1)))
RECORD(Where, prepare_where, where_row)

/* ---- Cast, and CastLike, whose second input has the type ---- */

static int prepare_cast(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0), *out = op_out(call, 0);
    int err = op_check_shapes(call, 1, why);

    if (!err && (!op_is_number(in->type) || !op_is_number(out->type)))
        err = op_refuse(call, why, "%s to %s", onnx_type_name(in->type), onnx_type_name(out->type));
    return err ? err : op_check_out(call, 0, in->n_dims, in->dim, why);
}

/* Rounds to so many bits of fraction, of powers of 2 from `least` on; what reaches `most` is infinite. */
static double narrow(double x, int bits, int least, double most)
{
    const int power = x != 0 && isfinite(x) && ilogb(x) > least ? ilogb(x) : least;
    const double unit = ldexp(1, power - bits), rounded = isfinite(x) ? rint(x / unit) * unit : x;

    return fabs(rounded) >= most ? copysign(HUGE_VAL, x) : rounded;
}

static double as_stored(enum onnx_type stored, double x)
{
    if (stored == ONNX_FLOAT16)
        return narrow(x, 10, -14, 0x1p16);
    return stored == ONNX_BFLOAT16 ? narrow(x, 7, -126, 0x1p128) : x;
}

/* Numbers that a type does not hold become its nearest; NaN becomes 0. */
static int64_t whole(double x)
{
    return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : x == x ? (int64_t)x : 0;
}

static void set_number(enum onnx_type type, void *data, size_t i, double x)
{
    switch (type) {
    case ONNX_FLOAT:
        ((float *)data)[i] = (float)x;
        break;
    case ONNX_BOOL:
        ((unsigned char *)data)[i] = x != 0;
        break;
    case ONNX_INT16:
    case ONNX_UINT16:
        ((uint16_t *)data)[i] = (uint16_t)whole(x);
        break;
    case ONNX_INT32:
    case ONNX_UINT32:
        ((uint32_t *)data)[i] = (uint32_t)whole(x);
        break;
    case ONNX_INT64:
    case ONNX_UINT64:
        ((int64_t *)data)[i] = whole(x);
        break;
    default:
        ((uint8_t *)data)[i] = (uint8_t)whole(x);
        break;
    }
}

static void reference_cast(const struct op_call *call, const struct op_tensors *t)
{
    const struct onnx_value *in = op_in(call, 0), *out = op_out(call, 0);

    if (in->type == out->type && in->stored == out->stored && in->elements)
        memmove(t->out[0], t->in[0], in->elements * onnx_type_bytes(out->type));
    else
        for (size_t i = 0; i < in->elements; i++)
            set_number(out->type, t->out[0], i, as_stored(out->stored, op_number(in->type, t->in[0], i)));
}

static void run_cast(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    (void)team;
    reference_cast(call, t);
}

const struct op op_Cast = { .name = "Cast", .prepare = prepare_cast, .run = run_cast, .reference = reference_cast };
const struct op op_CastLike = {
    .name = "CastLike", .prepare = prepare_cast, .run = run_cast, .reference = reference_cast
};
