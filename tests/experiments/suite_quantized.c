/*
 * Quantized operators: on random shapes, types, zero points and threads beside convolutions and products of doubles; and
 * faults of a file. Official tests of the operators are in onnx_nodes and network_nodes.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operator.h"
#include "tests/experiments/onnx_written.h"
#include "tests/experiments/toy.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

extern const struct test_suite suite_quantized;

enum { MOST_IN = 9, MOST_DIMS = 5 };

/* An input of the node, as the quantized operator has it, and in floats without its zero point. */
struct operand {
    size_t n_dims, n;
    int64_t dim[MOST_DIMS];
    enum onnx_type type;
    void *data;
    bool is_constant;
};

/* A random node. */
struct trial {
    bool convolves, is_scaled;
    struct operand in[MOST_IN]; /* in the order of QLinearConv; without data: left out */
    int64_t groups, pads[6], strides[3], dilations[3];
    size_t n_axes;
};

enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, BIAS };

static double value(const struct operand *o, size_t i)
{
    switch (o->type) {
    case ONNX_UINT8:
        return ((const uint8_t *)o->data)[i];
    case ONNX_INT8:
        return ((const int8_t *)o->data)[i];
    case ONNX_INT32:
        return ((const int32_t *)o->data)[i];
    default:
        return (double)((const float *)o->data)[i];
    }
}

static void add(struct trial *t, size_t in, enum onnx_type type, size_t n_dims, const int64_t *dim)
{
    struct operand *o = &t->in[in];

    *o = (struct operand){ .n_dims = n_dims, .n = 1, .type = type, .is_constant = rng_below(2) };
    for (size_t d = 0; d < n_dims; d++)
        o->n *= (size_t)(o->dim[d] = dim[d]);
    o->data = exp_new(o->n + 1, onnx_type_bytes(type));
    for (size_t i = 0; i < o->n; i++) {
        if (type == ONNX_FLOAT)
            ((float *)o->data)[i] = (float)(0.01 + 0.1 * rng_unit());
        else if (type == ONNX_INT32)
            ((int32_t *)o->data)[i] = (int32_t)rng_range(-5000, 5000);
        else
            ((uint8_t *)o->data)[i] = (uint8_t)(rng_below(4) ? rng_below(256) : 127 * rng_below(3));
    }
}

static enum onnx_type random_type(void)
{
    return rng_below(2) ? ONNX_UINT8 : ONNX_INT8;
}

/* Adds scales and zero points; n: of filters or columns. */
static void add_scales(struct trial *t, int64_t n)
{
    const int64_t one = 1;

    if (t->is_scaled || rng_below(3))
        add(t, X_ZERO, t->in[X].type, rng_below(2), &one);
    if (t->is_scaled || rng_below(3))
        add(t, W_ZERO, t->in[W].type, 1, rng_below(2) ? &one : &n);
    if (!rng_below(3) && t->in[X_ZERO].data)
        memset(t->in[X_ZERO].data, 0, 1);
    if (!t->is_scaled)
        return;
    add(t, X_SCALE, ONNX_FLOAT, 0, NULL);
    add(t, W_SCALE, ONNX_FLOAT, 1, rng_below(2) ? &one : &n);
    add(t, Y_SCALE, ONNX_FLOAT, 0, NULL);
    add(t, Y_ZERO, random_type(), 0, NULL);
}

static void make_convolution(struct trial *t)
{
    int64_t image[MOST_DIMS], filters[MOST_DIMS];

    t->n_axes = rng_below(6) ? 2 : 1 + 2 * rng_below(2);
    t->groups = rng_below(3) ? 1 : rng_range(2, 4);
    image[0] = rng_range(1, 2);
    filters[1] = rng_below(3) ? rng_range(1, 9) : rng_range(16, 70);
    image[1] = t->groups * filters[1];
    filters[0] = t->groups * (rng_below(3) ? rng_range(1, 20) : rng_range(20, 70));
    for (size_t d = 0; d < t->n_axes; d++) {
        filters[2 + d] = rng_range(1, 3);
        t->dilations[d] = rng_range(1, 2);
        t->strides[d] = rng_range(1, 2);
        image[2 + d] = rng_range(2 * filters[2 + d] - 1, t->n_axes == 3 ? 6 : 14);
        t->pads[d] = rng_below(3) ? rng_range(0, filters[2 + d] - 1) : 0;
        t->pads[d + t->n_axes] = rng_below(3) ? t->pads[d] : 0;
    }
    add(t, X, random_type(), 2 + t->n_axes, image);
    add(t, W, random_type(), 2 + t->n_axes, filters);
    if (t->is_scaled && rng_below(2))
        add(t, BIAS, ONNX_INT32, 1, filters);
    add_scales(t, filters[0]);
}

