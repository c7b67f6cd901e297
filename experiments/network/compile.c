/* Makes steps of nodes: decides about fusion, views and unneeded nodes. */
#include "experiments/network/inside.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/arena.h"

struct compiler {
    struct net *net;
    const struct onnx_graph *g;
    struct exp_why *why;
    size_t *n_uses;            /* of each value, by needed nodes; an output of the network counts as a use */
    size_t *user;              /* the last node with a use */
    size_t *made;              /* the number of the value's step, from 1; 0: none yet */
    bool *is_needed, *is_done; /* nodes */
};

/* A step under construction. */
struct chain {
    size_t *node;
    size_t n;
    size_t out; /* the step's output */
    size_t residual;
    enum sconv_activation activation;
    double largest; /* of the filters of a convolution */
};

static const char no_need[] = "nobody needs it", known[] = "its outputs are constants", view[] = "a view",
                  in_place[] = "its inputs are written in place";

/* ---- uses ---- */

static void use(struct compiler *c, size_t value, size_t user)
{
    if (value == ONNX_NONE)
        return;
    c->n_uses[value]++;
    c->user[value] = user;
}

static bool is_wanted(const struct compiler *c, const struct onnx_node *n)
{
    for (size_t i = 0; i < n->n_out; i++)
        if (n->out[i] != ONNX_NONE && c->n_uses[n->out[i]])
            return true;
    return false;
}

static void find_uses(struct compiler *c)
{
    for (size_t i = 0; i < c->g->n_outputs; i++)
        use(c, c->g->output[i], ONNX_NONE);
    for (size_t i = c->g->n_nodes; i--;) {
        const struct onnx_node *n = &c->g->node[i];

        c->is_needed[i] = !n->is_folded && is_wanted(c, n);
        c->net->no_step[i] = n->is_folded ? known : c->is_needed[i] ? NULL : no_need;
        for (size_t k = 0; k < n->n_in && c->is_needed[i]; k++)
            use(c, n->in[k], i);
    }
}

/* Returns the node with the only use of a value; ONNX_NONE if there are more uses. */
static size_t only_user(const struct compiler *c, size_t value)
{
    const bool is_only = c->n_uses[value] == 1 && !c->g->value[value].is_output;

    return is_only && !c->is_done[c->user[value]] ? c->user[value] : ONNX_NONE;
}

static bool is_constant(const struct compiler *c, size_t value)
{
    return onnx_is_constant(&c->g->value[value]);
}

/* Tells whether a value exists before the present step. */
static bool is_there(const struct compiler *c, size_t value)
{
    return c->made[value] || c->g->value[value].is_input;
}

/* ---- chains ---- */

static void add_to_chain(struct compiler *c, struct chain *ch, size_t node)
{
    *(size_t *)exp_append(&ch->node, &ch->n, sizeof *ch->node) = node;
    c->is_done[node] = true;
}

/* Tells whether only the first output of a node is needed. */
static bool has_one_output(const struct compiler *c, const struct onnx_node *n)
{
    for (size_t i = 1; i < n->n_out; i++)
        if (n->out[i] != ONNX_NONE && c->n_uses[n->out[i]])
            return false;
    return n->n_out && n->out[0] != ONNX_NONE;
}

static bool is_identity(const struct onnx_node *n)
{
    return onnx_is(n, "Identity") ||
           (onnx_is(n, "Dropout") && n->n_in < 3); /* with three outputs, the node may be in training */
}

static bool has_shape_of(const struct onnx_value *a, const struct onnx_value *b)
{
    return a->n_dims == b->n_dims && a->type == b->type && !memcmp(a->dim, b->dim, a->n_dims * sizeof *a->dim);
}

/*
 * Returns the tensor that a node adds to the value of a chain, if the tensor has an equal shape and exists; else
 * ONNX_NONE.
 */
