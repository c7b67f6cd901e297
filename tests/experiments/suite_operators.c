/*
 * Operators of networks that compute, element by element, by rows and as products: on random shapes, attributes and
 * threads; NaN, infinities, empty tensors; and the refusals of all operators.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/network/operator.h"
#include "tests/experiments/onnx_trial.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

/* ---- element by element ---- */

static struct op_trial make_unary(void)
{
    static const char *const ops[] = { "Relu", "LeakyRelu", "HardSigmoid", "HardSwish",  "Sigmoid", "Exp",
                                       "Abs",  "Neg",       "Sqrt",        "Reciprocal", "Elu",     "Selu",
                                       "Celu", "Softplus",  "Log",         "Tanh",       "Erf",     "Floor",
                                       "Clip", "Round",     "Shrink",      "Gelu",       "Mish",    "Swish" };
    static const char *const with_alpha = " LeakyRelu HardSigmoid Elu Selu Celu Swish ";
    struct op_trial t = op_trial_begin(ops[rng_below(COUNT(ops))], 24);
    int64_t dim[OP_TRIAL_MOST];
    char word[70];

    op_trial_image(dim, 3 + rng_below(2));
    op_trial_input(&t, 3, dim);
    snprintf(word, sizeof word, " %s ", t.name);
    if (strstr(with_alpha, word) && !rng_below(2))
        onnx_write_float(t.writer, "alpha", 0.3F);
    if (!strcmp(t.name, "Clip") && rng_below(2))
        op_trial_input(&t, 0, dim);
    t.fill = rng_below(3) ? OP_FILL_UNIT : OP_FILL_WITH_NAN;
    t.units = 4;
    return t;
}

static void test_unary(void)
{
    op_trial_all(make_unary, 150);
}

/* A shape that is broadcast to dim: some dimensions are 1, some of the first are missing. */
static void add_broadcast(struct op_trial *t, const int64_t *dim, size_t n)
{
    const size_t missing = rng_below(3) ? 0 : rng_below(n + 1);
    const bool is_whole = rng_below(2);
    int64_t some[OP_TRIAL_MOST];

    for (size_t d = 0; d < n; d++)
        some[d] = is_whole || rng_below(2) ? dim[d] : 1;
    op_trial_input(t, n - missing, some + missing);
}

static struct op_trial make_binary(void)
{
    static const char *const ops[] = { "Add", "Sub", "Mul", "Div", "Pow", "PRelu", "Sum", "Mean", "Min", "Max" };
    const size_t kind = rng_below(COUNT(ops)), n_in = kind < 6 ? 2 : 1 + rng_below(4);
    struct op_trial t = op_trial_begin(ops[kind], 13);
    int64_t dim[OP_TRIAL_MOST];
    const size_t n = rng_below(2) ? op_trial_shape(dim, 0, 5) : 4;

    if (n == 4)
        op_trial_image(dim, 4);
    if (kind == 5)
        op_trial_input(&t, n, dim);
    for (size_t i = kind == 5; i < n_in; i++)
        add_broadcast(&t, dim, n);
    t.fill = kind == 4 ? OP_FILL_POSITIVE : rng_below(3) ? OP_FILL_UNIT : OP_FILL_WITH_NAN;
    t.units = kind < 4 || kind == 5 || kind > 7 ? 0 : 4; /* a single rounding is exact in double, too */
    t.activation = (enum sconv_activation)rng_below(3);
    return t;
}

static void test_binary(void)
{
    op_trial_all(make_binary, 300);
}

/* ---- rows, planes, channels ---- */

static struct op_trial make_softmax(void)
{
    static const char *const ops[] = { "Softmax", "LogSoftmax" };
    struct op_trial t = op_trial_begin(ops[rng_below(2)], 11 + 2 * (int64_t)rng_below(2));
    int64_t dim[OP_TRIAL_MOST];
    const size_t n = op_trial_shape(dim, 1, 4);

    op_trial_input(&t, n, dim);
    onnx_write_int(t.writer, "axis", rng_range(-(int64_t)n, (int64_t)n - 1));
    t.fill = rng_below(4) ? OP_FILL_UNIT : OP_FILL_WITH_NAN;
    t.units = 64; /* numbers below 10, and sums of up to 40^2 powers */
    return t;
}

static void test_softmax(void)
{
    op_trial_all(make_softmax, 200);
}

