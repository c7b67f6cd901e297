/*
 * Operators of networks: every fast path beside plain loops with sums in double, on random shapes, attributes and threads; NaN,
 * infinities, empty tensors; and what is refused.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operator.h"
#include "experiments/onnx/graph.h"
#include "tests/experiments/onnx_one_node.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

enum { MOST = 8 };

/* What a run fills its inputs with. */
enum fill { UNIT, SMALL_INTS, POSITIVE, WITH_NAN, N_FILLS };

/* A case: a node that is being put together, and what its results may differ by. */
struct trial {
    struct one_node *node;
    char name[64];
    size_t n_outputs;
    enum fill fill;
    double units; /* of FLT_EPSILON, times the larger of 1 and the result; 0: equal */
    enum sconv_activation activation;
};

static struct trial begin(const char *op, int64_t opset)
{
    struct trial t = { .node = one_node_new(op, opset), .n_outputs = 1 };

    snprintf(t.name, sizeof t.name, "%s", op);
    return t;
}

/* ---- running ---- */

struct memory {
    const void *in[MOST];
    void *out[MOST];
    size_t elements[MOST], bytes[MOST]; /* of outputs */
};

static void fill(float *x, size_t n, enum fill how)
{
    if (how == SMALL_INTS)
        rng_small_ints(x, n, 4);
    else
        rng_floats(x, n);
    for (size_t i = 0; i < n; i++) {
        if (how == POSITIVE)
            x[i] = 0.5F + fabsf(x[i]);
        else if (how == WITH_NAN && !rng_below(20))
            x[i] = rng_below(2) ? NAN : rng_below(2) ? INFINITY : -INFINITY;
    }
}

static void open_memory(struct memory *m, const struct onnx_graph *g, const struct trial *t)
{
    const struct onnx_node *n = &g->node[0];

    *m = (struct memory){ .in = { NULL } };
    for (size_t i = 0; i < n->n_in && i < MOST; i++) {
        const struct onnx_value *v = onnx_in(g, n, i);
        float *x = v && !v->data ? exp_new(v->elements + 1, sizeof *x) : NULL;

        if (x)
            fill(x, v->elements, t->fill);
        m->in[i] = v && v->data ? v->data : x;
    }
    for (size_t i = 0; i < n->n_out && i < MOST; i++) {
        const struct onnx_value *v = onnx_out(g, n, i);

        m->elements[i] = v->elements;
        m->bytes[i] = v->elements * onnx_type_bytes(v->type);
        m->out[i] = memset(exp_new(m->bytes[i] + 8, 1), 0xfe, m->bytes[i] + 8);
    }
}

static void close_memory(struct memory *m, const struct onnx_graph *g)
{
    for (size_t i = 0; i < MOST; i++) {
        const struct onnx_value *v = onnx_in(g, &g->node[0], i);

        if (v && !v->data)
            free((void *)(uintptr_t)m->in[i]);
        free(m->out[i]);
    }
}

static bool is_near(float got, float want, double units)
{
    if (got != got || want != want || isinf(want) || isinf(got))
        return (got != got && want != want) || got == want;
    return fabs((double)got - (double)want) <= units * (double)FLT_EPSILON * fmax(1, fabs((double)want));
}

/* Compares outputs, and the bytes behind them. */
static void compare(const struct trial *t, const struct onnx_graph *g, const struct memory *got, void *const *want,
                    const char *what)
{
    for (size_t o = 0; o < g->node[0].n_out && o < MOST; o++) {
        const unsigned char *behind = (const unsigned char *)got->out[o] + got->bytes[o];
        size_t i = 0;

        if (onnx_out(g, &g->node[0], o)->type != ONNX_FLOAT) {
            test_check(!memcmp(got->out[o], want[o], got->bytes[o]), "%s: output %zu differs, %s", t->name, o, what);
            continue;
        }
        while (i < got->elements[o] && is_near(((const float *)got->out[o])[i], ((const float *)want[o])[i], t->units))
            i++;
        test_check(i == got->elements[o], "%s, fill %d, %s: element %zu of %zu is %.9g, not %.9g", t->name,
                   (int)t->fill, what, i, got->elements[o], (double)((const float *)got->out[o])[i],
                   (double)((const float *)want[o])[i]);
        test_check(behind[0] == 0xfe && behind[7] == 0xfe, "%s, %s: writes behind its output", t->name, what);
    }
}

