/*
 * Other orders of a network's nodes: what would it miss if its branches were run in another order? Every order is one
 * that the network allows, and computes the same.
 */
#ifndef EXPERIMENTS_NETWORK_ORDER_H
#define EXPERIMENTS_NETWORK_ORDER_H

#include "experiments/onnx/graph.h"

enum net_order {
    NET_ORDER_OF_FILE,
    NET_ORDER_DEPTH, /* of the nodes that can be run, the one whose inputs were made last: a branch to its end */
    NET_ORDER_WIDTH, /* the one whose inputs were made first: all branches side by side */
    NET_N_ORDERS
};

const char *net_order_name(enum net_order o);

/*
 * Makes a copy of a graph with its nodes in that order. Everything but the order is the graph's own, which must outlive
 * the copy; net_order_release gives the copy back. Returns whether the order is another one.
 */
bool net_order_make(struct onnx_graph *to, const struct onnx_graph *from, enum net_order o);
void net_order_release(struct onnx_graph *copy);

#endif