static struct op_trial make_norm(void)
{
    static const char *const ops[] = { "BatchNormalization", "InstanceNormalization", "LRN", "LayerNormalization" };
    const size_t kind = rng_below(4);
    struct op_trial t = op_trial_begin(ops[kind], kind == 3 ? 17 : 13);
    int64_t dim[OP_TRIAL_MOST];

    op_trial_image(dim, 4);
    if (kind == 1 || kind == 3)
        dim[3] += 2; /* the variance of a few numbers may be small enough to be noise */
    op_trial_input(&t, 4, dim);
    for (size_t i = 0; i < (kind == 0 ? 4U : kind == 1 ? 2U : 0U); i++)
        op_trial_input(&t, 1, &dim[1]);
    for (size_t i = 0; kind == 3 && i < 2; i++)
        op_trial_input(&t, 1, &dim[3]);
    if (kind == 2) {
        onnx_write_int(t.writer, "size", rng_range(1, 8));
        onnx_write_float(t.writer, "beta", rng_below(2) ? 0.75F : rng_below(2) ? 0.5F : 0.8F);
        onnx_write_float(t.writer, "alpha", rng_below(2) ? 1e-4F : 2);
    }
    onnx_write_float(t.writer, "epsilon", kind == 0 ? 1e-5F : 0.01F);
    t.fill = kind == 0 ? OP_FILL_POSITIVE : OP_FILL_UNIT;
    t.units = kind == 2 || kind == 0 ? 16 : 256; /* sums of up to 1600 numbers, over a deviation of at least 0.1 */
    t.activation = kind < 2 ? (enum sconv_activation)rng_below(3) : SCONV_NO_ACTIVATION;
    return t;
}

static void test_norms(void)
{
    op_trial_all(make_norm, 150);
}

static struct op_trial make_reduce(void)
{
    static const char *const ops[] = { "ReduceSum", "ReduceMean", "ReduceMax",
                                       "ReduceMin", "ReduceL2",   "ReduceSumSquare" };
    const size_t kind = rng_below(COUNT(ops));
    struct op_trial t = op_trial_begin(ops[kind], 12);
    int64_t dim[OP_TRIAL_MOST], axes[OP_TRIAL_MOST];
    const size_t n = op_trial_shape(dim, 1, 5);
    size_t n_axes = 0;

    op_trial_input(&t, n, dim);
    for (size_t d = 0; d < n; d++) {
        if (rng_below(2))
            axes[n_axes++] = rng_below(2) ? (int64_t)d : (int64_t)d - (int64_t)n;
    }
    if (n_axes)
        onnx_write_ints(t.writer, "axes", n_axes, axes);
    if (rng_below(2))
        onnx_write_int(t.writer, "keepdims", 0);
    t.fill = kind != 4 && rng_below(2) ? OP_FILL_SMALL_INTS : rng_below(3) ? OP_FILL_UNIT : OP_FILL_WITH_NAN;
    t.units = t.fill == OP_FILL_SMALL_INTS && kind != 1 ? 0 : 4000; /* sums of thousands of numbers */
    return t;
}

static void test_reduce(void)
{
    op_trial_all(make_reduce, 300);
}

/* ---- products: integers, so that sums are exact in any order ---- */

static struct op_trial make_product(void)
{
    const bool is_gemm = rng_below(2);
    struct op_trial t = op_trial_begin(is_gemm ? "Gemm" : "MatMul", 13);
    const int64_t m = rng_below(3) ? rng_range(1, 12) : rng_range(1, 70), k = rng_range(1, 300), n = rng_range(1, 100);
    const bool turns[2] = { rng_below(2), rng_below(2) };
    const int64_t batch[2] = { rng_range(1, 3), rng_range(1, 3) };