/* Runs onto an input: the first one of the output's shape. */
static void run_in_place(const struct trial *t, const struct onnx_graph *g, const struct op_call *call,
                         const struct memory *m)
{
    const struct onnx_value *out = onnx_out(g, &g->node[0], 0);
    struct memory again = *m;
    void *copy = NULL;

    for (size_t i = 0; !copy && i < g->node[0].n_in && i < MOST; i++) {
        const struct onnx_value *v = onnx_in(g, &g->node[0], i);

        if (!v || v->data || v->n_dims != out->n_dims || memcmp(v->dim, out->dim, v->n_dims * sizeof *v->dim))
            continue;
        copy = memset(exp_new(m->bytes[0] + 8, 1), 0xfe, m->bytes[0] + 8);
        memcpy(copy, m->in[i], m->bytes[0]);
        again.in[i] = again.out[0] = copy;
    }
    if (copy) {
        op_run(call, &(struct op_tensors){ again.in, again.out }, NULL);
        compare(t, g, &again, m->out, "in place");
    }
    free(copy);
}

static void run_trial(const struct trial *t, const struct onnx_graph *g)
{
    const struct op_ask ask = { g, &g->node[0], 1 + (unsigned)rng_below(4), t->activation };
    struct exp_why why = { "" };
    struct op_call call;
    struct memory m;
    void *want[MOST] = { NULL };

    if (!test_check(!op_prepare(&call, &ask, &why), "%s: %s", t->name, why.text))
        return;
    open_memory(&m, g, t);
    for (size_t i = 0; i < g->node[0].n_out && i < MOST; i++)
        want[i] = exp_new(m.bytes[i] + 8, 1);
    op_reference(&call, &(struct op_tensors){ m.in, want });
    op_run(&call, &(struct op_tensors){ m.in, m.out }, NULL);
    compare(t, g, &m, want, "beside its reference");
    if (call.op->traits & OP_IN_PLACE)
        run_in_place(t, g, &call, &m);
    for (size_t i = 0; i < MOST; i++)
        free(want[i]);
    close_memory(&m, g);
    op_release(&call);
}

/* Reads and runs a case; the reader may refuse what cannot be. Returns whether it ran. */
static bool end(struct trial *t)
{
    struct onnx_graph *g;
    struct exp_why why;
    const bool runs = !one_node_read(t->node, t->n_outputs, &g, &why);

    if (runs && !g->node[0].why_no_shape)
        run_trial(t, g);
    if (runs)
        onnx_free(g);
    one_node_free(t->node);
    return runs;
}

/* Tries what `make` makes, and sees that most of it can be. */
static void try_all(struct trial (*make)(void), unsigned rounds)
{
    unsigned ran = 0, n = test_rounds(rounds);

    scratch_open();
    for (unsigned i = 0; i < n; i++) {
        struct trial t = make();

        ran += end(&t);
    }
    scratch_close();
    test_check(2 * ran >= n, "only %u of %u cases ran", ran, n);
}

/* ---- shapes ---- */

/* Sets dimensions behind the first two: small ones, and some that threads share. */
static void random_image(int64_t dim[MOST], size_t n_dims)
{
    const bool is_large = !rng_below(4);

    dim[0] = rng_range(1, 2);
    dim[1] = is_large ? rng_range(20, 70) : rng_range(1, 6);
    for (size_t d = 2; d < n_dims; d++)
        dim[d] = is_large && n_dims < 5 ? rng_range(8, 40) : rng_range(1, n_dims < 5 ? 36 : 7);
}

static size_t random_shape(int64_t dim[MOST], size_t least, size_t most)
{
    const size_t n = least + rng_below(most - least + 1);

    for (size_t d = 0; d < n; d++)
        dim[d] = rng_below(5) ? rng_range(1, 9) : rng_range(1, 40);
    return n;
}

/* ---- pools ---- */

