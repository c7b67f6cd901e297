/* Comparisons, And, Or, Not, Where and Cast: rare in networks that convolve, therefore plain loops. */
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

typedef bool truth_fn(double a, double b);

struct logic {
    struct op_walk walk;
    truth_fn *holds; /* NULL: Where */
};

static int prepare(struct op_call *call, size_t n, truth_fn *holds, struct exp_why *why)
{
    const struct onnx_value *of[OP_MAX_OPERANDS];
    int err = op_check_shapes(call, n, why);

    for (size_t i = 0; !err && i < n; i++) {
        of[i] = op_in(call, i);
        if (!op_is_number(of[i]->type))
            err = op_refuse(call, why, "'%s' is of type %s", of[i]->name, onnx_type_name(of[i]->type));
    }
    if (!err && holds && op_out(call, 0)->type != ONNX_BOOL)
        err = op_refuse(call, why, "an output of type %s", onnx_type_name(op_out(call, 0)->type));
    for (size_t i = 1; !err && !holds && i < 3; i++) {
        if (of[i]->type != op_out(call, 0)->type)
            err = op_refuse(call, why, "its values differ in type");
    }
    if (err)
        return err;
    *(struct logic *)op_own(call, sizeof(struct logic)) = (struct logic){ .holds = holds };
    if (!op_walk_init(&((struct logic *)call->own)->walk, op_out(call, 0), n, of))
        return op_refuse(call, why, "its inputs cannot be broadcast to its output");
    return 0;
}

struct work {
    const struct op_call *call;
    const struct op_tensors *t;
    size_t next; /* the output's element */
};

/* Returns the index of element i of a row in an operand, whose step along a row is 0 if the operand is broadcast. */
static size_t index_of(const struct work *w, const size_t *at, size_t operand, size_t i)
{
    const struct op_walk *walk = &((const struct logic *)w->call->own)->walk;

    return at[operand] + i * walk->step[operand][walk->n_dims - 1];
}

/* Computes a row of a function of two operands, or of a single operand as both a and b. */
static void truth_row(void *ctx, const size_t *at, size_t n)
{
    struct work *w = ctx;
    const struct logic *l = w->call->own;
    const size_t right = l->walk.n_operands - 1;

    for (size_t i = 0; i < n; i++) {
        const double a = op_number(op_in(w->call, 0)->type, w->t->in[0], index_of(w, at, 0, i));
        const double b = op_number(op_in(w->call, right)->type, w->t->in[right], index_of(w, at, right, i));

        ((unsigned char *)w->t->out[0])[w->next++] = l->holds(a, b);
    }
}

static void where_row(void *ctx, const size_t *at, size_t n)
{
    struct work *w = ctx;
    const size_t bytes = onnx_type_bytes(op_out(w->call, 0)->type);

    for (size_t i = 0; i < n; i++) {
        const size_t from = ((const unsigned char *)w->t->in[0])[index_of(w, at, 0, i)] ? 1 : 2;

        memcpy((char *)w->t->out[0] + w->next++ * bytes,
               (const char *)w->t->in[from] + index_of(w, at, from, i) * bytes, bytes);
    }
}

static void reference(const struct op_call *call, const struct op_tensors *t)
{
    const struct logic *l = call->own;
    struct work w = { call, t, 0 };

    op_walk_run(&l->walk, 0, l->walk.elements, l->holds ? truth_row : where_row, &w);
}

#define RECORD(name_, n_operands, holds_)                                                                              \
    static int prepare_##name_(struct op_call *call, struct exp_why *why)                                              \
    {                                                                                                                  \
        return prepare(call, n_operands, holds_, why);                                                                 \
    }                                                                                                                  \
    const struct op op_##name_ = { .name = #name_, .prepare = prepare_##name_, .reference = reference };

#define TRUTH(name_, n_operands, value)                                                                                \
    static bool holds_##name_(double a, double b)                                                                      \
    {                                                                                                                  \
        (void)b;                                                                                                       \
        return value;                                                                                                  \
    }                                                                                                                  \
    RECORD(name_, n_operands, holds_##name_)

TRUTH(Greater, 2, a > b)
TRUTH(GreaterOrEqual, 2, a >= b)
TRUTH(Less, 2, a < b)
TRUTH(LessOrEqual, 2, a <= b)
TRUTH(Equal, 2, a == b)
TRUTH(And, 2, a != 0 && b != 0)
TRUTH(Or, 2, a != 0 || b != 0)
TRUTH(Not, 1, a == 0)
RECORD(Where, 3, NULL)

/* ---- Cast ---- */

static int prepare_cast(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0), *out = op_out(call, 0);
    int err = op_check_shapes(call, 1, why);

    if (!err && (!op_is_number(in->type) || !op_is_number(out->type)))
        err = op_refuse(call, why, "%s to %s", onnx_type_name(in->type), onnx_type_name(out->type));
    return err ? err : op_check_out(call, 0, in->n_dims, in->dim, why);
}

/* Rounds a number to a fraction of `bits` bits, of powers of 2 from `least` on; a number of `most` or more is infinite. */
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

/* Returns the nearest whole number of 64 bits; 0 for NaN. */
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

const struct op op_Cast = { .name = "Cast", .prepare = prepare_cast, .reference = reference_cast };