    if (is_gemm) {
        op_trial_input(&t, 2, (const int64_t[]){ turns[0] ? k : m, turns[0] ? m : k });
        op_trial_input(&t, 2, (const int64_t[]){ turns[1] ? n : k, turns[1] ? k : n });
        onnx_write_int(t.writer, "transA", turns[0]);
        onnx_write_int(t.writer, "transB", turns[1]);
        if (rng_below(2))
            add_broadcast(&t, (const int64_t[]){ m, n }, 2);
        if (rng_below(2))
            onnx_write_float(t.writer, "alpha", 2);
    } else {
        const size_t left = rng_below(5), right = rng_below(5);

        op_trial_input(&t, left ? 2 + left % 3 : 1,
                       (left ? (const int64_t[]){ batch[0], batch[1], m, k } : (const int64_t[]){ 0, 0, 0, k }) +
                           (left ? 2 - left % 3 : 3));
        op_trial_input(&t, right ? 2 + right % 3 : 1,
                       (right ? (const int64_t[]){ 1, batch[1], k, n } : (const int64_t[]){ 0, 0, 0, k }) +
                           (right ? 2 - right % 3 : 3));
    }
    t.fill = OP_FILL_SMALL_INTS;
    t.activation = (enum sconv_activation)rng_below(3);
    return t;
}

static void test_products(void)
{
    op_trial_all(make_product, 200);
}

/* ---- rules of IEEE 754 ---- */

/* Runs a node with one input of n numbers, and returns the first number of the first output. */
static float first_of(struct op_trial *t, const float *x, size_t n)
{
    struct onnx_graph *g;
    struct exp_why why = { "" };
    struct op_call call;
    const void *in[1] = { x };
    float out[64] = { 0 };
    void *to[1] = { out };

    CU_ASSERT_FATAL(!op_trial_read(t, &g, &why));
    CU_ASSERT_EQUAL_FATAL(onnx_in(g, &g->node[0], 0)->elements, n);
    CU_ASSERT_FATAL(onnx_out(g, &g->node[0], 0)->elements <= 64);
    CU_ASSERT_FATAL(!op_prepare(&call, &(struct op_ask){ .graph = g, .node = &g->node[0] }, &why));
    op_run(&call, &(struct op_tensors){ in, to }, NULL);
    op_release(&call);
    onnx_free(g);
    scratch_clear();
    return out[0];
}

static void test_nan(void)
{
    static const char *const ops[] = { "Relu",    "Clip",      "GlobalMaxPool", "GlobalAveragePool",
                                       "MaxPool", "ReduceMax", "ReduceMin",     "Softmax",
                                       "Exp",     "Sigmoid",   "Tanh",          "LeakyRelu" };
    static const float x[4] = { NAN, 1, 2, 3 };

    for (size_t i = 0; i < COUNT(ops); i++) {
        struct op_trial t = op_trial_begin(ops[i], 13);
        float y;

        op_trial_input(&t, 4, (const int64_t[]){ 1, 1, 2, 2 });
        if (!strcmp(ops[i], "MaxPool"))
            onnx_write_ints(t.writer, "kernel_shape", 2, (const int64_t[]){ 2, 2 });
        if (!strcmp(ops[i], "Softmax"))
            onnx_write_int(t.writer, "axis", 3);
        y = first_of(&t, x, 4);
        test_check(y != y, "%s of NaN is %g", ops[i], (double)y);
    }
}

static void test_extremes(void)
{
    static const struct {
        const char *op;
        float x, y;
    } of[] = {
        { "Exp", -INFINITY, 0 },
        { "Exp", INFINITY, INFINITY },
        { "Exp", 89, INFINITY },
        { "Exp", -100, 3.783505e-44F },
        { "Exp", -200, 0 },
        { "Sigmoid", -INFINITY, 0 },
        { "Sigmoid", INFINITY, 1 },
        { "Relu", -INFINITY, 0 },
        { "Relu", 1e-44F, 1e-44F },
        { "Abs", -1e-44F, 1e-44F },
        { "Reciprocal", -0.0F, -INFINITY },
        { "Sqrt", 0, 0 },
        { "Clip", INFINITY, INFINITY },
        { "Log", 0, -INFINITY },
        { "Softplus", 200, 200 },
        { "Softplus", -INFINITY, 0 },
        { "Tanh", -INFINITY, -1 },
        { "HardSigmoid", INFINITY, 1 },
    };

    for (size_t i = 0; i < COUNT(of); i++) {
        struct op_trial t = op_trial_begin(of[i].op, 13);
        float y;

        op_trial_input(&t, 1, (const int64_t[]){ 1 });
        y = first_of(&t, &of[i].x, 1);
        test_check(y == of[i].y || fabsf(y - of[i].y) <= 2e-45F, "%s of %g is %g, not %g", of[i].op, (double)of[i].x,
                   (double)y, (double)of[i].y);
    }
}

