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
 * What a compiler does is done where `fuses` is set: batch normalisation, and multiplication and addition by constants
 * of a channel, go into the filters and the bias of the convolution before them; padding goes into the one behind it;
 * activations and additions are done while a tile of outputs is in the nearest cache; what only says how a tensor is
 * looked at (Identity, Dropout, Flatten, Reshape, ...) is a view; a concatenation along the first dimension that is not
 * 1 is no step where its inputs can be written in place. Without it every node is a step, as the paper has it, but for
 * views, which move nothing. Nodes that nobody needs are left out either way.
 *
 * Weights that a file describes by one number can be filled with seeded random numbers before (net_fill_weights).
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
    NET_NOWHERE,   /* nobody needs it */
    NET_ARENA,     /* what steps make, and their workspaces: planned, reused */
    NET_INPUTS,    /* inputs of the network: never overwritten */
    NET_CONSTANTS, /* weights, as the steps read them: packed filters where a plan wants them packed */
    NET_N_PLACES
};

/*
 * A tensor. Tensor i is value i of the graph; behind those stand what the graph does not have: filters as a step reads
 * them, folded biases, workspaces.
 */
struct net_tensor {
    const char *name;
    size_t value; /* of the graph; ONNX_NONE: it has none */
    enum net_place place;
    size_t bytes;
    size_t root, at; /* the tensor in whose memory it lies, itself if in no other's; bytes from that one's begin */
    size_t offset;   /* of its first byte in its place: what root and at come to */
    /* Steps that need its memory, from the first to the last; n_steps: the user. A root's: of all that lie in it. */
    size_t first, last;
    bool is_workspace;
};

/* What only a convolution's step has. */
struct net_conv {
    const struct exp_algo *algo;
    struct conv_plan plan;
    size_t filter, bias, residual, workspace; /* tensors; ONNX_NONE: without that */
    enum conv_activation activation;
    unsigned n_threads;
    enum conv_share_axis axis; /* how they share it */
    /*
     * Of a plug-in: the layer's number in the plug-in's process; how long the last run took there; how long this
     * process waited for it.
     */
    size_t number;
    uint64_t took_ns, waited_ns;
};

struct net_step {
    const char *name, *op; /* of the node that gives it its kind */
    const size_t *node;    /* nodes that it does, in their order */
    size_t n_nodes;
    const size_t *in,
        *out; /* tensors, ONNX_NONE where one is left out: those of `call`; a convolution's: in[0], out[0] */
    size_t n_in, n_out;
    struct net_conv *conv; /* NULL: an operator: */
    struct op_call call;
    bool is_in_place; /* out[0] lies where one of its inputs lies */
};

struct net_options {
    const struct exp_setup *setup; /* outlives the network */
    const struct exp_algo *algo;   /* of convolutions: a record of algos.def; the group is what CSA chooses */
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
    size_t place_bytes[NET_N_PLACES];   /* [NET_ARENA]: what the planner needs */
    size_t alive_bytes;                 /* the largest set of tensors of the arena that are needed at once */
    size_t workspace_bytes;             /* the largest workspace: part of both */
    const char *heuristic;              /* which one found the arena */
    size_t n_not_finite;                /* convolutions that plain loops run, because weights have NaN or infinities */
    const char *not_finite;             /* the name of the first such convolution */
    size_t *step_of;                    /* of each node of the graph: the step that does it; ONNX_NONE: none, as */
    const char **why_no_step;           /* this says; NULL: there is one */
    unsigned char *place[NET_N_PLACES]; /* memory, from net_load on; NULL before */
    bool is_lent;                       /* this memory is shared with a plug-in's process */
    struct sconv_team *team;
    void *own; /* what only the room knows */
};

/*
 * Gives constants that are one number (ConstantOfShape), and that are weights of a convolution, a matrix product or a
 * normalisation, or scale and shift channels, seeded random numbers instead, of a size that keeps the values of a deep
 * network finite. Returns 0, or -ENOMEM with one line in why if they do not fit into this computer's memory.
 */
int net_fill_weights(struct onnx_graph *graph, uint64_t seed, struct exp_why *why);

/*
 * Compiles and plans. Returns 0; -ENOTSUP for a node that nobody can run, -EOVERFLOW; with one line in why that names
 * file and node. *net is NULL on failure. graph must outlive it.
 */
int net_plan(struct net **net, const struct onnx_graph *graph, const struct net_options *o, struct exp_why *why);
void net_free(struct net *net); /* NULL is fine */