static void set_windows(struct trial *t, size_t n, bool dilates)
{
    int64_t kernel[3], stride[3], dilation[3], pads[6];
    const int64_t most = rng_below(3) ? 3 : 7;

    for (size_t d = 0; d < n; d++) {
        kernel[d] = rng_range(1, n == 3 ? 3 : most);
        stride[d] = rng_range(1, 3);
        dilation[d] = dilates && !rng_below(4) ? rng_range(1, 3) : 1;
        pads[d] = rng_range(0, (kernel[d] - 1) * dilation[d]);
        pads[n + d] = rng_range(0, (kernel[d] - 1) * dilation[d]);
    }
    one_node_ints(t->node, "kernel_shape", n, kernel);
    if (rng_below(4))
        one_node_ints(t->node, "strides", n, stride);
    if (dilates && rng_below(2))
        one_node_ints(t->node, "dilations", n, dilation);
    if (!rng_below(5))
        one_node_text(t->node, "auto_pad", rng_below(2) ? "SAME_UPPER" : "SAME_LOWER");
    else if (rng_below(4))
        one_node_ints(t->node, "pads", 2 * n, pads);
    if (rng_below(2))
        one_node_int(t->node, "ceil_mode", 1);
}

static struct trial make_pool(void)
{
    static const char *const ops[] = { "MaxPool", "AveragePool", "MaxPool", "LpPool" };
    const size_t kind = rng_below(4), n = rng_below(4) ? 2 : 1 + rng_below(3);
    struct trial t = begin(ops[kind], 11 + (int64_t)rng_below(4));
    int64_t dim[MOST];

    random_image(dim, 2 + n);
    one_node_input(t.node, 2 + n, dim);
    set_windows(&t, n, kind % 2 == 0);
    if (kind == 1 && rng_below(2))
        one_node_int(t.node, "count_include_pad", 1);
    if (kind == 2 && !rng_below(3))
        t.n_outputs = 2;
    t.fill = rng_below(3) ? UNIT : WITH_NAN;
    t.units = kind == 1 ? 8 : 0; /* sums of up to 49 numbers below 1, and an average of them */
    return t;
}

static void test_pools(void)
{
    try_all(make_pool, 400);
}

static struct trial make_global(void)
{
    static const char *const ops[] = { "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool" };
    struct trial t = begin(ops[rng_below(3)], 13);
    int64_t dim[MOST];

    random_image(dim, 4);
    one_node_input(t.node, 4, dim);
    t.fill = rng_below(3) ? UNIT : WITH_NAN;
    t.units = 16;
    return t;
}

static void test_global(void)
{
    try_all(make_global, 60);
}

/* ---- element by element ---- */

static struct trial make_unary(void)
{
    static const char *const ops[] = { "Relu",        "LeakyRelu", "ThresholdedRelu",
                                       "HardSigmoid", "HardSwish", "Sigmoid",
                                       "Softsign",    "Exp",       "Abs",
                                       "Neg",         "Sqrt",      "Reciprocal",
                                       "Elu",         "Selu",      "Celu",
                                       "Softplus",    "Log",       "Tanh",
                                       "Erf",         "Floor",     "Clip",
                                       "Round",       "Shrink" };
    struct trial t = begin(ops[rng_below(sizeof ops / sizeof *ops)], 14);
    int64_t dim[MOST];

    random_image(dim, 3 + rng_below(2));
    one_node_input(t.node, 3, dim);
    if (!rng_below(2))
        one_node_float(t.node, "alpha", 0.3F);
    if (!strcmp(t.name, "Clip") && rng_below(2))
        one_node_input(t.node, 0, dim);
    t.fill = rng_below(3) ? UNIT : WITH_NAN;
    t.units = 4;
    return t;
}

static void test_unary(void)
{
    try_all(make_unary, 150);
}

/* A shape that is broadcast to dim: some dimensions are 1, some of the first are missing. */
static void add_broadcast(struct trial *t, const int64_t *dim, size_t n)
{
    const size_t missing = rng_below(3) ? 0 : rng_below(n + 1);
    const bool is_whole = rng_below(2);
    int64_t some[MOST];

    for (size_t d = 0; d < n; d++)
        some[d] = is_whole || rng_below(2) ? dim[d] : 1;
    one_node_input(t->node, n - missing, some + missing);
}

