#include "experiments/network/net.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "kernels/conv_naive.h"
#include "kernels/shape/sizes.h"

struct check {
    const struct net *net;
    const struct onnx_graph *g;
    void **value; /* of the graph: outputs, kept apart from the network's memory; NULL: not yet */
    struct net_checked *result;
    struct exp_why *why;
};

static size_t bytes_of(const struct check *c, size_t value)
{
    return c->net->tensor[value].bytes;
}

static const struct onnx_value *about(const struct check *c, size_t value)
{
    return &c->g->value[value];
}

/* ---- plain loops ---- */

static const void *get(struct check *c, size_t value);

static const void **collect(struct check *c, const struct onnx_node *n)
{
    const void **in = exp_new(n->n_in + 1, sizeof *in);

    for (size_t i = 0; i < n->n_in; i++)
        in[i] = n->in[i] == ONNX_NONE ? NULL : get(c, n->in[i]);
    return in;
}

static void free_all(void **x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(x[i]);
    free(x);
}

/* Returns memory for each output of a node; NULL for an output that is left out. */
static void **new_outputs(const struct check *c, const struct onnx_node *n)
{
    void **out = exp_new(n->n_out + 1, sizeof *out);

    for (size_t i = 0; i < n->n_out; i++)
        out[i] = n->out[i] == ONNX_NONE ? NULL : exp_new(bytes_of(c, n->out[i]) + 1, 1);
    return out;
}

/* A node prepared for plain loops, with the node's inputs. */
struct plain {
    const struct onnx_node *node;
    struct op_call call;
    const void **in;
};

/* in: the inputs; NULL: the kept values. Returns 0, or -ENOTSUP with a line in why. */
static int open_plain(struct check *c, struct plain *p, size_t node, const void *const *in)
{
    const struct onnx_node *n = &c->g->node[node];
    const struct op_ask ask = { c->g, n, 1, SCONV_NO_ACTIVATION, NULL };
    int err = op_prepare(&p->call, &ask, c->why);

    p->node = n;
    p->in = err ? NULL : in ? exp_copy_bytes(in, n->n_in + 1, sizeof *in) : collect(c, n);
    return err;
}

static void close_plain(struct plain *p)
{
    op_release(&p->call);
    free(p->in);
}

static void **run_plainly(const struct check *c, const struct plain *p)
{
    void **out = new_outputs(c, p->node);

    op_reference(&p->call, &(struct op_tensors){ p->in, out });
    return out;
}

/*
 * Computes a node's first output by plain loops. in: the inputs; NULL: the kept values. Returns memory to be freed;
 * NULL: it failed.
 */
static void *compute(struct check *c, size_t node, const void *const *in)
{
    struct plain p;
    void **out, *first;

    if (open_plain(c, &p, node, in))
        return NULL;
    out = run_plainly(c, &p);
    first = out[0];
    out[0] = NULL;
    free_all(out, p.node->n_out);
    close_plain(&p);
    return first;
}

static void *make_constant(const struct onnx_value *v, size_t bytes)
{
    float *x = exp_new(bytes + 1, 1);

    if (v->data)
        memcpy(x, v->data, bytes);
    for (size_t i = 0; i < v->elements && v->is_filled; i++)
        x[i] = v->fill;
    return x;
}

/* Returns a value that exists before a step: kept, a constant, or without a step of its own, as a view. */
static const void *get(struct check *c, size_t value)
{
    const struct onnx_value *v = about(c, value);

    if (!c->value[value] && onnx_is_constant(v))
        c->value[value] = make_constant(v, bytes_of(c, value));
    else if (!c->value[value] && v->is_input)
        c->value[value] = exp_copy_bytes(net_at(c->net, value), bytes_of(c, value) + !bytes_of(c, value), 1);
    else if (!c->value[value])
        c->value[value] = compute(c, v->producer, NULL);
    return c->value[value];
}

/* ---- comparing ---- */

#define BEYOND_FLOAT 0x1p128 /* the next number after the largest float */

/* Limits a number to the range of floats: every number beyond the largest float counts as one infinity. */
static double as_float(double x)
{
    return fabs(x) >= BEYOND_FLOAT ? copysign(BEYOND_FLOAT, x) : x;
}

/*
 * Returns the error bound of a sum of n_terms terms. magnitude: the sum of the terms' absolute values. factor: the
 * largest factor of the products, because each product may lose the least step of a float times the second factor.
 * If parts of the sum may be too large for a float, the result depends on the order of additions, and any result is
 * right (returns infinity). If infinities are added, only an equal result is right (returns NaN).
 */
