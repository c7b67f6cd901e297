/* Random numbers where a file has none: weights, inputs. */
#include "experiments/network/inside.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* Returns a number in [0, 1), and goes on (splitmix64). */
static double next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 40) * 0x1p-24;
}

static void fill(float *x, size_t n, double low, double high, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(low + (high - low) * next(&seed));
}

struct range {
    double low, high;
};

/*
 * Returns a range of weights: sums of this number of products keep the size of the inputs, with or without
 * rectification.
 */
static struct range around_zero(double most)
{
    return (struct range){ -most, most };
}

/* Returns the range of the numbers of a node's input; 0, 0: the input keeps its numbers. */
static struct range range_of(const struct onnx_graph *g, const struct onnx_node *n, size_t in)
{
    const struct onnx_value *v = onnx_in(g, n, in);
    const struct range near_one = { 0.5, 1.5 }, near_zero = { -0.1, 0.1 };

    if (onnx_is(n, "Conv") && v->n_dims > 1)
        return in == 1 ? around_zero(sqrt(6 / ((double)v->elements / (double)v->dim[0]))) : near_zero;
    if (onnx_is(n, "Conv") || (onnx_is(n, "Gemm") && in == 2) || onnx_is(n, "Add") || onnx_is(n, "Sub"))
        return near_zero;
    if ((onnx_is(n, "Gemm") || onnx_is(n, "MatMul")) && v->n_dims == 2)
        return around_zero(sqrt(3 / (double)v->dim[in == 1 && onnx_int(n, "transB", 0) ? 1 : 0]));
    if (onnx_is(n, "BatchNormalization"))
        return in == 1 || in == 4 ? near_one : near_zero;
    return onnx_is(n, "Mul") ? near_one : (struct range){ 0, 0 };
}

/* Tells whether an input of a node will be filled, and from which range. */
static bool is_filled(const struct onnx_graph *g, const struct onnx_node *n, size_t in, struct range *r)
{
    const struct onnx_value *v = onnx_in(g, n, in);

    if (!v || !v->is_filled || v->type != ONNX_FLOAT || v->elements < 2 || n->is_folded)
        return false;
    *r = range_of(g, n, in);
    return r->low < r->high;
}

/* Returns the bytes of all filled constants; SIZE_MAX: out of range. */
static size_t count_bytes(const struct onnx_graph *g)
{
    size_t sum = 0;
    struct range r;

    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t k = 0; k < g->node[i].n_in; k++)
            if (is_filled(g, &g->node[i], k, &r) &&
                __builtin_add_overflow(sum, onnx_in(g, &g->node[i], k)->elements * sizeof(float), &sum))
                return SIZE_MAX;
    return sum;
}

int net_fill_weights(struct onnx_graph *graph, uint64_t seed, struct exp_why *why)
{
    const size_t bytes = count_bytes(graph);
    struct range r;

    assert(graph);
    if (!net_fits_memory(bytes))
        return exp_fail(why, -ENOMEM, "%s: %zu bytes of weights are more than this computer has", graph->path, bytes);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct onnx_node *n = &graph->node[i];

        for (size_t k = 0; k < n->n_in; k++)
            if (is_filled(graph, n, k, &r))
                fill(onnx_make_data(graph, n->in[k]), onnx_in(graph, n, k)->elements, r.low, r.high, seed + n->in[k]);
    }
    return 0;
}

void net_fill_inputs(struct net *net, uint64_t seed)
{
    for (size_t i = 0; i < net->graph->n_inputs; i++) {
        const struct onnx_value *v = &net->graph->value[net->graph->input[i]];

        if (v->type == ONNX_FLOAT)
            fill(net_input(net, i), v->elements, -1, 1, seed + i);
        else
            memset(net_input(net, i), 0, net->tensor[net->graph->input[i]].bytes);
    }
}