static struct trial make_binary(void)
{
    static const char *const ops[] = { "Add", "Sub", "Mul", "Div", "Pow", "PRelu", "Sum", "Mean", "Min", "Max" };
    const size_t kind = rng_below(sizeof ops / sizeof *ops), n_in = kind < 6 ? 2 : 1 + rng_below(4);
    struct trial t = begin(ops[kind], 13);
    int64_t dim[MOST];
    const size_t n = rng_below(2) ? random_shape(dim, 0, 5) : 4;

    if (n == 4)
        random_image(dim, 4);
    if (kind == 5)
        one_node_input(t.node, n, dim);
    for (size_t i = kind == 5; i < n_in; i++)
        add_broadcast(&t, dim, n);
    t.fill = kind == 4 ? POSITIVE : rng_below(3) ? UNIT : WITH_NAN;
    t.units = kind < 4 || kind == 5 || kind > 7 ? 0 : 4; /* one rounding is one rounding, in double too */
    t.activation = (enum sconv_activation)rng_below(3);
    return t;
}

static void test_binary(void)
{
    try_all(make_binary, 300);
}

/* ---- rows, planes, channels ---- */

static struct trial make_softmax(void)
{
    static const char *const ops[] = { "Softmax", "LogSoftmax", "Hardmax" };
    struct trial t = begin(ops[rng_below(3)], 11 + 2 * (int64_t)rng_below(2));
    int64_t dim[MOST];
    const size_t n = random_shape(dim, 1, 4);

    one_node_input(t.node, n, dim);
    one_node_int(t.node, "axis", rng_range(-(int64_t)n, (int64_t)n - 1));
    t.fill = rng_below(4) ? UNIT : WITH_NAN;
    t.units = 64; /* numbers below 10, and sums of up to 40^2 powers */
    return t;
}

static void test_softmax(void)
{
    try_all(make_softmax, 200);
}

static struct trial make_norm(void)
{
    static const char *const ops[] = { "BatchNormalization", "InstanceNormalization", "LRN", "LayerNormalization" };
    const size_t kind = rng_below(4);
    struct trial t = begin(ops[kind], kind == 3 ? 17 : 13);
    int64_t dim[MOST];

    random_image(dim, 4);
    if (kind == 1 || kind == 3)
        dim[3] += 2; /* the variance of a few numbers may be so small that all is noise */
    one_node_input(t.node, 4, dim);
    for (size_t i = 0; i < (kind == 0 ? 4U : kind == 1 ? 2U : 0U); i++)
        one_node_input(t.node, 1, &dim[1]);
    for (size_t i = 0; kind == 3 && i < 2; i++)
        one_node_input(t.node, 1, &dim[3]);
    if (kind == 2) {
        one_node_int(t.node, "size", rng_range(1, 8));
        one_node_float(t.node, "beta", rng_below(2) ? 0.75F : rng_below(2) ? 0.5F : 0.8F);
        one_node_float(t.node, "alpha", rng_below(2) ? 1e-4F : 2);
    }
    one_node_float(t.node, "epsilon", kind == 0 ? 1e-5F : 0.01F);
    t.fill = kind == 0 ? POSITIVE : UNIT;
    t.units = kind == 2 || kind == 0 ? 16 : 256; /* sums of up to 1600 numbers, over a deviation of at least 0.1 */
    t.activation = kind < 2 ? (enum sconv_activation)rng_below(3) : SCONV_NO_ACTIVATION;
    return t;
}

static void test_norms(void)
{
    try_all(make_norm, 150);
}

static struct trial make_reduce(void)
{
    static const char *const ops[] = { "ReduceSum",    "ReduceMean",      "ReduceMax", "ReduceMin",
                                       "ReduceProd",   "ReduceL1",        "ReduceL2",  "ReduceSumSquare",
                                       "ReduceLogSum", "ReduceLogSumExp", "ArgMax",    "ArgMin" };
    const size_t kind = rng_below(sizeof ops / sizeof *ops);
    struct trial t = begin(ops[kind], 12);
    int64_t dim[MOST], axes[MOST];
    const size_t n = random_shape(dim, 1, 5);
    size_t n_axes = 0;

