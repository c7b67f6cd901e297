/*
 * A network, compiled: a graph becomes steps, its tensors get places in memory, and both can be run and replayed.
 *
 *     err = net_fill_weights(graph, seed, why);        where the file has none
 *     err = net_plan(&net, graph, &options, why);      decides everything; touches no weight
 *     err = net_load(net, why);                        memory, weights, packed filters
 *     net_fill_inputs(net, seed);
 *     err = net_run(net, step_ns, why);                as often as wanted
 *     net_output(net, 0)
 *     net_free(net);
 *
 * If `fuses` is set, the network is compiled as compilers do: batch normalisation, and multiplication and addition by
 * constants of a channel, go into the filters and the bias of the convolution before; padding goes into the convolution
 * behind; activations and additions are done while a tile of outputs is in the nearest cache; nodes that only change a
 * shape (Identity, Dropout, Flatten, Reshape, ...) are views; a concatenation along the first dimension larger than 1
 * is no step if its inputs can be written in place. Without `fuses` every node is a step, as in the paper; only views
 * move nothing. Unneeded nodes are left out either way.
 *
 * net_fill_weights fills weights of equal numbers with seeded random numbers.
 */
#ifndef EXPERIMENTS_NETWORK_NET_H
#define EXPERIMENTS_NETWORK_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/bench/case/algo.h"
#include "experiments/network/operator.h"
#include "experiments/onnx/graph.h"
#include "kernels/backend/fused.h"
#include "kernels/nest/share.h"

/* Where a tensor lies. Offsets count from the beginning of its place; each place begins on a page. */
enum net_place {
    NET_NOWHERE,   /* no step needs the tensor */
    NET_ARENA,     /* outputs of steps, and workspaces: planned, reused */
    NET_INPUTS,    /* inputs of the network: never overwritten */
    NET_CONSTANTS, /* weights, as the steps read weights: filters are packed if a plan asks for packed filters */
    NET_N_PLACES
};

/*
 * A tensor. Tensor i is value i of the graph. Behind the graph's values stand filters as a step reads filters, folded
 * biases and workspaces.
 */
struct net_tensor {
    const char *name;
    size_t value; /* of the graph; ONNX_NONE: no value */
    enum net_place place;
    size_t bytes;
    size_t root, at; /* the tensor in whose memory this tensor lies (maybe its own), and bytes from the root's begin */
    size_t offset;   /* of the first byte in the place: follows from root and at */
    /* The first and last step that need the memory; n_steps: the user needs it. A root's: of all tensors inside. */
    size_t first, last;
    bool is_workspace;
};

/* A convolution's part of a step. */
struct net_conv {
    const struct exp_algo *algo;
    struct conv_plan plan;
    size_t filter, bias, residual, workspace; /* tensors; ONNX_NONE: none */
    enum conv_activation activation;
    unsigned n_threads;
    enum conv_share_axis axis; /* how the threads share the convolution */
    /*
     * Of a plug-in: the layer's number in the plug-in's process; how long the last run took there; how long this
     * process waited for it.
     */
    size_t number;
    uint64_t took_ns, waited_ns;
};

struct net_step {
    const char *name, *op; /* of the node that gives the step its kind */
    const size_t *node;    /* the step's nodes, in order */
    size_t n_nodes;
    const size_t *in,
        *out; /* tensors of `call`, ONNX_NONE for a tensor that is left out; of a convolution in[0], out[0] */
    size_t n_in, n_out;
    struct net_conv *conv; /* NULL: an operator: */
    struct op_call call;
    bool is_in_place; /* out[0] lies where an input lies */
};

struct net_options {
    const struct exp_setup *setup; /* outlives the network */
    const struct exp_algo *algo;   /* of convolutions: a record of algos.def; the group stands for CSA's choice */
    bool fuses;
    bool keeps_all;           /* no memory is reused and no step works in place: a run leaves every tensor */
    unsigned n_threads;       /* 0 is 1 */
    uint64_t (*now_ns)(void); /* the clock of a plug-in's runs; NULL: ctr_now_ns */
};

struct net {
    const struct onnx_graph *graph;
    struct net_options options;
    struct net_tensor *tensor;
    size_t n_tensors;
    struct net_step *step;
    size_t n_steps;
    size_t place_bytes[NET_N_PLACES];   /* [NET_ARENA]: the planner's need */
    size_t alive_bytes;                 /* the largest set of tensors of the arena needed at once */
    size_t workspace_bytes;             /* the largest workspace: part of both */
    const char *heuristic;              /* the name of the heuristic of the arena */
    size_t n_not_finite;                /* convolutions run by plain loops, because weights have NaN or infinities */
    const char *not_finite;             /* the name of the first of these convolutions */
    size_t *step_of;                    /* of each node of the graph: its step; ONNX_NONE: no step */
    const char **no_step;               /* of each node: why there is no step; NULL: there is a step */
    unsigned char *place[NET_N_PLACES]; /* memory, from net_load on; NULL before */
    bool is_lent;                       /* this memory is shared with a plug-in's process */
    struct sconv_team *team;
    void *own; /* private to the room */
};

