#include "tests/experiments/network_graph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/onnx/graph.h"
#include "tests/rng.h"

/* ---- building ---- */

static void *own(struct network_graph *g, void *memory)
{
    return g->owned[g->n_owned++] = memory;
}

static size_t add_value(struct network_graph *g, const int64_t *dim, size_t n_dims, enum onnx_type type)
{
    struct onnx_value *v = &g->value[g->n_values];

    *v = (struct onnx_value){ .name = own(g, exp_format("v%zu", g->n_values)), .type = type, .stored = type };
    v->n_dims = n_dims;
    v->has_shape = dim != NULL;
    v->elements = 1;
    v->producer = ONNX_NONE;
    for (size_t i = 0; i < n_dims; i++)
        v->elements *= (size_t)(v->dim[i] = dim[i]);
    return g->n_values++;
}

size_t network_input(struct network_graph *g, const int64_t *dim, size_t n_dims)
{
    size_t v = add_value(g, dim, n_dims, ONNX_FLOAT);

    g->value[v].is_input = true;
    return g->input[g->n_inputs++] = v;
}

static void set_data(struct network_graph *g, size_t v, void *data)
{
    g->value[v].data = own(g, data);
    g->value[v].bytes = g->value[v].elements * onnx_type_bytes(g->value[v].type);
}

size_t network_weights(struct network_graph *g, const int64_t *dim, size_t n_dims, double low, double high)
{
    size_t v = add_value(g, dim, n_dims, ONNX_FLOAT);
    float *x = exp_new(g->value[v].elements + 1, sizeof *x);

    for (size_t i = 0; i < g->value[v].elements; i++)
        x[i] = (float)(low + (high - low) * rng_unit());
    set_data(g, v, x);
    return v;
}

size_t network_ints(struct network_graph *g, const int64_t *x, size_t n)
{
    size_t v = add_value(g, (const int64_t[]){ (int64_t)n }, 1, ONNX_INT64);

    set_data(g, v, exp_copy_bytes(x, n, sizeof *x));
    return v;
}

size_t network_float(struct network_graph *g, float x)
{
    size_t v = add_value(g, (const int64_t[]){ 0 }, 0, ONNX_FLOAT);

    g->value[v].has_shape = true;
    set_data(g, v, exp_copy_bytes(&x, 1, sizeof x));
    return v;
}

static const struct onnx_attribute *copy_attributes(struct network_graph *g, const struct onnx_attribute *a, size_t *n)
{
    struct onnx_attribute *copy;

    for (*n = 0; a && a[*n].name;)
        ++*n;
    if (!*n)
        return NULL;
    copy = own(g, exp_copy_bytes(a, *n, sizeof *a));
    for (size_t i = 0; i < *n; i++)
        if (copy[i].ints)
            copy[i].ints = own(g, exp_copy_bytes(copy[i].ints, copy[i].n, sizeof *copy[i].ints));
    return copy;
}

size_t network_node(struct network_graph *g, const char *op, const size_t *inputs,
                    const struct onnx_attribute *attributes)
{
    return network_node_of(g, op, 1, inputs, attributes);
}

size_t network_node_of(struct network_graph *g, const char *op, size_t n_out, const size_t *inputs,
                       const struct onnx_attribute *attributes)
{
    struct onnx_node *n = &g->node[g->n_nodes];
    size_t *out = own(g, exp_new(n_out, sizeof *out));

    *n = (struct onnx_node){ .name = own(g, exp_format("n%zu", g->n_nodes)), .op = op, .domain = "", .n_out = n_out };
    while (inputs[n->n_in] != ONNX_NONE)
        n->n_in++;
    n->in = own(g, exp_copy_bytes(inputs, n->n_in + 1, sizeof *inputs));
    n->out = out;
    n->attribute = copy_attributes(g, attributes, &n->n_attributes);
    for (size_t i = 0; i < n_out; i++) {
        out[i] = add_value(g, NULL, 0, ONNX_FLOAT);
        g->value[out[i]].producer = g->n_nodes;
    }
    g->n_nodes++;
    return out[0];
}

void network_output(struct network_graph *g, size_t value)
{
    if (g->value[value].is_output || g->n_outputs == NETWORK_MOST_ENDS)
        return;
    g->value[value].is_output = true;
    g->output[g->n_outputs++] = value;
}