static void make_product(struct trial *t)
{
    const int64_t batch = rng_range(1, 3), m = rng_range(1, 9), k = rng_range(1, 90), n = rng_range(1, 40);
    const int64_t a[] = { batch, m, k }, b[] = { rng_below(2) ? batch : 1, k, n };
    const size_t left = 1 + rng_below(3), right = 2 + rng_below(2);

    add(t, X, random_type(), left, a + 3 - left);
    add(t, W, random_type(), right, b + 3 - right);
    add_scales(t, n);
}

static const char *op_of_trial(const struct trial *t)
{
    return t->convolves   ? t->is_scaled ? "QLinearConv" : "ConvInteger"
           : t->is_scaled ? "QLinearMatMul"
                          : "MatMulInteger";
}

/* ---- the two nodes: quantized, and of floats ---- */

static void write_attributes(const struct trial *t, struct onnx_writer *w)
{
    if (!t->convolves)
        return;
    onnx_write_int(w, "group", t->groups);
    onnx_write_ints(w, "pads", 2 * t->n_axes, t->pads);
    onnx_write_ints(w, "strides", t->n_axes, t->strides);
    onnx_write_ints(w, "dilations", t->n_axes, t->dilations);
}

static const size_t *order_of(const struct trial *t)
{
    static const size_t scaled[] = { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, BIAS, SIZE_MAX };
    static const size_t whole[] = { X, W, X_ZERO, W_ZERO, SIZE_MAX };

    return t->is_scaled ? scaled : whole;
}

static struct onnx_graph *write_quantized(const struct trial *t)
{
    struct onnx_writer *w = onnx_writer_new("quantized", 21);
    char names[200] = "";

    for (const size_t *at = order_of(t); *at != SIZE_MAX; at++) {
        const struct operand *o = &t->in[*at];
        char name[24];

        snprintf(name, sizeof name, "x%zu", *at);
        exp_say_more(names, sizeof names, "%s%s", at == order_of(t) ? "" : ",", o->data ? name : "");
        if (o->data && o->is_constant)
            onnx_write_constant(w, name, (int32_t)o->type, o->n_dims, o->dim,
                                exp_copy_bytes(o->data, o->n, onnx_type_bytes(o->type)));
        else if (o->data)
            onnx_write_input_of(w, name, (int32_t)o->type, o->n_dims, o->dim);
    }
    onnx_write_node(w, op_of_trial(t), "node", names, "y");
    write_attributes(t, w);
    return onnx_written_as(w, NULL);
}

static struct onnx_graph *write_floats(const struct trial *t)
{
    struct onnx_writer *w = onnx_writer_new("floats", 21);

    onnx_write_input(w, "x", t->in[X].n_dims, t->in[X].dim);
    onnx_write_input(w, "w", t->in[W].n_dims, t->in[W].dim);
    onnx_write_node(w, t->convolves ? "Conv" : "MatMul", "node", "x,w", "y");
    write_attributes(t, w);
    return onnx_written_as(w, NULL);
}

/* Returns an operand's values without the zero points, of the filter or the column of each value. */
static float *values_of(const struct trial *t, size_t in, size_t zero)
{
    const struct operand *o = &t->in[in], *z = &t->in[zero];
    const size_t last = (size_t)o->dim[o->n_dims - 1], each = t->convolves ? o->n / (size_t)o->dim[0] : 1;
    float *x = exp_new(o->n, sizeof *x);

    for (size_t i = 0; i < o->n; i++)
        x[i] = (float)(value(o, i) - (z->data ? value(z, z->n == 1 ? 0 : t->convolves ? i / each : i % last) : 0));
    return x;
}

