/*
 * Comparisons of a network's results: with test data beside the network's file (as in the model zoo), and with ONNX
 * Runtime.
 */
#ifndef EXPERIMENTS_NETWORK_REFERENCE_H
#define EXPERIMENTS_NETWORK_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/network/net.h"

/* The distance of tensors from reference tensors: of each tensor the largest difference over the largest value. */
struct net_distance {
    size_t n_values;
    double worst;
    size_t worst_value; /* of the graph; ONNX_NONE: none was compared */
    bool has_nan;       /* a NaN or an infinity in only a single tensor of two */
};

/* Adds a tensor of the graph; the distance of other types is 1 if a byte differs. */
void net_distance_add(struct net_distance *d, const struct onnx_graph *g, size_t value, const void *ours,
                      const void *theirs);

/*
 * Copies given inputs (onnx_read_tensors) into a loaded network, by name, else by position. Missing inputs leave the
 * network's inputs unchanged. Returns 0, or -EINVAL with a line in why.
 */
int net_take_inputs(const struct net *net, const struct onnx_graph *given, struct exp_why *why);

/*
 * Compares the outputs of a run with given outputs. Returns 0; -EILSEQ with a line in why if an output is further away
 * than 1e-3 of its largest value, or 1e-2 where floats have 16 bits; -EINVAL if shapes or types differ.
 */
int net_compare_given(const struct net *net, const struct onnx_graph *given, struct net_distance *d,
                      struct exp_why *why);

/*
 * Returns the sizes of given inputs as a text for onnx_ask.input, from malloc; NULL: the graph's inputs have these
 * sizes, or no inputs are given. graph may be NULL: a file that cannot be read without sizes.
 */
char *net_ask_of_given(const struct onnx_graph *given, const struct onnx_graph *graph);

struct net_peer;

/*
 * Runs the graph of `like`, a loaded network, by this program, node by node, and by ONNX Runtime without optimisations,
 * on the inputs of `like`. Compares every float of every node. Returns 0, or -errno with a line in why.
 */
int net_compare_peer(const struct net *like, const struct net_peer *peer, struct net_distance *d, struct exp_why *why);

/*
 * Lets ONNX Runtime write a profile, and returns the share of convolutions in the times of all nodes; NaN with a line
 * in why.
 */
double net_peer_conv_share(const struct net *like, const struct net_peer *peer, bool optimises, unsigned n_threads,
                           struct exp_why *why);

#endif