    one_node_input(t.node, n, dim);
    for (size_t d = 0; d < n; d++) {
        if (rng_below(2))
            axes[n_axes++] = rng_below(2) ? (int64_t)d : (int64_t)d - (int64_t)n;
    }
    if (kind > 9)
        one_node_int(t.node, "axis", rng_range(-(int64_t)n, (int64_t)n - 1));
    else if (n_axes)
        one_node_ints(t.node, "axes", n_axes, axes);
    if (rng_below(2))
        one_node_int(t.node, "keepdims", 0);
    t.fill = kind == 8                                ? POSITIVE
             : kind != 4 && kind != 6 && rng_below(2) ? SMALL_INTS
             : rng_below(3)                           ? UNIT
                                                      : WITH_NAN;
    t.units = t.fill == SMALL_INTS && kind != 1 && kind != 9 ? 0 : 4000; /* sums of thousands of numbers */
    return t;
}

static void test_reduce(void)
{
    try_all(make_reduce, 300);
}

/* ---- products: integers, so that sums are exact in any order ---- */

static struct trial make_product(void)
{
    const bool is_gemm = rng_below(2);
    struct trial t = begin(is_gemm ? "Gemm" : "MatMul", 13);
    const int64_t m = rng_below(3) ? rng_range(1, 12) : rng_range(1, 70), k = rng_range(1, 300), n = rng_range(1, 100);
    const bool turns[2] = { rng_below(2), rng_below(2) };
    const int64_t batch[2] = { rng_range(1, 3), rng_range(1, 3) };

    if (is_gemm) {
        one_node_input(t.node, 2, (const int64_t[]){ turns[0] ? k : m, turns[0] ? m : k });
        one_node_input(t.node, 2, (const int64_t[]){ turns[1] ? n : k, turns[1] ? k : n });
        one_node_int(t.node, "transA", turns[0]);
        one_node_int(t.node, "transB", turns[1]);
        if (rng_below(2))
            add_broadcast(&t, (const int64_t[]){ m, n }, 2);
        if (rng_below(2))
            one_node_float(t.node, "alpha", 2);
    } else {
        const size_t left = rng_below(5), right = rng_below(5);

        one_node_input(t.node, left ? 2 + left % 3 : 1,
                       (left ? (const int64_t[]){ batch[0], batch[1], m, k } : (const int64_t[]){ 0, 0, 0, k }) +
                           (left ? 2 - left % 3 : 3));
        one_node_input(t.node, right ? 2 + right % 3 : 1,
                       (right ? (const int64_t[]){ 1, batch[1], k, n } : (const int64_t[]){ 0, 0, 0, k }) +
                           (right ? 2 - right % 3 : 3));
    }
    t.fill = SMALL_INTS;
    t.activation = (enum sconv_activation)rng_below(3);
    return t;
}

static void test_products(void)
{
    try_all(make_product, 200);
}

/* ---- what moves ---- */

static void shuffle(int64_t *x, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        const size_t j = rng_below(i);
        const int64_t last = x[i - 1];

        x[i - 1] = x[j];
        x[j] = last;
    }
}

static void make_slice(struct trial *t, const int64_t *dim, size_t n)
{
    int64_t of[4][MOST];

    for (size_t d = 0; d < n; d++) {
        of[0][d] = rng_range(-dim[d] - 2, dim[d] + 2);
        of[1][d] = rng_below(4) ? rng_range(-dim[d] - 2, dim[d] + 2) : rng_below(2) ? INT64_MAX : INT64_MIN;
        of[2][d] = (int64_t)d;
        of[3][d] = rng_below(2) ? 1 : rng_below(2) ? -1 : rng_range(2, 3);
    }
    for (size_t i = 0; i < 4; i++)
        one_node_constant(t->node, n, of[i]);
}

static void make_pads(struct trial *t, const int64_t *dim, size_t n)
{
    static const char *const modes[] = { "constant", "reflect", "edge" };
    const size_t mode = rng_below(3);
    int64_t pads[2 * MOST];

    for (size_t i = 0; i < 2 * n; i++)
        pads[i] = rng_below(2) ? 0 : rng_range(mode ? 0 : -1, mode == 1 ? (dim[i % n] > 3 ? 3 : 0) : 3);
    one_node_text(t->node, "mode", modes[mode]);
    one_node_constant(t->node, 2 * n, pads);
}