/* Runs a node of floats by plain loops. Sums of whole numbers below 2^24 are exact. */
static float *run_floats(const struct trial *t, size_t *n)
{
    struct onnx_graph *g = write_floats(t);
    float *x = values_of(t, X, X_ZERO), *w = values_of(t, W, W_ZERO), *y;
    struct exp_why why = { "" };
    struct op_call call;

    *n = onnx_out(g, &g->node[0], 0)->elements;
    y = exp_new(*n + 1, sizeof *y);
    if (test_check(!op_prepare(&call, &(struct op_ask){ .graph = g, .node = &g->node[0] }, &why), "%s", why.text))
        op_reference(&call, &(struct op_tensors){ (const void *[]){ x, w, NULL }, (void *[]){ y } });
    op_release(&call);
    onnx_free(g);
    free(x);
    free(w);
    return y;
}

/* ---- comparing ---- */

/* Returns the expected output for an exact sum, of a filter or column. */
static int32_t expected(const struct trial *t, double sum, size_t f)
{
    const struct operand *ws = &t->in[W_SCALE], *zero = &t->in[Y_ZERO];
    const double low = zero->type == ONNX_INT8 ? -128 : 0;
    float scale;
    double y;

    if (!t->is_scaled)
        return (int32_t)sum;
    scale = (float)value(&t->in[X_SCALE], 0) * (float)value(ws, ws->n == 1 ? 0 : f) / (float)value(&t->in[Y_SCALE], 0);
    y = rint((double)((float)(sum + (t->in[BIAS].data ? value(&t->in[BIAS], f) : 0)) * scale)) + value(zero, 0);
    return (int32_t)fmin(fmax(y, low), low + 255);
}

static void check_outputs(const struct trial *t, const struct onnx_value *out, const void *got, const float *sum,
                          const char *way)
{
    const struct operand y = { .type = out->type, .data = (void *)(uintptr_t)got };
    const size_t last = (size_t)out->dim[out->n_dims - 1], columns = t->in[W].n_dims < 2 ? 1 : last;
    const size_t filters = (size_t)t->in[W].dim[0],
                 plane = t->convolves ? out->elements / (size_t)(out->dim[0] * out->dim[1]) : 1;

    for (size_t i = 0; i < out->elements; i++) {
        const size_t f = t->convolves ? i / plane % filters : i % columns;
        const int32_t want = expected(t, (double)sum[i], f);

        if (!test_check((int32_t)value(&y, i) == want, "%s, %s: element %zu is %d, not %d", op_of_trial(t), way, i,
                        (int)value(&y, i), want))
            return;
    }
}

static void run_trial(const struct trial *t, const struct exp_setup *s)
{
    struct onnx_graph *g = write_quantized(t);
    const struct onnx_value *out = onnx_out(g, &g->node[0], 0);
    struct op_ask ask = { g, &g->node[0], 1 + (unsigned)rng_below(3), SCONV_NO_ACTIVATION, &s->caches };
    const void *in[MOST_IN] = { NULL };
    struct exp_why why = { "" };
    struct op_call call;
    size_t n, n_in = 0;
    float *sum = run_floats(t, &n);

    for (const size_t *at = order_of(t); *at != SIZE_MAX; at++)
        in[n_in++] = t->in[*at].data;
    CU_ASSERT_EQUAL_FATAL(n, out->elements);
    if (test_check(!op_prepare(&call, &ask, &why), "%s", why.text)) {
        const size_t bytes = n * onnx_type_bytes(out->type);
        unsigned char *y = exp_new(bytes + 8, 1);

        memset(y, 0xa5, bytes + 8);
        op_run(&call, &(struct op_tensors){ in, (void *[]){ y } }, NULL);
        check_outputs(t, out, y, sum, "by kernels");
        test_check(y[bytes] == 0xa5 && y[bytes + 7] == 0xa5, "%s writes behind its output", op_of_trial(t));
        op_reference(&call, &(struct op_tensors){ in, (void *[]){ y } });
        check_outputs(t, out, y, sum, "by plain loops");
        free(y);
    }
    op_release(&call);
    onnx_free(g);
    free(sum);
}

