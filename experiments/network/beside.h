/*
 * What others say that a network makes: tensors that stand beside its file (test data of the model zoo), and ONNX
 * Runtime.
 */
#ifndef EXPERIMENTS_NETWORK_BESIDE_H
#define EXPERIMENTS_NETWORK_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/network/net.h"

/* How far tensors are from what others say: of each, the largest difference over the largest value. */
struct net_distance {
    size_t n_values;
    double worst;
    size_t worst_value; /* of the graph; ONNX_NONE: none was compared */
    bool has_nan;       /* one has a NaN or an infinity where the other has not */
};

/* Adds a tensor of the graph; what is no float is as far away as 1 if a byte differs. */
void net_distance_add(struct net_distance *d, const struct onnx_graph *g, size_t value, const void *ours,
                      const void *theirs);

/*
 * Puts the inputs that are given (onnx_read_tensors) into a network that is loaded: those of a name into the input of
 * that name, else in their order. What is not given stays as it is. Returns 0, or -EINVAL with one line in why.
 */
int net_take_inputs(const struct net *net, const struct onnx_graph *given, struct exp_why *why);

/*
 * Compares the outputs of a network that ran with those that are given. Returns 0; -EILSEQ with one line in why if one
 * is further away than 1e-3 of its largest value, or 1e-2 where floats have 16 bits; -EINVAL if shapes or types differ.
 */
int net_compare_given(const struct net *net, const struct onnx_graph *given, struct net_distance *d,
                      struct exp_why *why);

/*
 * Says which sizes the inputs that are given have, as onnx_ask.input wants it, from malloc; NULL: the graph's inputs
 * have them already, or there are none. graph: NULL: it could not be read without.
 */
char *net_ask_of_given(const struct onnx_graph *given, const struct onnx_graph *graph);

struct net_peer;

/*
 * Runs a graph by ours, node by node, and by ONNX Runtime without optimisations, on the inputs of `like`, a network of
 * the same graph that is loaded, and compares every float that a node makes. Returns 0, or -errno with one line in why.
 */
int net_compare_peer(const struct net *like, const struct net_peer *peer, struct net_distance *d, struct exp_why *why);

/*
 * Has ONNX Runtime profile itself, and adds up the times of its convolutions. Returns their share of all nodes; NaN,
 * with one line in why.
 */
double net_peer_conv_share(const struct net *like, const struct net_peer *peer, bool optimises, unsigned n_threads,
                           struct exp_why *why);

#endif