static double bound_of(size_t n_terms, double magnitude, double factor, bool has_infinite)
{
    const double least = (double)(n_terms + 1) * (double)FLT_TRUE_MIN * fmax(1, factor);

    if (magnitude <= BEYOND_FLOAT / 2)
        return conv_error_bound(n_terms, magnitude) + least;
    return has_infinite ? (double)NAN : (double)INFINITY;
}

/* An element of a step's output tensor. */
struct element {
    size_t step, tensor, i;
};

static int compare(struct check *c, const struct element *e, double got, double want, double bound)
{
    const struct net_step *s = &c->net->step[e->step];
    const double error = fabs(as_float(got) - as_float(want)) / bound;

    c->result->n_elements++;
    if (got == want || (isnan(got) && isnan(want)) || isinf(bound))
        return 0;
    if (error > c->result->worst) {
        c->result->worst = error;
    }
    if (error <= 1)
        return 0;
    return exp_fail(c->why, -EILSEQ,
                    "%s: node '%s' (%s): element %zu of '%s' is %.9g, plain loops say %.9g (within %.2g)", c->g->path,
                    s->name, s->op, e->i, c->net->tensor[e->tensor].name, got, want, bound);
}

/* ---- convolutions, and the nodes fused behind ---- */

/* A plane of sums, and of the absolute values of all terms. */
struct plane {
    double *sum, *magnitude;
    size_t n, first; /* elements; the first one's index in the tensor */
    size_t channel;
    double largest; /* of the input: an error of a tiny filter grows with the input */
};

static void add(struct plane *p, double x)
{
    for (size_t i = 0; i < p->n; i++) {
        p->sum[i] += x;
        p->magnitude[i] += fabs(x);
    }
}

static void multiply(struct plane *p, double x)
{
    for (size_t i = 0; i < p->n; i++) {
        p->sum[i] *= x;
        p->magnitude[i] *= fabs(x);
    }
}

static void add_tensor(struct plane *p, const float *x)
{
    for (size_t i = 0; i < p->n; i++) {
        p->sum[i] += (double)x[p->first + i];
        p->magnitude[i] += fabs((double)x[p->first + i]);
    }
}

static void clip(struct plane *p, double low, double high)
{
    for (size_t i = 0; i < p->n; i++)
        p->sum[i] = p->sum[i] < low ? low : p->sum[i] > high ? high : p->sum[i];
}

static void normalise(const struct onnx_graph *g, const struct onnx_node *n, struct plane *p)
{
    const size_t k = p->channel;

    add(p, -onnx_element(onnx_in(g, n, 3), k));
    multiply(p, onnx_element(onnx_in(g, n, 1), k) /
                    sqrt(onnx_element(onnx_in(g, n, 4), k) + (double)onnx_float(n, "epsilon", 1e-5f)));
    add(p, onnx_element(onnx_in(g, n, 2), k));
}

static void scale(const struct onnx_node *n, const struct onnx_value *v, struct plane *p)
{
    const double x = onnx_element(v, v->elements == 1 ? 0 : p->channel);

    if (onnx_is(n, "Mul"))
        multiply(p, x);
    else if (onnx_is(n, "Div"))
        multiply(p, 1 / x);
    else
        add(p, onnx_is(n, "Add") ? x : -x);
}

/* Applies a node to a plane of the value `in`. */
static void follow(struct check *c, const struct onnx_node *n, size_t in, struct plane *p)
{
    double low = 0, high = INFINITY;
    size_t other = n->n_in == 2 ? n->in[n->in[0] == in] : ONNX_NONE;

    if (onnx_is(n, "BatchNormalization")) {
        normalise(c->g, n, p);
    } else if (onnx_is(n, "Relu") || onnx_is(n, "Clip")) {
        if (onnx_is(n, "Clip") && onnx_number(c->g, n, "max", 2, INFINITY, &high))
            high = NAN;
        clip(p, low, high);
    } else if (other != ONNX_NONE && onnx_is_constant(about(c, other))) {
        scale(n, about(c, other), p);
    } else if (other != ONNX_NONE && !onnx_is(n, "Dropout")) {
        add_tensor(p, get(c, other));
    }
}

/* Returns the place of the convolution among a step's nodes: 0, or 1 behind a Pad. */
static size_t find_conv(const struct check *c, const struct net_step *s)
{
    return onnx_is(&c->g->node[s->node[0]], "Conv") ? 0 : 1;
}

