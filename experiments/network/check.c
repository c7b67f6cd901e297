#include "experiments/network/net.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/conv_naive.h"
#include "kernels/shape/sizes.h"

struct check {
    const struct net *net;
    const struct onnx_graph *g;
    void **value; /* of the graph: what was made, kept apart from the network's memory; NULL: not yet */
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

/* Has plain loops compute a node's first output; in: NULL: of the kept values. Returns it, to be freed; or NULL. */
static void *compute(struct check *c, size_t node, const void *const *in)
{
    const struct onnx_node *n = &c->g->node[node];
    const struct op_ask ask = { c->g, n, 1, SCONV_NO_ACTIVATION };
    struct op_call call;
    const void **own = in ? NULL : collect(c, n);
    void **out = exp_new(n->n_out, sizeof *out), *first;

    first = out[0] = exp_new(bytes_of(c, n->out[0]) + 1, 1);
    if (!op_prepare(&call, &ask, c->why)) {
        op_reference(&call, &(struct op_tensors){ in ? in : own, out });
        op_release(&call);
    } else {
        free(first);
        first = NULL;
    }
    free(own);
    free(out);
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

/* Returns a value that is there before a step: kept, a constant, or one that no step makes, such as a view. */
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

static int compare(struct check *c, size_t step, size_t i, double got, double want, double bound)
{
    const struct net_step *s = &c->net->step[step];
    double error = fabs(got - want) / bound;

    c->result->n_elements++;
    if (got == want || (isnan(got) && isnan(want)))
        return 0;
    if (error > c->result->worst) {
        c->result->worst = error;
        c->result->worst_step = step;
    }
    if (error <= 1)
        return 0;
    return exp_fail(c->why, -EILSEQ,
                    "%s: node '%s' (%s): element %zu of '%s' is %.9g, plain loops say %.9g (within %.2g)", c->g->path,
                    s->name, s->op, i, c->net->tensor[s->out[0]].name, got, want, bound);
}

/* ---- convolutions, and what is fused behind ---- */

/* A plane of sums, and of the absolute values of all that was added. */
struct plane {
    double *sum, *magnitude;
    size_t n, first; /* elements; the first one's index in the tensor */
    size_t channel;
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

/* Does a node to a plane of its input, which is the value `in`. */
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
    const float *out = net_at(c->net, c->net->step[step].out[0]);
    int err = 0;

    for (size_t i = 0; i < p->n && !err; i++)
        err = compare(c, step, p->first + i, (double)out[p->first + i], p->sum[i],
                      conv_error_bound(n_terms, p->magnitude[i]));
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
    struct plane p = { .n = conv_windows(shape) };
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

/* Computes a step's nodes one after the other. Returns the last one's output, to be freed; NULL. */
static float *compute_step(struct check *c, const struct net_step *s)
{
    void *x = compute(c, s->node[0], NULL);

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

static bool sums_products(const struct net_step *s)
{
    return !strcmp(s->op, "Gemm") || !strcmp(s->op, "MatMul");
}

static float *absolute(const float *x, size_t n)
{
    float *to = exp_new(n + 1, sizeof *to);

    for (size_t i = 0; i < n; i++)
        to[i] = fabsf(x[i]);
    return to;
}

/* Returns the sums of absolute products of a matrix product, to be freed. */
static float *find_magnitudes(struct check *c, const struct net_step *s)
{
    const struct onnx_node *n = &c->g->node[s->node[0]];
    const void **in = exp_new(n->n_in + 1, sizeof *in);
    float *magnitude;

    for (size_t i = 0; i < n->n_in; i++)
        in[i] = n->in[i] == ONNX_NONE ? NULL : absolute(get(c, n->in[i]), about(c, n->in[i])->elements);
    magnitude = compute(c, s->node[0], in);
    for (size_t i = 0; i < n->n_in; i++)
        free((void *)(uintptr_t)in[i]);
    free(in);
    return magnitude;
}

static double largest(const float *x, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = isfinite(x[i]) && fabs((double)x[i]) > most ? fabs((double)x[i]) : most;
    return most;
}

/* Returns how many terms an element of an operator's output has, at most. */
static size_t count_terms(const struct check *c, const struct net_step *s)
{
    const struct onnx_value *in = onnx_in(c->g, &c->g->node[s->node[0]], 0), *out = about(c, s->out[0]);
    size_t n = in && out->elements ? ceil_div(in->elements, out->elements) : 1;

    for (size_t i = 0; in && i < in->n_dims && sums_products(s); i++)
        n = max_size(n, (size_t)in->dim[i]);
    return n + 64;
}

static int compare_floats(struct check *c, size_t step, const float *want)
{
    const struct net_step *s = &c->net->step[step];
    const size_t n = about(c, s->out[0])->elements, n_terms = count_terms(c, s);
    const float *got = net_at(c->net, s->out[0]);
    float *magnitude = sums_products(s) ? find_magnitudes(c, s) : NULL;
    const double most = largest(want, n);
    int err = 0;

    for (size_t i = 0; i < n && !err; i++)
        err = compare(c, step, i, (double)got[i], (double)want[i],
                      conv_error_bound(n_terms, magnitude ? (double)magnitude[i] : most));
    free(magnitude);
    return err;
}

static int check_operator(struct check *c, size_t step)
{
    const struct net_step *s = &c->net->step[step];
    float *want;
    int err = 0;

    if (s->out[0] == ONNX_NONE)
        return 0;
    want = compute_step(c, s);
    if (!want)
        return -ENOTSUP;
    if (about(c, s->out[0])->type == ONNX_FLOAT)
        err = compare_floats(c, step, want);
    else if (memcmp(want, net_at(c->net, s->out[0]), bytes_of(c, s->out[0])) != 0)
        err = exp_fail(c->why, -EILSEQ, "%s: node '%s' (%s): '%s' is not what plain loops make of it", c->g->path,
                       s->name, s->op, c->net->tensor[s->out[0]].name);
    free(want);
    return err;
}

/* ---- steps ---- */

/* Tells whether a value that somebody needs now is in memory as it was made. */
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