/*
 * Replaces constants of equal numbers (ConstantOfShape) by seeded random numbers, if the constants are weights of a
 * convolution, a matrix product or a normalisation, or scale and shift channels. The numbers keep the values of a deep
 * network finite. Returns 0, or -ENOMEM with a line in why if the weights do not fit into this computer's memory.
 */
int net_fill_weights(struct onnx_graph *graph, uint64_t seed, struct exp_why *why);

/*
 * Compiles and plans. Returns 0; -ENOTSUP for a node without code, -EOVERFLOW; a line in why names file and node. *net
 * is NULL on failure. graph must outlive the network.
 */
int net_plan(struct net **net, const struct onnx_graph *graph, const struct net_options *o, struct exp_why *why);
void net_free(struct net *net); /* NULL is fine */

/*
 * Allocates and touches memory, packs weights and opens a plug-in's layers. Returns 0 or -errno with a line in why;
 * -ECANCELED: the plug-in cannot run a layer. At most a single network with a plug-in may be loaded at a time.
 */
int net_load(struct net *net, struct exp_why *why);

/* Fill the inputs with random numbers in [-1, 1); inputs of other types get zeros. */
void net_fill_inputs(struct net *net, uint64_t seed);

/* Return the address of input or output i of the graph, dense; of a loaded network. */
void *net_input(const struct net *net, size_t i);
const void *net_output(const struct net *net, size_t i);

/* Returns a tensor's address in memory; NULL: nowhere. */
void *net_at(const struct net *net, size_t tensor);

/* Runs once. step_ns[n_steps] gets each step's time; NULL: nobody asks. Returns 0 or -errno with a line in why. */
int net_run(const struct net *net, uint64_t *step_ns, struct exp_why *why);
int net_run_step(const struct net *net, size_t step, struct exp_why *why); /* a single step, after the steps before */

/*
 * Returns the nanoseconds to add to the time of a step's last run, taken by net_options.now_ns. A plug-in runs in
 * another process: the plug-in's own time counts, and the time of waiting for the process does not count. 0: the step
 * runs in this process.
 */
int64_t net_step_elsewhere_ns(const struct net_step *s);

/*
 * Fills the outputs of a plug-in's steps with NaN, in both processes, before a run: a later comparison finds outputs
 * without a result.
 */
void net_spoil(const struct net *net);

/* ---- for replays ---- */

/* Returns a tensor's address if places begin at base[]; 0: nowhere, or ONNX_NONE. */
uint64_t net_address(const struct net *net, const uint64_t base[NET_N_PLACES], size_t tensor);

/* Bind a convolution's plan to the places, and describe the fused operations behind the convolution. */
struct conv_binding net_conv_bind(const struct net *net, const uint64_t base[NET_N_PLACES], const struct net_step *s);
struct conv_after net_conv_after(const struct net *net, const uint64_t base[NET_N_PLACES], const struct net_step *s);

bool net_conv_has_after(const struct net_conv *conv); /* tells whether anything is fused */

/* Tells whether the epilogue runs after the whole convolution, as for OpenBLAS, generated code and plug-ins. */
bool net_conv_is_apart(const struct net_conv *conv);

/* Describes a step: "Conv + BatchNormalization + Relu". */
void net_step_describe(const struct net *net, const struct net_step *s, char *text, size_t bytes);

/* ---- orders of nodes (order.c) ---- */

/*
 * Orders of a network's nodes, for the question how misses depend on the order of branches. Every order respects the
 * network's dependencies, and gives equal results.
 */
enum net_order {
    NET_ORDER_OF_FILE,
    NET_ORDER_DEPTH, /* of the nodes that can run, the node with the newest inputs: a branch to its end */
    NET_ORDER_WIDTH, /* the node with the oldest inputs: all branches side by side */
    NET_N_ORDERS
};

/*
 * Makes a copy of a graph with its nodes in that order. The copy shares everything else with the graph, and the graph
 * must outlive the copy; net_order_release frees the copy. Returns whether the order differs.
 */
bool net_order_make(struct onnx_graph *to, const struct onnx_graph *from, enum net_order o);
void net_order_release(struct onnx_graph *copy);

/* ---- checked (check.c) ---- */

/*
 * Checks a loaded network step by step. Each step must find unchanged inputs, however memory is reused, and the outputs
 * must agree with plain loops, run node by node on the step's inputs.
 *
 * Float sums may differ by rounding errors. The bound is one half-ulp of a magnitude for each term, plus the least
 * steps of a float. The magnitude is the sum of the absolute values of all terms, including terms fused behind a
 * convolution (operator.h: magnitudes); for an operator without sums, the largest value of the output. Where a part of
 * a sum may be too large for a float, any number is right.
 */
struct net_checked {
    size_t n_steps, n_elements;
    double worst; /* error over bound: at most 1 */
};

/*
 * Runs the network once on the present inputs, and checks each step. Returns 0; -EILSEQ with a line in why, with node,
 * element and values; or as net_run. Slow: plain loops.
 */
int net_check(const struct net *net, struct net_checked *checked, struct exp_why *why);

#endif
