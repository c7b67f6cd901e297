#include "experiments/bench/model/formats.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/onnx/graph.h"

/* Counts the nodes of an operator. */
struct count {
    const char *op;
    size_t n;
};

struct counts {
    struct count *count;
    size_t n;
};

static void count(struct counts *c, const char *op)
{
    struct count *at = c->count, *end = c->count + c->n;

    while (at < end && strcmp(at->op, op) != 0)
        at++;
    if (at == end) {
        at = exp_append(&c->count, &c->n, sizeof *at);
        at->op = op;
    }
    at->n++;
}

enum { SHOWN_OPERATORS = 24 };

static char *list_counts(const struct counts *c)
{
    char text[1024] = "";

    for (size_t i = 0; i < c->n && i < SHOWN_OPERATORS; i++)
        exp_say_more(text, sizeof text, "%s%zu %.30s", i ? ", " : "", c->count[i].n, c->count[i].op);
    if (c->n > SHOWN_OPERATORS)
        exp_say_more(text, sizeof text, " and %zu others", c->n - SHOWN_OPERATORS);
    return c->n ? exp_copy_text(text) : NULL;
}

/* Left-out nodes are named one by one, in a network of moderate size. */
enum { MOST_NAMED = 200 };

static int skip(struct exp_model *m, const struct onnx_node *n, const char *reason)
{
    struct exp_why text;

    if (m->n_skipped >= MOST_NAMED)
        return exp_model_skip(m, (struct exp_model_place){ m->path, 0 }, "more nodes");
    exp_say(text.text, sizeof text.text, "node '%.100s' (%.40s): %s", n->name, n->op, reason);
    return exp_model_skip(m, (struct exp_model_place){ m->path, 0 }, text.text);
}

static int add_convolution(struct exp_model *m, const struct onnx_graph *g, const struct onnx_node *n,
                           struct exp_why *why)
{
    struct exp_descriptor d = { .times = 1, .name = n->name, .name_length = strlen(n->name) };
    struct exp_why reason = { "" };

    if (onnx_conv_problem(g, n, &d.problem, &reason))
        return skip(m, n, reason.text);
    return exp_model_add(m, &d, (struct exp_model_place){ m->path, (unsigned)n->number }, why);
}

/* Tells whether a node lacks a shape only because an earlier node lacks a shape. */
static bool follows_unknown(const struct onnx_graph *g, const struct onnx_node *n)
{
    for (size_t i = 0; i < n->n_in; i++) {
        const struct onnx_value *v = onnx_in(g, n, i);

        if (v && !v->has_shape && v->producer != ONNX_NONE)
            return true;
    }
    return false;
}

static char *say_types(const struct onnx_graph *g)
{
    char text[256];

    onnx_say_types(g, text, sizeof text);
    return *text ? exp_copy_text(text) : NULL;
}

int exp_onnx_read(struct exp_model *m, const struct exp_model_ask *ask, struct exp_why *why)
{
    const struct onnx_ask open = { ask->batch, ask->input, ask->links };
    struct counts others = { NULL, 0 };
    struct onnx_graph *g;
    int err = onnx_read(&g, m->path, &open, why);

    if (err)
        return err;
    for (size_t i = 0; i < g->n_nodes && !err; i++) {
        const struct onnx_node *n = &g->node[i];

        if (strstr(n->op, "Conv"))
            err = add_convolution(m, g, n, why);
        else if (n->why_no_shape && follows_unknown(g, n))
            err =
                exp_model_skip(m, (struct exp_model_place){ m->path, 0 }, "nodes behind one whose shape is not known");
        else if (n->why_no_shape)
            err = skip(m, n, n->why_no_shape);
        else if (!n->is_folded)
            count(&others, n->op);
    }
    m->others = list_counts(&others);
    m->types = say_types(g);
    free(others.count);
    onnx_free(g);
    return err;
}