static int write_file(const char *path, const struct onnx_bytes *b)
{
    FILE *f = fopen(path, "wb");

    if (!f)
        return -errno;
    fwrite(b->data, 1, b->bytes, f);
    return fclose(f) ? -EIO : 0;
}

int network_finish(struct network_graph *g, struct onnx_graph **read, struct exp_why *why)
{
    const struct onnx_graph graph = {
        .path = "test",
        .name = "test",
        .opset = g->opset,
        .ir_version = 8,
        .value = g->value,
        .n_values = g->n_values,
        .node = g->node,
        .n_nodes = g->n_nodes,
        .input = g->input,
        .output = g->output,
        .n_inputs = g->n_inputs,
        .n_outputs = g->n_outputs,
    };
    char path[] = "/tmp/network_XXXXXX";
    struct onnx_bytes b = { 0 };
    int file = mkstemp(path);
    int err = file < 0 ? -errno : onnx_write(&b, &graph, &(struct onnx_outputs){ g->output, g->n_outputs }, why);

    if (file >= 0)
        close(file);
    if (!err)
        err = write_file(path, &b);
    if (!err)
        err = onnx_read(read, path, &(struct onnx_ask){ 0 }, why);
    unlink(path);
    free(b.data);
    for (size_t i = 0; i < g->n_owned; i++)
        free(g->owned[i]);
    g->n_owned = 0;
    return err;
}

/* ---- random networks ---- */

/* A value of the network, and the value's shape, needed by the builder. */
struct map {
    size_t value;
    int64_t c, h, w;
};

struct random_net {
    struct network_graph g;
    struct map map[NETWORK_MOST_NODES];
    size_t n;
    int64_t batch;
};

static struct map any(const struct random_net *r)
{
    return r->map[rng_below(3) ? r->n - 1 : rng_below(r->n)];
}

static void add_map(struct random_net *r, size_t value, int64_t c, int64_t h, int64_t w)
{
    r->map[r->n++] = (struct map){ value, c, h, w };
}

static void add_like(struct random_net *r, struct map m, size_t value)
{
    add_map(r, value, m.c, m.h, m.w);
}

static size_t channel_weights(struct random_net *r, int64_t c, double low, double high)
{
    return network_weights(&r->g, &c, 1, low, high);
}

static int64_t out_size(int64_t in, int64_t kernel, int64_t stride, int64_t pads, int64_t dilation)
{
    int64_t span = (kernel - 1) * dilation + 1;

    return in + pads < span ? 0 : (in + pads - span) / stride + 1;
}

static int64_t random_groups(int64_t c)
{
    return rng_below(3) ? 1 : rng_below(2) ? c : c % 2 ? 1 : 2;
}

static void add_conv(struct random_net *r)
{
    const struct map m = any(r);
    const int64_t k = rng_range(0, 2) * 2 + 1, stride = rng_range(1, 2), dilation = rng_below(4) ? 1 : 2;
    const int64_t before = rng_range(0, k / 2), after = rng_range(0, k / 2), groups = random_groups(m.c);
    const int64_t filters = groups * rng_range(1, groups > 2 ? 2 : 20), each = m.c / groups;
    const int64_t h = out_size(m.h, k, stride, before + after, dilation),
                  w = out_size(m.w, k, stride, 2 * before, dilation);
    const double most = 1.5 / (double)(each * k * k);
    size_t in[4] = { m.value, 0, ONNX_NONE, ONNX_NONE };

    if (h < 1 || w < 1)
        return;
    in[1] = network_weights(&r->g, (const int64_t[]){ filters, each, k, k }, 4, -most, most);
    if (rng_below(2))
        in[2] = channel_weights(r, filters, -1, 1);
    add_map(r,
            network_node(&r->g, "Conv", in,
                         NETWORK_ATTRIBUTES(NETWORK_INTS("strides", 2, stride, stride), NETWORK_INT("group", groups),
                                            NETWORK_INTS("pads", 4, before, before, after, before),
                                            NETWORK_INTS("dilations", 2, dilation, dilation))),
            filters, h, w);
}