static int compare_plane(struct check *c, size_t step, const struct plane *p, size_t n_terms)
{
    struct element e = { step, c->net->step[step].out[0], p->first };
    const float *out = net_at(c->net, e.tensor);
    int err = 0;

    for (size_t i = 0; i < p->n && !err; i++, e.i++)
        err = compare(c, &e, (double)out[e.i], p->sum[i],
                      bound_of(n_terms, p->magnitude[i], p->largest, !isfinite(p->magnitude[i])));
    return err;
}

static int check_conv(struct check *c, size_t step)
{
    const struct net_step *s = &c->net->step[step];
    const size_t at = find_conv(c, s);
    const struct onnx_node *n = &c->g->node[s->node[at]];
    const struct conv_problem *shape = &s->conv->plan.problem;
    const float *in = get(c, s->in[0]), *filter = get(c, n->in[1]);
    const struct onnx_value *bias = onnx_in(c->g, n, 2);
    struct plane p = { .n = conv_windows(shape), .largest = op_largest(in, about(c, s->in[0])->elements) };
    int err = 0;

    p.sum = exp_new(p.n, sizeof *p.sum);
    p.magnitude = exp_new(p.n, sizeof *p.magnitude);
    for (size_t i = 0; i < shape->n * shape->k && !err; i++) {
        p.channel = i % shape->k;
        p.first = i * p.n;
        conv_naive_plane(shape, in, filter, i / shape->k, p.channel, p.sum, p.magnitude);
        if (bias)
            add(&p, onnx_element(bias, p.channel));
        for (size_t k = at + 1; k < s->n_nodes; k++)
            follow(c, &c->g->node[s->node[k]], c->g->node[s->node[k - 1]].out[0], &p);
        err = compare_plane(c, step, &p, conv_reduction(shape) + 4 * s->n_nodes);
    }
    free(p.sum);
    free(p.magnitude);
    return err;
}

/* ---- operators ---- */

/*
 * Runs the step's nodes behind the first node, whose output is x; frees x. Returns the last node's output, to be freed;
 * NULL: a node failed.
 */
static void *follow_up(struct check *c, const struct net_step *s, void *x)
{
    for (size_t i = 1; i < s->n_nodes && x; i++) {
        const struct onnx_node *n = &c->g->node[s->node[i]];
        const void **in = exp_new(n->n_in + 1, sizeof *in);
        void *before = x;

        for (size_t k = 1; k < n->n_in; k++)
            in[k] = n->in[k] == ONNX_NONE ? NULL : get(c, n->in[k]);
        in[0] = before;
        x = compute(c, s->node[i], in);
        free(before);
        free(in);
    }
    return x;
}

static bool is_float(const struct check *c, size_t tensor)
{
    return tensor != ONNX_NONE && about(c, tensor)->type == ONNX_FLOAT;
}

/* Returns the magnitudes of a node's outputs, to be freed: the error of each element is bounded by its magnitude. */
static void **find_magnitudes(const struct check *c, const struct plain *p, void *const *want)
{
    void **magnitude = new_outputs(c, p->node);

    for (size_t k = 0; k < p->node->n_out; k++) {
        const size_t n = is_float(c, p->node->out[k]) ? about(c, p->node->out[k])->elements : 0;
        const float most = n ? (float)op_largest(want[k], n) : 0;

        for (size_t i = 0; i < n; i++)
            ((float *)magnitude[k])[i] = most;
    }
    if (p->call.op->magnitudes && is_float(c, p->node->out[0]))
        p->call.op->magnitudes(&p->call, &(struct op_tensors){ p->in, magnitude });
    return magnitude;
}

/*
 * Returns an upper bound on the number of terms of an element of an operator's output: the length of an axis, or of all
 * axes.
 */
static size_t count_terms(const struct check *c, const struct onnx_node *n)
{
    enum { OTHERS = 64 }; /* allowance for errors beside errors of sums */
    const struct onnx_value *in = onnx_in(c->g, n, 0), *by = onnx_in(c->g, n, 1), *out = onnx_out(c->g, n, 0);
    size_t terms = in && out->elements ? ceil_div(in->elements, out->elements) : 1;

    for (size_t i = 0; in && i < in->n_dims && (onnx_is(n, "Gemm") || onnx_is(n, "MatMul")); i++)
        terms = max_size(terms, (size_t)in->dim[i]);
    if (by && (onnx_is(n, "Conv") || onnx_is(n, "ConvTranspose")))
        terms = max_size(terms, by->elements / (size_t)by->dim[onnx_is(n, "Conv") ? 0 : 1]);
    return max_size(terms, n->n_in) + OTHERS;
}