static size_t residual_of(const struct compiler *c, const struct chain *ch, const struct onnx_node *n)
{
    size_t other;

    if ((!onnx_is(n, "Add") && !onnx_is(n, "Sum")) || n->n_in != 2 || n->in[0] == n->in[1])
        return ONNX_NONE;
    other = n->in[n->in[0] == ch->out];
    if (is_constant(c, other) || !is_there(c, other) || !has_shape_of(&c->g->value[other], &c->g->value[ch->out]))
        return ONNX_NONE;
    return other;
}

/* Tells whether filters and biases stay finite floats after a node is folded. */
static bool folds(const struct compiler *c, const struct chain *ch, size_t node, size_t channels)
{
    double *scale = exp_new(channels, sizeof *scale), *shift = exp_new(channels, sizeof *shift);
    bool fits = true;

    net_fold(c->g, ch->node, ch->n, scale, shift, channels);
    net_add_by_channel(c->g, &c->g->node[node], ch->out, scale, shift, channels);
    for (size_t k = 0; k < channels && fits; k++)
        fits = isfinite((float)(scale[k] * ch->largest)) && isfinite((float)scale[k]) && isfinite((float)shift[k]);
    free(scale);
    free(shift);
    return fits;
}

/* Takes a node into the step of a convolution, if possible. */
static bool absorb(struct compiler *c, struct chain *ch, size_t node, size_t channels)
{
    const struct onnx_node *n = &c->g->node[node];

    if (is_identity(n))
        return true;
    if (ch->activation != SCONV_NO_ACTIVATION)
        return false;
    if (ch->residual == ONNX_NONE && net_is_by_channel(c->g, n, ch->out, channels))
        return folds(c, ch, node, channels);
    if (ch->residual == ONNX_NONE && residual_of(c, ch, n) != ONNX_NONE) {
        ch->residual = residual_of(c, ch, n);
        return true;
    }
    ch->activation = net_activation(c->g, n);
    return ch->activation != SCONV_NO_ACTIVATION;
}

/* Takes an activation into the step of another operator. */
static bool activate(struct compiler *c, struct chain *ch, size_t node)
{
    if (is_identity(&c->g->node[node]))
        return true;
    if (ch->activation == SCONV_NO_ACTIVATION)
        ch->activation = net_activation(c->g, &c->g->node[node]);
    else
        return false;
    return ch->activation != SCONV_NO_ACTIVATION;
}

/* Takes all possible nodes into the step; channels: of a convolution, otherwise 0. */
static void extend(struct compiler *c, struct chain *ch, size_t channels)
{
    size_t node = only_user(c, ch->out);

    while (c->net->options.fuses && node != ONNX_NONE && has_one_output(c, &c->g->node[node]) &&
           (channels ? absorb(c, ch, node, channels) : activate(c, ch, node))) {
        add_to_chain(c, ch, node);
        ch->out = c->g->node[node].out[0];
        node = only_user(c, ch->out);
    }
}

/* ---- steps ---- */

/* Appends a step of a chain's nodes; nodes, inputs and outputs have the life of the network. */
static struct net_step *add_step(struct compiler *c, struct chain *ch, size_t main_node)
{
    struct net *net = c->net;
    struct net_step *s = exp_append(&net->step, &net->n_steps, sizeof *s);
    size_t *node = net_own(net, ch->n, sizeof *node);

    memcpy(node, ch->node, ch->n * sizeof *node);
    free(ch->node);
    s->name = c->g->node[main_node].name;
    s->op = c->g->node[main_node].op;
    s->node = node;
    s->n_nodes = ch->n;
    for (size_t i = 0; i < s->n_nodes; i++)
        net->step_of[node[i]] = net->n_steps - 1;
    return s;
}

static void set_ends(struct compiler *c, struct net_step *s, const size_t *in, size_t n_in, const size_t *out,
                     size_t n_out)
{
    size_t *to = net_own(c->net, n_in + n_out, sizeof *to);

    memcpy(to, in, n_in * sizeof *to);
    memcpy(to + n_in, out, n_out * sizeof *to);
    s->in = to;
    s->n_in = n_in;
    s->out = to + n_in;
    s->n_out = n_out;
    for (size_t i = 0; i < n_out; i++)
        if (out[i] != ONNX_NONE)
            c->made[out[i]] = c->net->n_steps;
}