/* A convolution that pads itself, with an even kernel as well. */
static void add_same_conv(struct random_net *r)
{
    static const char *const ways[] = { "SAME_UPPER", "SAME_LOWER" };
    const struct map m = any(r);
    const int64_t kh = rng_range(1, 4), kw = rng_range(1, 4), stride = rng_range(1, 3), filters = rng_range(1, 20);
    const double most = 1.5 / (double)(m.c * kh * kw);
    const size_t weights = network_weights(&r->g, (const int64_t[]){ filters, m.c, kh, kw }, 4, -most, most);

    add_map(r,
            network_node(&r->g, "Conv", NETWORK_IN(m.value, weights),
                         NETWORK_ATTRIBUTES(NETWORK_TEXT("auto_pad", ways[rng_below(2)]),
                                            NETWORK_INTS("strides", 2, stride, stride))),
            filters, (m.h + stride - 1) / stride, (m.w + stride - 1) / stride);
}

static void add_bnorm(struct random_net *r)
{
    const struct map m = any(r);
    const size_t scale = channel_weights(r, m.c, 0.5, 1.5), shift = channel_weights(r, m.c, -1, 1),
                 mean = channel_weights(r, m.c, -1, 1), variance = channel_weights(r, m.c, 0.5, 1.5);

    add_like(r, m, network_node(&r->g, "BatchNormalization", NETWORK_IN(m.value, scale, shift, mean, variance), NULL));
}

static void add_clip(struct random_net *r)
{
    const struct map m = any(r);
    const float low = rng_below(2) ? 0 : -0.5f, high = rng_below(2) ? 6 : 0.5f;

    if (r->g.opset < 11)
        add_like(r, m,
                 network_node(&r->g, "Clip", NETWORK_IN(m.value),
                              NETWORK_ATTRIBUTES(NETWORK_FLOAT("min", low), NETWORK_FLOAT("max", high))));
    else
        add_like(r, m,
                 network_node(&r->g, "Clip", NETWORK_IN(m.value, network_float(&r->g, low), network_float(&r->g, high)),
                              NULL));
}

static void add_plain(struct random_net *r)
{
    static const char *const ops[] = { "Relu", "Relu", "Relu", "Sigmoid", "Identity", "Dropout", "Tanh", "LeakyRelu" };
    const struct map m = any(r);

    add_like(r, m, network_node(&r->g, ops[rng_below(sizeof ops / sizeof ops[0])], NETWORK_IN(m.value), NULL));
}

static void add_sum(struct random_net *r)
{
    const struct map m = any(r), o = any(r);

    if (m.c == o.c && m.h == o.h && m.w == o.w)
        add_like(r, m, network_node(&r->g, rng_below(4) ? "Add" : "Mul", NETWORK_IN(m.value, o.value), NULL));
}

static void add_by_channel(struct random_net *r)
{
    static const char *const ops[] = { "Mul", "Add", "Sub", "Div" };
    const struct map m = any(r);
    const char *op = ops[rng_below(4)];
    const int64_t dim[4] = { 1, m.c, 1, 1 };
    const size_t from = rng_below(2), weights = network_weights(&r->g, dim + from, 4 - from, 0.5, 1.5);
    const bool first = (*op == 'M' || *op == 'A') && rng_below(2);

    add_like(r, m, network_node(&r->g, op, first ? NETWORK_IN(weights, m.value) : NETWORK_IN(m.value, weights), NULL));
}

static void add_pool(struct random_net *r)
{
    static const char *const ops[] = { "MaxPool", "AveragePool" };
    const struct map m = any(r);
    const int64_t k = rng_range(2, 3), stride = rng_range(1, 2), pad = rng_range(0, 1);
    const int64_t h = out_size(m.h, k, stride, 2 * pad, 1), w = out_size(m.w, k, stride, 2 * pad, 1);

    if (h < 1 || w < 1)
        return;
    add_map(r,
            network_node(&r->g, ops[rng_below(2)], NETWORK_IN(m.value),
                         NETWORK_ATTRIBUTES(NETWORK_INTS("kernel_shape", 2, k, k),
                                            NETWORK_INTS("strides", 2, stride, stride),
                                            NETWORK_INTS("pads", 4, pad, pad, pad, pad))),
            m.c, h, w);
}

/* Rounds up; a window that begins behind the input and the padding does not count. */
static int64_t ceil_size(int64_t in, int64_t kernel, int64_t stride, int64_t pad)
{
    const int64_t out = (in + 2 * pad - kernel + stride - 1) / stride + 1;

    return in + 2 * pad < kernel ? 0 : (out - 1) * stride >= in + pad ? out - 1 : out;
}

