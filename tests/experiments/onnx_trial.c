#include "tests/experiments/onnx_trial.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operator.h"
#include "tests/experiments/onnx_written.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

#include "onnx.pb-c.h"

/* ---- the node ---- */

struct op_trial op_trial_begin(const char *op, int64_t opset)
{
    struct op_trial t = { .writer = onnx_writer_new("one", opset), .n_outputs = 1 };

    snprintf(t.name, sizeof t.name, "%s", op);
    onnx_write_node(t.writer, op, "node", "", "");
    return t;
}

/* Appends and returns the name of an input or output. */
static const char *add_name(char ***names, size_t *n, const char *prefix)
{
    char *name = *prefix ? exp_format("%s%zu", prefix, *n) : exp_copy_text("");

    return *(char **)exp_append(names, n, sizeof name) = name;
}

static const char *add_input(struct op_trial *t, const char *prefix)
{
    Onnx__NodeProto *n = onnx_writer_model(t->writer)->graph->node[0];

    return add_name(&n->input, &n->n_input, prefix);
}

void op_trial_input(struct op_trial *t, size_t n_dims, const int64_t *dim)
{
    onnx_write_input(t->writer, add_input(t, "x"), n_dims, dim);
}

void op_trial_constant(struct op_trial *t, size_t n, const int64_t *value)
{
    onnx_write_int64s(t->writer, add_input(t, "c"), n, value);
}

void op_trial_no_input(struct op_trial *t)
{
    add_input(t, "");
}

int op_trial_read(struct op_trial *t, struct onnx_graph **g, struct exp_why *why)
{
    Onnx__NodeProto *n = onnx_writer_model(t->writer)->graph->node[0];

    while (n->n_output < t->n_outputs)
        add_name(&n->output, &n->n_output, "y");
    return onnx_written_read(t->writer, NULL, g, why);
}

/* ---- shapes ---- */

void op_trial_image(int64_t dim[OP_TRIAL_MOST], size_t n_dims)
{
    const bool is_large = !rng_below(4);

    dim[0] = rng_range(1, 2);
    dim[1] = is_large ? rng_range(20, 70) : rng_range(1, 6);
    for (size_t d = 2; d < n_dims; d++)
        dim[d] = is_large && n_dims < 5 ? rng_range(8, 40) : rng_range(1, n_dims < 5 ? 36 : 7);
}

size_t op_trial_shape(int64_t dim[OP_TRIAL_MOST], size_t least, size_t most)
{
    const size_t n = least + rng_below(most - least + 1);

    for (size_t d = 0; d < n; d++)
        dim[d] = rng_below(5) ? rng_range(1, 9) : rng_range(1, 40);
    return n;
}

/* ---- running ---- */

struct memory {
    const void *in[OP_TRIAL_MOST];
    void *out[OP_TRIAL_MOST];
    size_t elements[OP_TRIAL_MOST], bytes[OP_TRIAL_MOST]; /* of outputs */
};

static void fill(float *x, size_t n, enum op_fill how)
{
    if (how == OP_FILL_SMALL_INTS)
        rng_small_ints(x, n, 4);
    else
        rng_floats(x, n);
    for (size_t i = 0; i < n; i++) {
        if (how == OP_FILL_POSITIVE)
            x[i] = 0.5F + fabsf(x[i]);
        else if (how == OP_FILL_WITH_NAN && !rng_below(20))
            x[i] = rng_below(2) ? NAN : rng_below(2) ? INFINITY : -INFINITY;
    }
}

static void open_memory(struct memory *m, const struct onnx_graph *g, const struct op_trial *t)
{
    const struct onnx_node *n = &g->node[0];

    *m = (struct memory){ .in = { NULL } };
    for (size_t i = 0; i < n->n_in && i < OP_TRIAL_MOST; i++) {
        const struct onnx_value *v = onnx_in(g, n, i);
        float *x = v && !v->data ? exp_new(v->elements + 1, sizeof *x) : NULL;

        if (x)
            fill(x, v->elements, t->fill);
        m->in[i] = v && v->data ? v->data : x;
    }
    for (size_t i = 0; i < n->n_out && i < OP_TRIAL_MOST; i++) {
        const struct onnx_value *v = onnx_out(g, n, i);

        m->elements[i] = v->elements;
        m->bytes[i] = v->elements * onnx_type_bytes(v->type);
        m->out[i] = memset(exp_new(m->bytes[i] + 8, 1), 0xfe, m->bytes[i] + 8);
    }
}

static void close_memory(struct memory *m, const struct onnx_graph *g)
{
    for (size_t i = 0; i < OP_TRIAL_MOST; i++) {
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

/* Compares outputs, and the bytes behind the outputs. */
static void compare(const struct op_trial *t, const struct onnx_graph *g, const struct memory *got, void *const *want,
                    const char *what)
{
    for (size_t o = 0; o < g->node[0].n_out && o < OP_TRIAL_MOST; o++) {
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

/* Writes the output over an input: the first input of the output's shape. */
static void run_in_place(const struct op_trial *t, const struct onnx_graph *g, const struct op_call *call,
                         const struct memory *m)
{
    const struct onnx_value *out = onnx_out(g, &g->node[0], 0);
    struct memory again = *m;
    void *copy = NULL;

    for (size_t i = 0; !copy && i < g->node[0].n_in && i < OP_TRIAL_MOST; i++) {
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

static void run_trial(const struct op_trial *t, const struct onnx_graph *g)
{
    const struct op_ask ask = { g, &g->node[0], 1 + (unsigned)rng_below(4), t->activation, NULL };
    struct exp_why why = { "" };
    struct op_call call;
    struct memory m;
    void *want[OP_TRIAL_MOST] = { NULL };

    if (!test_check(!op_prepare(&call, &ask, &why), "%s: %s", t->name, why.text))
        return;
    open_memory(&m, g, t);
    for (size_t i = 0; i < g->node[0].n_out && i < OP_TRIAL_MOST; i++)
        want[i] = exp_new(m.bytes[i] + 8, 1);
    op_reference(&call, &(struct op_tensors){ m.in, want });
    op_run(&call, &(struct op_tensors){ m.in, m.out }, NULL);
    compare(t, g, &m, want, "beside its reference");
    if (call.op->traits & OP_IN_PLACE)
        run_in_place(t, g, &call, &m);
    for (size_t i = 0; i < OP_TRIAL_MOST; i++)
        free(want[i]);
    close_memory(&m, g);
    op_release(&call);
}

/* Reads and runs a case; the reader may refuse an impossible case. Returns whether the case ran. */
static bool end(struct op_trial *t)
{
    struct onnx_graph *g;
    struct exp_why why;
    const bool runs = !op_trial_read(t, &g, &why);

    if (runs && !g->node[0].why_no_shape)
        run_trial(t, g);
    if (runs)
        onnx_free(g);
    return runs;
}

void op_trial_all(struct op_trial (*make)(void), unsigned rounds)
{
    unsigned ran = 0, n = test_rounds(rounds);

    for (unsigned i = 0; i < n; i++) {
        struct op_trial t = make();

        ran += end(&t);
    }
    scratch_clear();
    test_check(2 * ran >= n, "only %u of %u cases ran", ran, n);
}