/* ---- convolutions ---- */

/* Tells whether a node is a convolution with constant filters and a shape that kernels support. */
static bool has_kernels(const struct compiler *c, const struct onnx_node *n, struct conv_problem *p)
{
    const struct onnx_value *bias = onnx_in(c->g, n, 2);

    return onnx_is(n, "Conv") && n->n_in >= 2 && is_constant(c, n->in[1]) && !is_constant(c, n->in[0]) &&
           (!bias || onnx_is_constant(bias)) && !onnx_conv_problem(c->g, n, p, NULL);
}

/*
 * Tells whether kernels run a node. Filters with NaN or infinities make NaN out of padding in some kernels only; plain
 * loops run these convolutions.
 */
static bool is_convolution(const struct compiler *c, const struct onnx_node *n, struct conv_problem *p)
{
    const struct onnx_value *bias = onnx_in(c->g, n, 2);

    return has_kernels(c, n, p) && net_is_finite(onnx_in(c->g, n, 1), NULL) && (!bias || net_is_finite(bias, NULL));
}

static const struct exp_algo *member(enum csa_schedule schedule)
{
    for (size_t i = 0;; i++) {
        const struct exp_algo *a = exp_algo_at(i);

        if (a->when == EXP_ALGO_MEMBER && a->schedule == schedule)
            return a;
    }
}

static bool fits_blas(const struct conv_problem *p)
{
    return conv_windows(p) <= INT_MAX && p->k <= INT_MAX && conv_reduction(p) <= INT_MAX;
}

static int plan_convolution(const struct net *net, struct net_conv *conv, const struct conv_problem *p)
{
    const struct exp_setup *s = net->options.setup;
    struct csa_tiling tiling[CSA_N_SCHEDULES];
    int err;

    for (int i = 0; i < CSA_N_SCHEDULES; i++)
        tiling[i] = csa_analyse(p, &s->caches, s->ukr->n_win, s->ukr->n_f, (enum csa_schedule)i);
    conv->algo = net->options.algo->members ? member(csa_choose(tiling)) : net->options.algo;
    err = conv->algo->plan(s, p, tiling, conv->algo, &conv->plan);
    if (err)
        return err;
    conv->n_threads = net->options.n_threads;
    if (!net_conv_is_apart(conv) && !conv_plan_packs_filters(&conv->plan))
        conv->axis = conv_share_choose(&conv->plan, conv->n_threads);
    else if (!fits_blas(p) || !conv_plan_is_base(&conv->plan))
        conv->n_threads = 1;
    return 0;
}

/* Adds a convolution's tensors outside of the graph. */
static void add_conv_tensors(struct net *net, struct net_conv *conv, bool has_bias)
{
    const struct conv_layout *l = &conv->plan.layout;
    const enum conv_tensor t = net_filter_tensor(&conv->plan);
    const size_t bytes = net_conv_workspace(conv);

    conv->filter = net_add_tensor(net, "filters", l->bytes[t], NET_CONSTANTS);
    conv->bias = has_bias ? net_add_tensor(net, "bias", conv->plan.problem.k * NET_FLOAT, NET_CONSTANTS) : ONNX_NONE;
    conv->workspace = bytes ? net_add_tensor(net, "workspace", bytes, NET_ARENA) : ONNX_NONE;
}

static bool changes_bias(const struct compiler *c, const struct net_step *s)
{
    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct onnx_node *n = &c->g->node[s->node[i]];

        if (onnx_is(n, "Conv") ? onnx_in(c->g, n, 2) != NULL
                               : net_is_by_channel(c->g, n, n->in[0], s->conv->plan.problem.k) ||
                                     (n->n_in == 2 && net_is_by_channel(c->g, n, n->in[1], s->conv->plan.problem.k)))
            return true;
    }
    return false;
}