static void add_ceil_pool(struct random_net *r)
{
    const struct map m = any(r);
    const int64_t k = rng_range(2, 4), stride = rng_range(1, 3), pad = rng_range(0, 1);
    const int64_t h = ceil_size(m.h, k, stride, pad), w = ceil_size(m.w, k, stride, pad);

    if (h < 1 || w < 1 || r->g.opset < 10)
        return;
    add_map(r,
            network_node(&r->g, "MaxPool", NETWORK_IN(m.value),
                         NETWORK_ATTRIBUTES(NETWORK_INTS("kernel_shape", 2, k, k),
                                            NETWORK_INTS("strides", 2, stride, stride),
                                            NETWORK_INTS("pads", 4, pad, pad, pad, pad), NETWORK_INT("ceil_mode", 1))),
            m.c, h, w);
}

static void add_transpose(struct random_net *r)
{
    const struct map m = any(r);

    add_map(
        r,
        network_node(&r->g, "Transpose", NETWORK_IN(m.value), NETWORK_ATTRIBUTES(NETWORK_INTS("perm", 4, 0, 1, 3, 2))),
        m.c, m.w, m.h);
}

static void add_reshape(struct random_net *r)
{
    const struct map m = any(r);
    const int64_t shape[4] = { r->batch, m.c, m.h * m.w, 1 };

    add_map(r, network_node(&r->g, "Reshape", NETWORK_IN(m.value, network_ints(&r->g, shape, 4)), NULL), m.c, m.h * m.w,
            1);
}

/* Squeeze-and-excite: a factor for each channel and image. */
static void add_excite(struct random_net *r)
{
    const struct map m = any(r);
    size_t x = network_node(&r->g, "GlobalAveragePool", NETWORK_IN(m.value), NULL);

    x = network_node(&r->g, "Conv",
                     NETWORK_IN(x, network_weights(&r->g, (const int64_t[]){ m.c, m.c, 1, 1 }, 4, -1, 1)), NULL);
    x = network_node(&r->g, "Sigmoid", NETWORK_IN(x), NULL);
    add_like(r, m, network_node(&r->g, "Mul", NETWORK_IN(m.value, x), NULL));
}

static void add_lrn(struct random_net *r)
{
    const struct map m = any(r);

    add_like(r, m,
             network_node(&r->g, "LRN", NETWORK_IN(m.value),
                          NETWORK_ATTRIBUTES(NETWORK_INT("size", 5), NETWORK_FLOAT("alpha", 1e-2f))));
}

static void add_concat(struct random_net *r)
{
    const struct map a = any(r), b = any(r), c = any(r);

    if (a.h == b.h && a.w == b.w && b.h == c.h && b.w == c.w && a.c + b.c + c.c < 100)
        add_map(r,
                network_node(&r->g, "Concat", NETWORK_IN(a.value, b.value, c.value),
                             NETWORK_ATTRIBUTES(NETWORK_INT("axis", 1))),
                a.c + b.c + c.c, a.h, a.w);
}

/* Max pooling with indices. The network may output the indices, with or without a reader of the node's first output. */
static void add_indices(struct random_net *r)
{
    const struct map m = any(r);
    size_t out;

    if (r->g.opset < 8)
        return;
    out = network_node_of(&r->g, "MaxPool", 2, NETWORK_IN(m.value),
                          NETWORK_ATTRIBUTES(NETWORK_INTS("kernel_shape", 2, 1, 1)));
    if (rng_below(2))
        network_output(&r->g, out + 1);
    if (rng_below(2))
        add_like(r, m, out);
}

/* Splits channels into two parts; one part has no reader. */
static void add_split(struct random_net *r)
{
    const struct map m = any(r);
    size_t out;

    if (m.c < 2 || m.c % 2 || r->g.opset > 17)
        return;
    out = network_node_of(&r->g, "Split", 2, NETWORK_IN(m.value), NETWORK_ATTRIBUTES(NETWORK_INT("axis", 1)));
    add_map(r, out + rng_below(2), m.c / 2, m.h, m.w);
}

/*
 * Layer normalization of rows, with mean and 1 / deviation as outputs; between none and all three outputs have readers.
 */
static void add_layer_norm(struct random_net *r)
{
    const struct map m = any(r);
    const size_t scale = network_weights(&r->g, &m.w, 1, 0.5, 1.5), bias = network_weights(&r->g, &m.w, 1, -1, 1);
    size_t out;

    if (r->g.opset < 17 || m.w < 2)
        return;
    out = network_node_of(&r->g, "LayerNormalization", 3, NETWORK_IN(m.value, scale, bias),
                          NETWORK_ATTRIBUTES(NETWORK_INT("axis", -1)));
    for (size_t i = 1; i < 3; i++)
        if (rng_below(2))
            network_output(&r->g, out + i);
    if (rng_below(2))
        add_like(r, m, out);
}