static bool has_infinite_input(const struct check *c, const struct plain *p)
{
    for (size_t i = 0; i < p->node->n_in; i++) {
        const size_t n = is_float(c, p->node->in[i]) ? about(c, p->node->in[i])->elements : 0;

        for (size_t k = 0; k < n; k++) {
            if (!isfinite(((const float *)p->in[i])[k]))
                return true;
        }
    }
    return false;
}

/* Compares output k of a step. */
static int compare_output(struct check *c, size_t step, size_t k, const void *want, const float *magnitude,
                          bool has_infinite)
{
    const struct net_step *s = &c->net->step[step];
    struct element e = { step, s->out[k], 0 };
    const void *got = net_at(c->net, e.tensor);
    const size_t n_terms = count_terms(c, &c->g->node[s->node[0]]);
    int err = 0;

    if (!is_float(c, e.tensor) && memcmp(want, got, bytes_of(c, e.tensor)) != 0)
        return exp_fail(c->why, -EILSEQ, "%s: node '%s' (%s): '%s' is not what plain loops make of it", c->g->path,
                        s->name, s->op, c->net->tensor[e.tensor].name);
    for (; is_float(c, e.tensor) && e.i < about(c, e.tensor)->elements && !err; e.i++)
        err = compare(c, &e, (double)((const float *)got)[e.i], (double)((const float *)want)[e.i],
                      bound_of(n_terms, (double)magnitude[e.i], 1, has_infinite));
    return err;
}

static int check_operator(struct check *c, size_t step)
{
    const struct net_step *s = &c->net->step[step];
    struct plain p;
    void **want, **magnitude;
    int err = open_plain(c, &p, s->node[0], NULL);

    if (err)
        return err;
    want = run_plainly(c, &p);
    magnitude = find_magnitudes(c, &p, want);
    want[0] = follow_up(c, s, want[0]);
    if (!want[0])
        err = -ENOTSUP;
    for (size_t k = 0; k < s->n_out && !err; k++)
        err = s->out[k] == ONNX_NONE ? 0 : compare_output(c, step, k, want[k], magnitude[k], has_infinite_input(c, &p));
    free_all(want, p.node->n_out);
    free_all(magnitude, p.node->n_out);
    close_plain(&p);
    return err;
}

/* ---- steps ---- */

/* Tells whether a needed value is unchanged in memory. */
static int find_intact(struct check *c, size_t value, const char *who)
{
    if (value == ONNX_NONE || !memcmp(net_at(c->net, value), get(c, value), bytes_of(c, value)))
        return 0;
    return exp_fail(c->why, -EILSEQ, "%s: '%s' was overwritten before %s read it", c->g->path,
                    c->net->tensor[value].name, who);
}

static void keep_outputs(struct check *c, const struct net_step *s)
{
    for (size_t i = 0; i < s->n_out; i++)
        if (s->out[i] != ONNX_NONE)
            c->value[s->out[i]] =
                exp_copy_bytes(net_at(c->net, s->out[i]), bytes_of(c, s->out[i]) + !bytes_of(c, s->out[i]), 1);
}

static int check_step(struct check *c, size_t step)
{
    const struct net_step *s = &c->net->step[step];
    int err = 0;

    for (size_t i = 0; i < s->n_in && !err; i++)
        err = find_intact(c, s->in[i], s->name);
    if (!err)
        err = net_run_step(c->net, step, c->why);
    if (!err)
        err = s->conv ? check_conv(c, step) : check_operator(c, step);
    keep_outputs(c, s);
    c->result->n_steps++;
    return err;
}

int net_check(const struct net *net, struct net_checked *checked, struct exp_why *why)
{
    struct check c = { .net = net, .g = net->graph, .result = checked, .why = why };
    int err = 0;

    assert(net->team && checked);
    *checked = (struct net_checked){ 0 };
    c.value = exp_new(net->graph->n_values, sizeof *c.value);
    for (size_t i = 0; i < net->graph->n_inputs; i++)
        get(&c, net->graph->input[i]);
    for (size_t i = 0; i < net->n_steps && !err; i++)
        err = check_step(&c, i);
    for (size_t i = 0; i < net->graph->n_outputs && !err; i++)
        err = find_intact(&c, net->graph->output[i], "the user");
    for (size_t i = 0; i < net->graph->n_values; i++)
        free(c.value[i]);
    free(c.value);
    return err;
}