static int add_convolution(struct compiler *c, size_t node, struct conv_problem *p)
{
    const struct onnx_node *n = &c->g->node[node];
    struct chain ch = { .residual = ONNX_NONE, .out = n->out[0] };
    size_t in = n->in[0], pad = c->g->value[in].producer;
    struct net_step *s;
    int err;

    if (pad != ONNX_NONE && c->is_done[pad] && !c->made[in] && !c->net->no_step[pad]) {
        net_add_padding(c->g, &c->g->node[pad], p);
        add_to_chain(c, &ch, pad);
        in = c->g->node[pad].in[0];
    }
    add_to_chain(c, &ch, node);
    net_is_finite(onnx_in(c->g, n, 1), &ch.largest);
    extend(c, &ch, p->k);
    s = add_step(c, &ch, node);
    s->conv = net_own(c->net, 1, sizeof *s->conv);
    s->conv->number = c->net->n_steps - 1;
    s->conv->residual = ch.residual;
    s->conv->activation = (enum conv_activation)ch.activation;
    set_ends(c, s, (size_t[]){ in, ch.residual }, 1 + (ch.residual != ONNX_NONE), &ch.out, 1);
    err = plan_convolution(c->net, s->conv, p);
    if (err)
        return exp_fail(c->why, err, "%s: node '%s': no plan of %s: %s", c->g->path, n->name,
                        c->net->options.algo->name, strerror(-err));
    add_conv_tensors(c->net, s->conv, changes_bias(c, s));
    return 0;
}

/* Tells whether a Pad is left to its only reader, a convolution. */
static bool pads_convolution(const struct compiler *c, size_t node)
{
    const struct onnx_node *n = &c->g->node[node];
    size_t user = c->net->options.fuses ? only_user(c, n->out[0]) : ONNX_NONE;
    struct conv_problem p;

    return user != ONNX_NONE && onnx_is(n, "Pad") && c->g->node[user].in[0] == n->out[0] &&
           is_convolution(c, &c->g->node[user], &p) && net_add_padding(c->g, n, &p);
}

/* ---- views ---- */

static void lie_in(struct net *net, size_t tensor, size_t root, size_t at)
{
    net->tensor[tensor].root = root;
    net->tensor[tensor].at = at;
}

static bool is_view(const struct compiler *c, const struct onnx_node *n)
{
    const struct op *op = op_of(n);

    return op && (op->traits & OP_IS_VIEW) && has_one_output(c, n);
}

/* Finds code for a node, and prepares the node. */
static int find_code(struct compiler *c, struct op_call *call, size_t node, enum sconv_activation activation)
{
    const struct op_ask ask = { c->g, &c->g->node[node], c->net->options.n_threads, activation,
                                &c->net->options.setup->caches };

    return op_prepare(call, &ask, c->why);
}

static int add_view(struct compiler *c, size_t node)
{
    const struct onnx_node *n = &c->g->node[node];
    struct op_call call = { 0 };
    int err = find_code(c, &call, node, SCONV_NO_ACTIVATION);

    if (err)
        return err;
    op_release(&call);
    lie_in(c->net, n->out[0], n->in[0], 0);
    c->made[n->out[0]] = c->made[n->in[0]];
    c->net->no_step[node] = view;
    return 0;
}

/* ---- concatenation in place ---- */

static bool leads(const struct onnx_value *v, int64_t axis)
{
    axis += axis < 0 ? (int64_t)v->n_dims : 0;
    for (int64_t i = 0; i < axis; i++)
        if (v->dim[i] != 1)
            return false;
    return true;
}

/* Tells whether a step may write an input of a concatenation in place: the input is not part of another tensor. */
static bool may_move(const struct compiler *c, const struct onnx_node *n, size_t i)
{
    size_t at, root = net_root(c->net, n->in[i], &at);

    if (!c->made[root] || at || c->net->tensor[root].bytes != c->net->tensor[n->in[i]].bytes)
        return false;
    for (size_t k = 0; k < i; k++)
        if (net_root(c->net, n->in[k], &at) == root)
            return false;
    return true;
}