/* Tensors without an element, and with one. */
static struct op_trial make_small(void)
{
    static const char *const ops[] = { "Relu",     "Add", "Sum", "Transpose", "Concat",  "Softmax", "ReduceSum",
                                       "Identity", "LRN", "Exp", "Mean",      "Flatten", "MatMul",  "ReduceMax" };
    struct op_trial t = op_trial_begin(ops[rng_below(COUNT(ops))], 12);
    const int64_t n = rng_range(0, 1), dim[] = { rng_below(2) ? n : 1, 1, rng_below(2) ? 1 : n, n };

    op_trial_input(&t, 4, dim);
    if (!strcmp(t.name, "Add") || !strcmp(t.name, "Sum") || !strcmp(t.name, "Concat") || !strcmp(t.name, "MatMul"))
        op_trial_input(&t, 4, dim);
    if (!strcmp(t.name, "Concat"))
        onnx_write_int(t.writer, "axis", 0);
    if (!strcmp(t.name, "LRN"))
        onnx_write_int(t.writer, "size", 3);
    t.units = 4;
    return t;
}

static void test_small(void)
{
    op_trial_all(make_small, 100);
}

/* ---- refusals ---- */

static void check_refusal(struct op_trial *t, const char *says)
{
    struct onnx_graph *g;
    struct exp_why why = { "" };
    struct op_call call;

    if (!op_trial_read(t, &g, &why)) {
        CU_ASSERT_EQUAL(op_prepare(&call, &(struct op_ask){ g, &g->node[0], 1, t->activation, NULL }, &why), -ENOTSUP);
        CU_ASSERT_PTR_NULL(call.own);
        test_check(strstr(why.text, "'node'"), "%s: the node is not named: %s", t->name, why.text);
        onnx_free(g);
    }
    test_check(strstr(why.text, says), "%s: '%s' does not say '%s'", t->name, why.text, says);
    scratch_clear();
}

static struct op_trial begin_image(const char *op)
{
    struct op_trial t = op_trial_begin(op, 13);

    op_trial_input(&t, 4, (const int64_t[]){ 1, 4, 6, 6 });
    return t;
}

static void test_refusals(void)
{
    struct op_trial t = begin_image("Pad");

    onnx_write_text(t.writer, "mode", "odd");
    op_trial_constant(&t, 8, (const int64_t[]){ 0, 0, 1, 1, 0, 0, 1, 1 });
    check_refusal(&t, "mode 'odd'");
    t = begin_image("Softmax");
    onnx_write_int(t.writer, "axis", 9);
    check_refusal(&t, "9");
    t = begin_image("LRN");
    onnx_write_int(t.writer, "size", -3);
    check_refusal(&t, "-3");
    t = begin_image("DepthToSpace");
    onnx_write_int(t.writer, "blocksize", 3);
    check_refusal(&t, "4 channels");
    t = begin_image("Resize");
    op_trial_no_input(&t);
    op_trial_no_input(&t);
    op_trial_constant(&t, 4, (const int64_t[]){ 1, 4, 9, 9 });
    onnx_write_text(t.writer, "coordinate_transformation_mode", "odd");
    check_refusal(&t, "odd");
    t = begin_image("Frobnicate");
    check_refusal(&t, "Frobnicate");
    t = begin_image("Sin");
    check_refusal(&t, "(Sin): no such operator is known here");
    t = begin_image("BatchNormalization");
    for (size_t i = 0; i < 4; i++)
        op_trial_input(&t, 1, (const int64_t[]){ 3 });
    check_refusal(&t, "3");
}

/* An activation is fused only where the operator allows the fusion. */
static void test_activation_refused(void)
{
    struct op_trial t = begin_image("Exp");

    t.activation = SCONV_RELU;
    check_refusal(&t, "activation");
}

static const struct test_case cases[] = {
    { "functions of one element", test_unary },
    { "functions of several, broadcast", test_binary },
    { "softmax, of both opsets", test_softmax },
    { "normalisations", test_norms },
    { "reductions", test_reduce },
    { "products are exact on integers", test_products },
    { "a NaN is not lost", test_nan },
    { "infinities and denormals", test_extremes },
    { "tensors of no element, and of one", test_small },
    { "what is refused is named, with its node", test_refusals },
    { "an activation is fused where that is said", test_activation_refused },
    { NULL, NULL },
};

const struct test_suite suite_operators = { "operators", cases };