static void sums_are_exact(void)
{
    struct exp_setup s = { 0 };

    if (!toy_setup(&s, "", ""))
        return;
    for (unsigned round = 0; round < test_rounds(200); round++) {
        struct trial t = { .convolves = rng_below(4), .is_scaled = rng_below(2) };

        if (t.convolves)
            make_convolution(&t);
        else
            make_product(&t);
        run_trial(&t, &s);
        for (size_t i = 0; i < MOST_IN; i++)
            free(t.in[i].data);
        scratch_clear();
    }
    exp_setup_release(&s);
}

/* ---- elements ---- */

/* Rounding to even, saturation, infinities and NaN, blocks and axes. */
static void elements_round_and_saturate(void)
{
    static const float x[] = { 0.5F, 1.5F, 2.5F, -0.5F, 1e30F, -1e30F, INFINITY, -INFINITY, NAN, 254.5F, 127.4F, -3 };
    static const struct {
        enum onnx_type type;
        int32_t zero, y[COUNT(x)];
    } of[] = {
        { ONNX_UINT8, 0, { 0, 2, 2, 0, 255, 0, 255, 0, 0, 254, 127, 0 } },
        { ONNX_UINT8, 3, { 3, 5, 5, 3, 255, 0, 255, 0, 0, 255, 130, 0 } },
        { ONNX_INT8, -1, { -1, 1, 1, -1, 127, -128, 127, -128, -128, 127, 126, -4 } },
        { ONNX_UINT16, 0, { 0, 2, 2, 0, 65535, 0, 65535, 0, 0, 254, 127, 0 } },
        { ONNX_INT16, 0, { 0, 2, 2, 0, 32767, -32768, 32767, -32768, -32768, 254, 127, -3 } },
    };

    for (size_t k = 0; k < COUNT(of); k++) {
        struct onnx_writer *w = onnx_writer_new("q", 21);
        const size_t bytes = onnx_type_bytes(of[k].type);
        float one = 1;
        struct onnx_graph *g;
        unsigned char y[4 * COUNT(x)];
        struct exp_why why = { "" };
        struct op_call call;

        onnx_write_input(w, "x", DIMS(COUNT(x)));
        onnx_write_floats(w, "s", 0, NULL, exp_copy_bytes(&one, 1, sizeof one));
        onnx_write_constant(w, "z", (int32_t)of[k].type, 0, NULL, exp_copy_bytes(&of[k].zero, 1, sizeof(int32_t)));
        onnx_write_node(w, "QuantizeLinear", "node", "x,s,z", "y");
        g = onnx_written_as(w, NULL);
        CU_ASSERT_FATAL(!op_prepare(&call, &(struct op_ask){ .graph = g, .node = &g->node[0] }, &why));
        for (int way = 0; way < 2; way++) {
            const struct op_tensors t = { (const void *[]){ x, &one, &of[k].zero }, (void *[]){ y } };

            if (way)
                op_reference(&call, &t);
            else
                op_run(&call, &t, NULL);
            for (size_t i = 0; i < COUNT(x); i++)
                test_check(!memcmp(y + i * bytes, &of[k].y[i], bytes), "%s, zero %d, way %d: element %zu",
                           onnx_type_name(of[k].type), of[k].zero, way, i);
        }
        op_release(&call);
        onnx_free(g);
    }
    scratch_clear();
}