static bool concatenates_in_place(const struct compiler *c, const struct onnx_node *n)
{
    const bool keeps_aligned = c->net->options.algo->plugin; /* conv_plugin.h promises aligned tensors */
    size_t at = 0;

    if (!onnx_is(n, "Concat") || !c->net->options.fuses || c->net->options.keeps_all ||
        !leads(onnx_out(c->g, n, 0), onnx_int(n, "axis", 1)))
        return false;
    for (size_t i = 0; i < n->n_in; i++) {
        if (!may_move(c, n, i) || (keeps_aligned && at % NET_ARENA_ALIGN))
            return false;
        at += c->net->tensor[n->in[i]].bytes;
    }
    return true;
}

static void add_concatenation(struct compiler *c, size_t node)
{
    const struct onnx_node *n = &c->g->node[node];
    size_t at = 0, unused;

    for (size_t i = 0; i < n->n_in; i++) {
        lie_in(c->net, net_root(c->net, n->in[i], &unused), n->out[0], at);
        at += c->net->tensor[n->in[i]].bytes;
    }
    c->made[n->out[0]] = c->net->n_steps;
    c->net->no_step[node] = in_place;
}

/* ---- all nodes ---- */

static int add_operator(struct compiler *c, size_t node)
{
    const struct onnx_node *n = &c->g->node[node];
    const struct op *op = op_of(n);
    struct chain ch = { .residual = ONNX_NONE, .out = n->n_out ? n->out[0] : ONNX_NONE };
    struct net_step *s;
    size_t *out;

    add_to_chain(c, &ch, node);
    if (op && (op->traits & OP_ACTIVATES))
        extend(c, &ch, 0);
    s = add_step(c, &ch, node);
    out = net_own(c->net, n->n_out + 1, sizeof *out);
    for (size_t i = 0; i < n->n_out; i++)
        out[i] = i ? n->out[i] : ch.out; /* includes outputs without a reader, because operators write all outputs */
    set_ends(c, s, n->in, n->n_in, out, n->n_out);
    return find_code(c, &s->call, node, ch.activation);
}

static int add_node(struct compiler *c, size_t node)
{
    const struct onnx_node *n = &c->g->node[node];
    struct conv_problem p;
    int err = 0;

    if (!c->is_needed[node] || c->is_done[node])
        return 0;
    if (n->why_no_shape)
        return exp_fail(c->why, -ENOTSUP, "%s: node '%s' (%s): %s", c->g->path, n->name, n->op, n->why_no_shape);
    if (pads_convolution(c, node))
        c->is_done[node] = true;
    else if (is_convolution(c, n, &p))
        err = add_convolution(c, node, &p);
    else if (is_view(c, n))
        err = add_view(c, node);
    else if (concatenates_in_place(c, n))
        add_concatenation(c, node);
    else
        err = add_operator(c, node);
    if (!err && has_kernels(c, n, &p) && !is_convolution(c, n, &p) && !c->net->n_not_finite++)
        c->net->not_finite = n->name;
    return err;
}

static void init_tensors(struct net *net)
{
    const struct onnx_graph *g = net->graph;

    for (size_t i = 0; i < g->n_values; i++) {
        net_add_tensor(net, g->value[i].name, g->value[i].elements * onnx_type_bytes(g->value[i].type), NET_NOWHERE);
        net->tensor[i].value = i;
    }
}

int net_compile(struct net *net, struct exp_why *why)
{
    const struct onnx_graph *g = net->graph;
    struct compiler c = { .net = net, .g = g, .why = why };
    int err = 0;

    init_tensors(net);
    net->step_of = net_own(net, g->n_nodes, sizeof *net->step_of);
    net->no_step = net_own(net, g->n_nodes, sizeof *net->no_step);
    memset(net->step_of, 0xff, g->n_nodes * sizeof *net->step_of); /* ONNX_NONE */
    c.n_uses = net_own(net, g->n_values, sizeof *c.n_uses);
    c.user = net_own(net, g->n_values, sizeof *c.user);
    c.made = net_own(net, g->n_values, sizeof *c.made);
    c.is_needed = net_own(net, g->n_nodes, sizeof *c.is_needed);
    c.is_done = net_own(net, g->n_nodes, sizeof *c.is_done);
    find_uses(&c);
    for (size_t i = 0; i < g->n_nodes && !err; i++)
        err = add_node(&c, i);
    return err;
}
