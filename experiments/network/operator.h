/*
 * Operators of ONNX on dense tensors: row-major, of the shapes in the graph, floats unless an operator allows more
 * types. Fast convolutions are elsewhere; here is the plain loop.
 *
 *     struct op_call call;
 *     err = op_prepare(&call, &(struct op_ask){ graph, node, .n_threads = 2 }, why);    once
 *     op_run(&call, &tensors, team);                                                    as often as wanted
 *     op_reference(&call, &tensors);                                                    by plain loops
 *     op_release(&call);
 *
 * NaN, infinities and denormals follow IEEE 754, and an extremum (MaxPool, Max, ReduceMin, Clip, Relu) of numbers with
 * a NaN is a NaN, as in numpy. Tensors without an element are fine. An unknown request of a node is refused in a line
 * with the node's name and the value.
 */
#ifndef EXPERIMENTS_NETWORK_OPERATOR_H
#define EXPERIMENTS_NETWORK_OPERATOR_H

#include <stdint.h>

#include "experiments/base/error.h"
#include "kernels/lib/team.h"
#include "sim/base/access.h"

struct csa_caches;
struct onnx_graph;
struct onnx_node;

/* Permissions for planners and fusion: bits. */
enum op_trait {
    OP_IS_VIEW = 1,   /* the first output has the bytes of the first input, in their order */
    OP_IN_PLACE = 2,  /* the first output may overlay an input of equal shape */
    OP_ACTIVATES = 4, /* applies ask.activation to its results */
    OP_CONVOLVES = 8, /* run() is the reference: slow */
};

/* Asks for one node of a graph; graph and node outlive the call. */
struct op_ask {
    const struct onnx_graph *graph;
    const struct onnx_node *node;
    unsigned n_threads;               /* 1..SCONV_MAX_THREADS; 0 is 1 */
    enum sconv_activation activation; /* of every element of the first output; only where OP_ACTIVATES */
    const struct csa_caches *caches;  /* for plans of quantized convolutions; NULL: plain loops */
};

struct op;

/* A prepared node: everything that follows from shapes and constants. */
struct op_call {
    const struct op *op;
    struct op_ask ask;
    void *own; /* made by op->prepare: a block of memory or NULL */
};

/* Where a node's tensors are, in the order of node->in and node->out. */
struct op_tensors {
    const void *const *in; /* NULL: left out */
    void *const *out;      /* NULL: left out, or not wanted; the first is always wanted */
};

/* Addresses of a node's tensors for the simulator: of each tensor the first byte and the tag. */
struct op_addresses {
    const uint64_t *in, *out;
    const uint8_t *in_tag, *out_tag;
    uint8_t phase;
};

/*
 * An operator. The functions below call an operator's functions; run and reference get tensors with an element or more
 * wherever the graph says so.
 *
 *   prepare    checks the node and leaves the data of run and reference in call->own; -ENOTSUP with a line in why
 *   run        by call->ask.n_threads shares of the team, which may be NULL. A run of NULL: the reference runs
 *   reference  plain loops, sums in double: shares nothing with run but the results of prepare
 *   magnitudes writes one float for each element of the outputs, from the inputs of a run: the sum of the absolute
 *              values of all terms of the element, a bound of its rounding error. Before the call, each float is the
 *              largest absolute value of its output; an element without a better bound keeps this value. NULL: no
 *              element has a better bound
 *   emit       the accesses of run, in its order, with one thread; NULL: not written
 */
struct op {
    const char *name; /* ONNX's, of the default domain */
    unsigned traits;
    int (*prepare)(struct op_call *call, struct exp_why *why);
    void (*run)(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team);
    void (*reference)(const struct op_call *call, const struct op_tensors *t);
    void (*magnitudes)(const struct op_call *call, const struct op_tensors *t);
    void (*emit)(const struct op_call *call, const struct op_addresses *at, struct sim_sink *sink);
};

/* Returns the operator of a node; NULL if there is none. */
const struct op *op_of(const struct onnx_node *node);

/*
 * Prepares a node. Returns 0; -ENOTSUP with a line in why, and a released call. A network prepares all nodes before its
 * first run, and learns in this way whether every node can run.
 */
int op_prepare(struct op_call *call, const struct op_ask *ask, struct exp_why *why);
void op_release(struct op_call *call); /* of all zeros is fine */

/* Runs a node. Runs of a call must not overlap in time: a call may have memory of its own. */
void op_run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team);
void op_reference(const struct op_call *call, const struct op_tensors *t);

#endif