/* MaxPool of bytes: fast beside plain loops; windows may lie in padding alone. */
static void check_pooled_bytes(void)
{
    const int64_t dim[4] = { rng_range(1, 2), rng_range(1, 5), rng_range(4, 40), rng_range(4, 40) };
    const int64_t taps = rng_range(1, 3), step = rng_range(1, 3), pad = rng_range(0, taps - 1);
    const size_t n = (size_t)(dim[0] * dim[1] * dim[2] * dim[3]);
    const enum onnx_type type = random_type();
    struct onnx_writer *w = onnx_writer_new("pool", 13);
    uint8_t *x = exp_new(n, 1), *got, *want;
    struct exp_why why = { "" };
    struct onnx_graph *g;
    struct op_call call;

    for (size_t i = 0; i < n; i++)
        x[i] = (uint8_t)rng_below(256);
    onnx_write_input_of(w, "x", (int32_t)type, 4, dim);
    onnx_write_node(w, "MaxPool", "node", "x", "y");
    onnx_write_ints(w, "kernel_shape", DIMS(taps, taps));
    onnx_write_ints(w, "strides", DIMS(step, step));
    onnx_write_ints(w, "pads", DIMS(pad, pad, pad, pad));
    g = onnx_written_as(w, NULL);
    CU_ASSERT_FATAL(!op_prepare(&call, &(struct op_ask){ .graph = g, .node = &g->node[0], .n_threads = 2 }, &why));
    got = exp_new(onnx_out(g, &g->node[0], 0)->elements + 1, 1);
    want = exp_new(onnx_out(g, &g->node[0], 0)->elements + 1, 1);
    op_run(&call, &(struct op_tensors){ (const void *[]){ x }, (void *[]){ got } }, NULL);
    op_reference(&call, &(struct op_tensors){ (const void *[]){ x }, (void *[]){ want } });
    test_check(!memcmp(got, want, onnx_out(g, &g->node[0], 0)->elements), "MaxPool of %s", onnx_type_name(type));
    op_release(&call);
    onnx_free(g);
    free(x);
    free(got);
    free(want);
    scratch_clear();
}

static void bytes_are_pooled(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++)
        check_pooled_bytes();
}

/* A scale for each block of an axis: 2x5 elements, blocks of 2, so 2x3 scales. */
static void blocks_have_their_scales(void)
{
    struct onnx_writer *w = onnx_writer_new("d", 21);
    float scale[] = { 1, 2, 3, 10, 20, 30 };
    const float want[] = { 0, 1, 4, 6, 12, 50, 60, 140, 160, 270 };
    int8_t x[10];
    struct onnx_graph *g;

    for (int i = 0; i < 10; i++)
        x[i] = (int8_t)i;
    onnx_write_constant(w, "x", ONNX_INT8, DIMS(2, 5), exp_copy_bytes(x, 10, 1));
    onnx_write_floats(w, "s", DIMS(2, 3), exp_copy_bytes(scale, 6, sizeof *scale));
    onnx_write_node(w, "DequantizeLinear", "node", "x,s", "y");
    onnx_write_int(w, "axis", 1);
    onnx_write_int(w, "block_size", 2);
    g = onnx_written_as(w, NULL);
    test_check(g->node[0].is_folded, "constants are not folded");
    CU_ASSERT_FATAL(onnx_out(g, &g->node[0], 0)->data != NULL);
    CU_ASSERT(!memcmp(onnx_out(g, &g->node[0], 0)->data, want, sizeof want));
    onnx_free(g);
    scratch_clear();
}

/* ---- faulty files ---- */

struct wrong {
    const char *op, *in; /* a letter an input: see add_letter */
    int64_t axis;
    const char *words;
};

/* Adds an input: constants of a type, and floats of some kinds. */
static void add_letter(struct onnx_writer *w, char letter, size_t i)
{
    const float scale = letter == 'n' ? NAN : letter == 'i' ? INFINITY : letter == '0' ? 0 : 0.5F;
    const enum onnx_type type = letter == 'u' ? ONNX_UINT8 : letter == 's' ? ONNX_INT8 : ONNX_INT32;
    char name[3] = { 'x', (char)('0' + i), '\0' };

    if (letter == 'X' || letter == 'F')
        onnx_write_input_of(w, name, letter == 'X' ? ONNX_UINT8 : ONNX_FLOAT, DIMS(1, 3, 6, 6));
    else if (letter == 'W')
        onnx_write_constant(w, name, ONNX_INT8, DIMS(4, 3, 3, 3), exp_new(108, 1));
    else if (letter == 'L')
        onnx_write_constant(w, name, ONNX_INT8, DIMS(1, 4000, 3, 3), exp_new(36000, 1));
    else if (letter == 'Y')
        onnx_write_input_of(w, name, ONNX_UINT8, DIMS(1, 4000, 6, 6));
    else if (letter == '2' || letter == 'b')
        onnx_write_constant(w, name, letter == 'b' ? ONNX_INT8 : ONNX_FLOAT, DIMS(2), exp_new(2, 4));
    else if (letter == 'u' || letter == 's' || letter == 'w')
        onnx_write_constant(w, name, (int32_t)type, 0, NULL, exp_new(1, 4));
    else
        onnx_write_floats(w, name, 0, NULL, exp_copy_bytes(&scale, 1, sizeof scale));
}