static void add_instance_norm(struct random_net *r)
{
    const struct map m = any(r);
    const size_t scale = channel_weights(r, m.c, 0.5, 1.5), bias = channel_weights(r, m.c, -1, 1);

    if (m.h * m.w > 1)
        add_like(r, m, network_node(&r->g, "InstanceNormalization", NETWORK_IN(m.value, scale, bias), NULL));
}

/* Adds a large number: the input keeps few digits. */
static void add_far(struct random_net *r)
{
    const struct map m = any(r);
    const size_t far = network_float(&r->g, (float)rng_range(-1000, 1000));

    add_like(r, m, network_node(&r->g, "Add", NETWORK_IN(m.value, far), NULL));
}

static void add_pad(struct random_net *r)
{
    const struct map m = any(r);
    const int64_t pads[8] = { 0, 0, rng_range(0, 2), rng_range(0, 2), 0, 0, rng_range(0, 2), rng_range(0, 2) };
    size_t out;

    if (r->g.opset < 11)
        out = network_node(&r->g, "Pad", NETWORK_IN(m.value),
                           NETWORK_ATTRIBUTES(NETWORK_INTS("pads", 8, 0, 0, pads[2], pads[3], 0, 0, pads[6], pads[7])));
    else
        out = network_node(&r->g, "Pad", NETWORK_IN(m.value, network_ints(&r->g, pads, 8)), NULL);
    add_map(r, out, m.c, m.h + pads[2] + pads[6], m.w + pads[3] + pads[7]);
}

static void add_end(struct random_net *r)
{
    const struct map m = any(r);
    const int64_t n = rng_range(1, 12);
    size_t x = network_node(&r->g, "GlobalAveragePool", NETWORK_IN(m.value), NULL);

    x = network_node(&r->g, "Flatten", NETWORK_IN(x), NULL);
    x = network_node(
        &r->g, "Gemm",
        NETWORK_IN(x, network_weights(&r->g, (const int64_t[]){ n, m.c }, 2, -1, 1), channel_weights(r, n, -1, 1)),
        NETWORK_ATTRIBUTES(NETWORK_INT("transB", 1)));
    if (rng_below(2))
        x = network_node(&r->g, "Relu", NETWORK_IN(x), NULL);
    network_output(&r->g, network_node(&r->g, "Softmax", NETWORK_IN(x), NETWORK_ATTRIBUTES(NETWORK_INT("axis", 1))));
}

int network_random(struct onnx_graph **read, struct exp_why *why)
{
    static void (*const add[])(struct random_net *) = {
        add_conv,  add_conv,   add_conv,      add_conv,       add_bnorm,         add_bnorm,   add_plain,
        add_plain, add_clip,   add_sum,       add_by_channel, add_sum,           add_pool,    add_lrn,
        add_pad,   add_concat, add_same_conv, add_ceil_pool,  add_transpose,     add_reshape, add_excite,
        add_split, add_far,    add_indices,   add_layer_norm, add_instance_norm,
    };
    struct random_net *r = exp_new(1, sizeof *r);
    const size_t n_nodes = (size_t)rng_range(1, 24);
    int err;

    r->g.opset = (const int64_t[]){ 7, 9, 10, 11, 13, 15, 17 }[rng_below(7)];
    r->batch = rng_below(3) ? 1 : 2;
    add_map(r, 0, rng_range(1, 8), rng_range(1, 14), rng_range(1, 14));
    network_input(&r->g, (const int64_t[]){ r->batch, r->map[0].c, r->map[0].h, r->map[0].w }, 4);
    for (size_t i = 0; i < n_nodes; i++)
        add[rng_below(sizeof add / sizeof add[0])](r);
    if (rng_below(2))
        add_end(r);
    if (r->n > 1)
        network_output(&r->g, r->map[r->n - 1].value);
    if (r->n > 2 && !rng_below(3))
        network_output(&r->g, r->map[1 + rng_below(r->n - 1)].value);
    if (!r->g.n_outputs)
        network_output(&r->g, network_node(&r->g, "Relu", NETWORK_IN(0), NULL));
    err = network_finish(&r->g, read, why);
    free(r);
    return err;
}