static void make_parts(struct trial *t, const int64_t *dim, size_t n, bool joins)
{
    const size_t axis = rng_below(n), parts = 1 + rng_below(4);
    int64_t some[MOST], length[4], all = 0;

    memcpy(some, dim, n * sizeof *dim);
    for (size_t i = 0; i < parts; i++)
        all += length[i] = rng_range(0, 5);
    for (size_t i = 0; i < (joins ? parts : 1); i++) {
        some[axis] = joins ? length[i] : all;
        one_node_input(t->node, n, some);
    }
    if (!joins)
        one_node_constant(t->node, parts, length);
    one_node_int(t->node, "axis", (int64_t)axis - (rng_below(2) ? (int64_t)n : 0));
    t->n_outputs = joins ? 1 : parts;
}

static struct trial make_move(void)
{
    static const char *const ops[] = { "Transpose",    "Slice",        "Pad",    "Expand", "Tile",
                                       "DepthToSpace", "SpaceToDepth", "Gather", "Concat", "Split" };
    const size_t kind = rng_below(sizeof ops / sizeof *ops);
    struct trial t = begin(ops[kind], 13);
    int64_t dim[MOST], list[MOST];
    size_t n = random_shape(dim, 1, 5);

    if (kind == 5 || kind == 6) {
        n = 4;
        dim[0] = 2, dim[1] = 4 * rng_range(1, 3), dim[2] = 2 * rng_range(1, 5), dim[3] = 2 * rng_range(1, 5);
        one_node_int(t.node, "blocksize", 2);
        if (kind == 5)
            one_node_text(t.node, "mode", rng_below(2) ? "CRD" : "DCR");
    }
    for (size_t d = 0; d < n; d++) {
        list[d] = kind == 0   ? (int64_t)d
                  : kind == 3 ? dim[d]
                  : kind == 4 ? rng_range(1, 3)
                              : rng_range(-dim[0], dim[0] - 1);
        if (kind == 3 && rng_below(2))
            dim[d] = 1;
    }
    if (kind < 8)
        one_node_input(t.node, n, dim);
    if (kind == 0) {
        shuffle(list, n);
        one_node_ints(t.node, "perm", n, list);
    } else if (kind == 1) {
        make_slice(&t, dim, n);
    } else if (kind == 2) {
        make_pads(&t, dim, n);
    } else if (kind == 3 || kind == 4 || kind == 7) {
        one_node_constant(t.node, n, list);
    } else if (kind > 7) {
        make_parts(&t, dim, n, kind == 8);
    }
    return t;
}

static void test_moves(void)
{
    try_all(make_move, 400);
}

static struct trial make_convolution(void)
{
    const bool is_transposed = rng_below(2);
    struct trial t = begin(is_transposed ? "ConvTranspose" : "Conv", 11);
    const int64_t groups = rng_range(1, 3), channels = groups * rng_range(1, 3), each = rng_range(1, 3);
    const int64_t kernel[] = { rng_range(1, 3), rng_range(1, 3) }, filters = groups * each;

    one_node_input(t.node, 4, (const int64_t[]){ 1, channels, rng_range(3, 9), rng_range(3, 9) });
    one_node_input(t.node, 4,
                   is_transposed ? (const int64_t[]){ channels, each, kernel[0], kernel[1] }
                                 : (const int64_t[]){ filters, channels / groups, kernel[0], kernel[1] });
    if (rng_below(2))
        one_node_input(t.node, 1, &filters);
    one_node_int(t.node, "group", groups);
    one_node_ints(t.node, "strides", 2, (const int64_t[]){ rng_range(1, 3), rng_range(1, 3) });
    one_node_ints(t.node, "dilations", 2, (const int64_t[]){ rng_range(1, 2), rng_range(1, 2) });
    one_node_ints(t.node, "pads", 4,
                  (const int64_t[]){ rng_range(0, 1), rng_range(0, 2), rng_range(0, 1), rng_range(0, 2) });
    if (is_transposed)
        one_node_ints(t.node, "output_padding", 2, (const int64_t[]){ 0, rng_range(0, 1) });
    t.fill = SMALL_INTS;
    t.activation = (enum sconv_activation)rng_below(3);
    return t;
}

