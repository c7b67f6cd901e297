/* The fuzz target of networks. */
#include <stdio.h>
#include <string.h>

#include "experiments/onnx/graph.h"
#include "tests/fuzz_files.h"
#include "tests/fuzz_targets.h"

static uint64_t sum_of(const uint8_t *bytes, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += bytes[i];
    return sum;
}

/* Reads every byte of a constant: sanitizers find bytes outside. */
static bool value_holds(const struct onnx_value *v)
{
    size_t n = 1;

    for (size_t i = 0; i < v->n_dims; i++)
        n *= (size_t)v->dim[i];
    if (v->has_shape && n != v->elements)
        return fuzz_complain("a value has another size than its shape", v->name);
    if (v->data && (v->bytes != v->elements * onnx_type_bytes(v->type) || (uintptr_t)v->data % 16))
        return fuzz_complain("the data of a constant do not fit", v->name);
    return !v->data || sum_of(v->data, v->bytes) <= UINT64_C(255) * v->bytes;
}

static bool node_holds(const struct onnx_graph *g, size_t i)
{
    const struct onnx_node *n = &g->node[i];
    struct conv_problem p;
    struct exp_why why;
    bool has_shapes = true, has_outputs = false;

    for (size_t k = 0; k < n->n_in; k++) {
        const struct onnx_value *v = onnx_in(g, n, k);

        if (v && v->producer != ONNX_NONE && v->producer >= i)
            return fuzz_complain("a node stands before one that it needs", n->name);
    }
    for (size_t k = 0; k < n->n_out; k++) {
        has_outputs = has_outputs || onnx_out(g, n, k);
        has_shapes = has_shapes && (!onnx_out(g, n, k) || onnx_out(g, n, k)->has_shape);
    }
    if (has_outputs && has_shapes == !!n->why_no_shape)
        return fuzz_complain("a node without a shape says no reason, or one with shapes does", n->name);
    return onnx_conv_problem(g, n, &p, &why) == 0 || (*why.text && !strchr(why.text, '\n')) ||
           fuzz_complain("a node that is no convolution says no reason", n->name);
}

static bool graph_holds(const struct onnx_graph *g)
{
    bool holds = true;

    for (size_t i = 0; i < g->n_values && holds; i++)
        holds = value_holds(&g->value[i]);
    for (size_t i = 0; i < g->n_nodes && holds; i++)
        holds = node_holds(g, i);
    return holds;
}

bool fuzz_onnx(const uint8_t *data, size_t size)
{
    static const struct onnx_ask asks[] = { { .batch = 0 }, { .batch = 3, .links = true }, { .input = "2x7x7" } };
    FILE *f = fuzz_file(data, size);
    struct onnx_graph *g;
    struct exp_why why = { "" };
    char path[64];
    bool holds;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(f));
    holds = onnx_read(&g, path, &asks[size % (sizeof asks / sizeof asks[0])], &why)
                ? fuzz_is_message(why.text, path) || fuzz_complain("not a message", why.text)
                : graph_holds(g);
    onnx_free(g);
    fclose(f);
    return holds;
}