/*
 * Allocates and touches memory, packs weights and opens a plug-in's layers. Returns 0 or -errno with one line in why;
 * -ECANCELED: the plug-in cannot run a layer. Only one network with a plug-in may be loaded at a time.
 */
int net_load(struct net *net, struct exp_why *why);

/* Fill the inputs with random numbers in [-1, 1); what is not float gets zeros. */
void net_fill_inputs(struct net *net, uint64_t seed);

/* Return where input or output i of the graph lies, dense; of a network that is loaded. */
void *net_input(const struct net *net, size_t i);
const void *net_output(const struct net *net, size_t i);

/* Returns a tensor's address in memory; NULL: it is nowhere. */
void *net_at(const struct net *net, size_t tensor);

/* Runs once. step_ns[n_steps] gets each step's time; NULL: nobody asks. Returns 0 or -errno with one line in why. */
int net_run(const struct net *net, uint64_t *step_ns, struct exp_why *why);
int net_run_step(const struct net *net, size_t step, struct exp_why *why); /* one of them, after those before it */

/*
 * Returns the nanoseconds to add to the time of a step's last run, taken by net_options.now_ns. A plug-in runs in
 * another process: the plug-in's own time counts, and the time of waiting for the process does not count. 0: the step
 * runs in this process.
 */
int64_t net_step_elsewhere_ns(const struct net_step *s);

/*
 * Fills the outputs of a plug-in's steps with NaN, in both processes, before a run: outputs that a run does not compute
 * are found.
 */
void net_spoil(const struct net *net);

/* ---- for who replays it ---- */

/* Returns a tensor's address if places begin at base[]; 0: it is nowhere, or ONNX_NONE. */
uint64_t net_address(const struct net *net, const uint64_t base[NET_N_PLACES], size_t tensor);

/* Binds a convolution's plan to the places, and says what is fused behind it. */
struct conv_binding net_conv_bind(const struct net *net, const uint64_t base[NET_N_PLACES], const struct net_step *s);
struct conv_after net_conv_after(const struct net *net, const uint64_t base[NET_N_PLACES], const struct net_step *s);

bool net_conv_has_after(const struct net_conv *conv); /* whether anything is */

/* Tells whether the epilogue runs after the whole convolution, as for OpenBLAS, generated code and plug-ins. */
bool net_conv_is_apart(const struct net_conv *conv);

/* Writes what a step does, such as "Conv + BatchNormalization + Relu". */
void net_step_describe(const struct net *net, const struct net_step *s, char *text, size_t bytes);

/* ---- other orders (order.c) ---- */

/*
 * Other orders of a network's nodes: what would it miss if its branches were run in another order? Every order is one
 * that the network allows, and computes the same.
 */
enum net_order {
    NET_ORDER_OF_FILE,
    NET_ORDER_DEPTH, /* of the nodes that can be run, the one whose inputs were made last: a branch to its end */
    NET_ORDER_WIDTH, /* the one whose inputs were made first: all branches side by side */
    NET_N_ORDERS
};

/*
 * Makes a copy of a graph with its nodes in that order. Everything but the order is the graph's own, which must outlive
 * the copy; net_order_release gives the copy back. Returns whether the order is another one.
 */
bool net_order_make(struct onnx_graph *to, const struct onnx_graph *from, enum net_order o);
void net_order_release(struct onnx_graph *copy);

/* ---- checked (check.c) ---- */

/*
 * Checks a loaded network step by step. Each step must find unchanged inputs, however memory is reused, and the outputs
 * must agree with plain loops, which run node by node on the step's inputs.
 *
 * Float sums may differ by rounding errors. The bound is one half-ulp of a magnitude for each term, plus the least
 * steps of a float. The magnitude is the sum of the absolute values of all terms, including terms fused behind a
 * convolution (operator.h: magnitudes); for an operator without sums, the largest value of the output. Where a part of
 * a sum may be too large for a float, any number is right.
 */
struct net_checked {
    size_t n_steps, n_elements;
    double worst; /* error over bound: at most 1 */
    size_t worst_step;
};

/*
 * Runs the network once, with inputs as they are, and checks it. Returns 0; -EILSEQ with one line in why that names
 * node, element and values; or as net_run. Slow: plain loops.
 */
int net_check(const struct net *net, struct net_checked *checked, struct exp_why *why);

#endif