/* Conv runs by its reference, which the official tests hold: here, that threads share it out. */
static void test_convolutions(void)
{
    try_all(make_convolution, 80);
}

static struct trial make_resize(void)
{
    static const char *const modes[] = { "nearest", "linear", "cubic" },
                             *const places[] = { "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel" },
                             *const rounds[] = { "floor", "ceil", "round_prefer_floor", "round_prefer_ceil" };
    struct trial t = begin("Resize", 13);
    int64_t dim[MOST];

    random_image(dim, 4);
    dim[1] = 2;
    one_node_input(t.node, 4, dim);
    one_node_no_input(t.node);
    one_node_no_input(t.node);
    one_node_constant(t.node, 4, (const int64_t[]){ dim[0], dim[1], rng_range(1, 30), rng_range(1, 30) });
    one_node_text(t.node, "mode", modes[rng_below(3)]);
    one_node_text(t.node, "coordinate_transformation_mode", places[rng_below(4)]);
    one_node_text(t.node, "nearest_mode", rounds[rng_below(4)]);
    return t;
}

static void test_resize(void)
{
    try_all(make_resize, 60);
}

/* ---- what IEEE 754 says ---- */

/* Runs a node with one input of n numbers, and returns its first output's first number. */
static float first_of(struct trial *t, const float *x, size_t n)
{
    struct onnx_graph *g;
    struct exp_why why = { "" };
    struct op_call call;
    const void *in[1] = { x };
    float out[64] = { 0 };
    void *to[1] = { out };

    scratch_open();
    CU_ASSERT_FATAL(!one_node_read(t->node, 1, &g, &why));
    CU_ASSERT_EQUAL_FATAL(onnx_in(g, &g->node[0], 0)->elements, n);
    CU_ASSERT_FATAL(onnx_out(g, &g->node[0], 0)->elements <= 64);
    CU_ASSERT_FATAL(!op_prepare(&call, &(struct op_ask){ .graph = g, .node = &g->node[0] }, &why));
    op_run(&call, &(struct op_tensors){ in, to }, NULL);
    op_release(&call);
    onnx_free(g);
    one_node_free(t->node);
    scratch_close();
    return out[0];
}

static void test_nan(void)
{
    static const char *const ops[] = { "Relu",    "Clip",      "GlobalMaxPool", "GlobalAveragePool",
                                       "MaxPool", "ReduceMax", "ReduceMin",     "Softmax",
                                       "Exp",     "Sigmoid",   "Tanh",          "LeakyRelu" };
    static const float x[4] = { NAN, 1, 2, 3 };

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct trial t = begin(ops[i], 13);
        float y;

        one_node_input(t.node, 4, (const int64_t[]){ 1, 1, 2, 2 });
        if (!strcmp(ops[i], "MaxPool"))
            one_node_ints(t.node, "kernel_shape", 2, (const int64_t[]){ 2, 2 });
        if (!strcmp(ops[i], "Softmax"))
            one_node_int(t.node, "axis", 3);
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

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct trial t = begin(of[i].op, 13);
        float y;

        one_node_input(t.node, 1, (const int64_t[]){ 1 });
        y = first_of(&t, &of[i].x, 1);
        test_check(is_near(y, of[i].y, 0) || fabsf(y - of[i].y) <= 2e-45F, "%s of %g is %g, not %g", of[i].op,
                   (double)of[i].x, (double)y, (double)of[i].y);
    }
}

/* Tensors without an element, and with one. */
static struct trial make_small(void)
{
    static const char *const ops[] = { "Relu",     "Add", "Sum", "Transpose", "Concat",  "Softmax", "ReduceSum",
                                       "Identity", "LRN", "Exp", "Mean",      "Flatten", "MatMul",  "ReduceMax" };
    struct trial t = begin(ops[rng_below(sizeof ops / sizeof *ops)], 12);
    const int64_t n = rng_range(0, 1), dim[] = { rng_below(2) ? n : 1, 1, rng_below(2) ? 1 : n, n };

