#include "experiments/network/net.h"

#include <assert.h>
#include <stdlib.h>

#include "experiments/base/error.h"

/* The state while nodes are put in order. */
struct ordering {
    const struct onnx_graph *g;
    size_t *made;  /* of each value: the time of its node, from 1; 0: not yet; 1 without a node */
    bool *is_done; /* of each node */
    size_t n_done;
};

/* Returns the time of a node's last input; 0: an input is missing. */
static size_t ready_since(const struct ordering *o, const struct onnx_node *n)
{
    size_t since = 1;

    for (size_t i = 0; i < n->n_in; i++) {
        if (n->in[i] == ONNX_NONE)
            continue;
        if (!o->made[n->in[i]])
            return 0;
        since = o->made[n->in[i]] > since ? o->made[n->in[i]] : since;
    }
    return since;
}

/* Returns the next node: constants first, of equal nodes the first in the file. */
static size_t next_of(const struct ordering *o, enum net_order order)
{
    size_t best = o->g->n_nodes, best_since = 0;

    for (size_t i = 0; i < o->g->n_nodes; i++) {
        if (!o->is_done[i] && o->g->node[i].is_folded)
            return i;
    }

    for (size_t i = 0; i < o->g->n_nodes; i++) {
        const size_t since = o->is_done[i] ? 0 : ready_since(o, &o->g->node[i]);
        const bool is_better = order == NET_ORDER_DEPTH ? since > best_since : since < best_since;

        if (since && (!best_since || (order != NET_ORDER_OF_FILE && is_better))) {
            best = i;
            best_since = since;
        }
    }
    return best;
}

static void start(struct ordering *o, const struct onnx_graph *g)
{
    o->g = g;
    o->n_done = 0;
    o->made = exp_new(g->n_values + 1, sizeof *o->made);
    o->is_done = exp_new(g->n_nodes + 1, sizeof *o->is_done);
    for (size_t v = 0; v < g->n_values; v++)
        o->made[v] = g->value[v].producer == ONNX_NONE;
}

static void take(struct ordering *o, size_t node)
{
    const struct onnx_node *n = &o->g->node[node];

    o->is_done[node] = true;
    o->n_done += !n->is_folded;
    for (size_t i = 0; i < n->n_out; i++) {
        if (n->out[i] != ONNX_NONE)
            o->made[n->out[i]] = o->n_done + 1;
    }
}

bool net_order_make(struct onnx_graph *to, const struct onnx_graph *from, enum net_order order)
{
    struct ordering o;
    size_t last = 0;
    bool differs = false;

    assert(to != from && order < NET_N_ORDERS);
    *to = *from;
    to->node = exp_new(from->n_nodes + 1, sizeof *to->node);
    to->value = exp_copy_bytes(from->value, from->n_values, sizeof *to->value);
    start(&o, from);
    for (size_t i = 0; i < from->n_nodes; i++) {
        const size_t next = next_of(&o, order);

        take(&o, next);
        differs |= !from->node[next].is_folded && next < last;
        last = from->node[next].is_folded ? last : next;
        to->node[i] = from->node[next];
        for (size_t k = 0; k < to->node[i].n_out; k++) {
            if (to->node[i].out[k] != ONNX_NONE)
                to->value[to->node[i].out[k]].producer = i;
        }
    }
    free(o.made);
    free(o.is_done);
    return differs;
}

void net_order_release(struct onnx_graph *copy)
{
    free(copy->node);
    free(copy->value);
    *copy = (struct onnx_graph){ 0 };
}