static void check_wrong(const struct wrong *wrong)
{
    struct onnx_writer *w = onnx_writer_new("wrong", 21);
    char names[64] = "";
    struct exp_why why = { "" };
    struct onnx_graph *g = NULL;
    struct op_call call = { 0 };

    for (size_t i = 0; wrong->in[i]; i++) {
        add_letter(w, wrong->in[i], i);
        exp_say_more(names, sizeof names, "%sx%zu", i ? "," : "", i);
    }
    onnx_write_node(w, wrong->op, "node", names, "y");
    if (wrong->axis)
        onnx_write_int(w, "axis", wrong->axis);
    if (!onnx_written_read(w, NULL, &g, &why) &&
        !op_prepare(&call, &(struct op_ask){ .graph = g, .node = &g->node[0] }, &why))
        exp_say(why.text, sizeof why.text, "it runs");
    op_release(&call);
    onnx_free(g);
    test_check(strstr(why.text, ".onnx: node 'node' (") && strstr(why.text, wrong->words), "%s %s: '%s', not '%s'",
               wrong->op, wrong->in, why.text, wrong->words);
    scratch_clear();
}

static void bad_files_are_named(void)
{
    static const struct wrong wrong[] = {
        { "QuantizeLinear", "Fn", 0, "element 0 of its scale 'x1' is nan" },
        { "QuantizeLinear", "Fi", 0, "element 0 of its scale 'x1' is inf" },
        { "QuantizeLinear", "F0", 0, "element 0 of its scale 'x1' is 0" },
        { "QuantizeLinear", "F2", 1, "its scale 'x1' has 2 elements, and its axis 1 has 3" },
        { "QuantizeLinear", "F2", 7, "axis 7 of 4 dimensions" },
        { "QuantizeLinear", "F.b", 0, "its zero point 'x2' has 2 elements, and its scale has 1" },
        { "QuantizeLinear", "Fu", 0, "its scale 'x1' is of type uint8, not float" },
        { "DequantizeLinear", "Xn", 0, "element 0 of its scale 'x1' is nan" },
        { "DequantizeLinear", "X.s", 0, "its zero point 'x2' is of type int8, not uint8" },
        { "ConvInteger", "XWs", 0, "its zero point 'x2' is of type int8, not uint8" },
        { "ConvInteger", "XWub", 0, "its input 'x3' has 2 elements, not 1 or 4 (one a filter)" },
        { "ConvInteger", "FW", 0, "its input 'x0' is of type float, and int8 and uint8 are run" },
        { "ConvInteger", "YL", 0, "sums of 36000 products may exceed 32 bits" },
        { "QLinearConv", "X.uW2s.u", 0, "its input 'x4' has 2 elements, not 1 or 4 (one a filter)" },
        { "QLinearConv", "X.uWis.u", 0, "element 0 of its scale 'x4' is inf" },
        { "QLinearConv", "X.uW.s0u", 0, "element 0 of its scale 'x6' is 0" },
        { "QLinearConv", "X.uW.u.u", 0, "its zero point 'x5' is of type uint8, not int8" },
        { "QLinearConv", "X.uW.s.uu", 0, "its bias 'x8'" },
        { "QLinearConv", "X.uW.s.", 0, "its input 8 is missing" },
    };

    for (size_t i = 0; i < COUNT(wrong); i++)
        check_wrong(&wrong[i]);
}

static const struct test_case cases[] = {
    { "sums of (x - x_zero)(w - w_zero) are exact, and outputs rounded", sums_are_exact },
    { "elements round to even and saturate; NaN is the least", elements_round_and_saturate },
    { "maxima of bytes are those of plain loops", bytes_are_pooled },
    { "blocks have their scales, and constants are folded", blocks_have_their_scales },
    { "scales, zero points and lengths that are wrong are named", bad_files_are_named },
    { NULL, NULL },
};

const struct test_suite suite_quantized = { "quantized", cases };