    one_node_input(t.node, 4, dim);
    if (!strcmp(t.name, "Add") || !strcmp(t.name, "Sum") || !strcmp(t.name, "Concat") || !strcmp(t.name, "MatMul"))
        one_node_input(t.node, 4, dim);
    if (!strcmp(t.name, "Concat"))
        one_node_int(t.node, "axis", 0);
    if (!strcmp(t.name, "LRN"))
        one_node_int(t.node, "size", 3);
    t.units = 4;
    return t;
}

static void test_small(void)
{
    try_all(make_small, 100);
}

/* ---- refusals ---- */

static void check_refusal(struct trial *t, const char *says)
{
    struct onnx_graph *g;
    struct exp_why why = { "" };
    struct op_call call;

    scratch_open();
    if (!one_node_read(t->node, 1, &g, &why)) {
        CU_ASSERT_EQUAL(op_prepare(&call, &(struct op_ask){ .graph = g, .node = &g->node[0] }, &why), -ENOTSUP);
        CU_ASSERT_PTR_NULL(call.own);
        test_check(strstr(why.text, "'node'"), "%s: the node is not named: %s", t->name, why.text);
        onnx_free(g);
    }
    test_check(strstr(why.text, says), "%s: '%s' does not say '%s'", t->name, why.text, says);
    one_node_free(t->node);
    scratch_close();
}

static struct trial begin_image(const char *op)
{
    struct trial t = begin(op, 13);

    one_node_input(t.node, 4, (const int64_t[]){ 1, 4, 6, 6 });
    return t;
}

static void test_refusals(void)
{
    struct trial t = begin_image("Pad");

    one_node_text(t.node, "mode", "wrap");
    one_node_constant(t.node, 8, (const int64_t[]){ 0, 0, 1, 1, 0, 0, 1, 1 });
    check_refusal(&t, "wrap");
    t = begin_image("Softmax");
    one_node_int(t.node, "axis", 9);
    check_refusal(&t, "9");
    t = begin_image("LRN");
    one_node_int(t.node, "size", -3);
    check_refusal(&t, "-3");
    t = begin_image("DepthToSpace");
    one_node_int(t.node, "blocksize", 3);
    check_refusal(&t, "4 channels");
    t = begin_image("Resize");
    one_node_no_input(t.node);
    one_node_no_input(t.node);
    one_node_constant(t.node, 4, (const int64_t[]){ 1, 4, 9, 9 });
    one_node_text(t.node, "coordinate_transformation_mode", "odd");
    check_refusal(&t, "odd");
    t = begin_image("Frobnicate");
    check_refusal(&t, "Frobnicate");
    t = begin_image("BatchNormalization");
    for (size_t i = 0; i < 4; i++)
        one_node_input(t.node, 1, (const int64_t[]){ 3 });
    check_refusal(&t, "3");
}

/* An activation is fused where that is said, and nowhere else. */
static void test_activation_refused(void)
{
    struct trial t = begin_image("Exp");
    struct onnx_graph *g;
    struct exp_why why = { "" };
    struct op_call call;

    scratch_open();
    CU_ASSERT_FATAL(!one_node_read(t.node, 1, &g, &why));
    CU_ASSERT_EQUAL(op_prepare(&call, &(struct op_ask){ g, &g->node[0], 1, SCONV_RELU }, &why), -ENOTSUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "activation"));
    onnx_free(g);
    one_node_free(t.node);
    scratch_close();
}

static const struct test_case cases[] = {
    { "pools are those of plain loops", test_pools },
    { "... and so are those of whole planes", test_global },
    { "functions of one element", test_unary },
    { "functions of several, broadcast", test_binary },
    { "softmax, of both opsets", test_softmax },
    { "normalisations", test_norms },
    { "reductions", test_reduce },
    { "products are exact on integers", test_products },
    { "what moves arrives where it should", test_moves },
    { "transposed convolutions, and threads that share out convolutions", test_convolutions },
    { "resizing", test_resize },
    { "a NaN is not lost", test_nan },
    { "infinities and denormals", test_extremes },
    { "tensors of no element, and of one", test_small },
    { "what is refused is named, with its node", test_refusals },
    { "an activation is fused where that is said", test_activation_refused },
    { NULL, NULL },
};

const struct test_suite suite_operators = { "operators", cases };
