/*
 * Operators of ONNX on dense tensors: row-major, of the shape that the graph says, floats unless an operator says more.
 * Convolutions that are to be fast are somebody else's; here is their plain loop.
 *
 *     struct op_call call;
 *     err = op_prepare(&call, &(struct op_ask){ graph, node, .n_threads = 2 }, why);    once
 *     op_run(&call, &tensors, team);                                                    as often as wanted
 *     op_reference(&call, &tensors);                                                    the same by plain loops
 *     op_release(&call);
 *
 * NaN, infinities and denormals are what IEEE 754 makes of them, and an extremum (MaxPool, Max, ReduceMin, Clip, Relu)
 * of what holds a NaN is a NaN, as numpy has it. Tensors without an element are fine. What a node asks for and no code
 * here does is refused in one line, which names the node and the value.
 */
#ifndef EXPERIMENTS_NETWORK_OPERATOR_H
#define EXPERIMENTS_NETWORK_OPERATOR_H

#include <stdint.h>

#include "experiments/base/error.h"
#include "kernels/lib/team.h"
#include "sim/base/access.h"

struct onnx_graph;
struct onnx_node;

/* What planners and fusion may do with an operator: bits. */
enum op_trait {
    OP_IS_VIEW = 1,   /* the first output has the bytes of the first input, in their order */
    OP_IN_PLACE = 2,  /* the first output may lie where an input of its shape lies */
    OP_ACTIVATES = 4, /* does ask.activation to what it computes */
    OP_CONVOLVES = 8, /* its run() is its reference: slow */
};

/* Asks for one node of a graph; both outlive the call. */
struct op_ask {
    const struct onnx_graph *graph;
    const struct onnx_node *node;
    unsigned n_threads;               /* 1..SCONV_MAX_THREADS; 0 is 1 */
    enum sconv_activation activation; /* of every element of the first output; only where OP_ACTIVATES */
};

struct op;

/* A node, prepared: from its shapes and constants everything that a run need not do again. */
struct op_call {
    const struct op *op;
    struct op_ask ask;
    void *own; /* what op->prepare made: a block of memory or NULL */
};

/* Where a node's tensors are, in the order of node->in and node->out. */
struct op_tensors {
    const void *const *in; /* NULL: left out */
    void *const *out;      /* NULL: left out, or not wanted; the first is always wanted */
};

/* The same for the simulator: the address of each tensor's first byte, and its tag. */
struct op_addresses {
    const uint64_t *in, *out;
    const uint8_t *in_tag, *out_tag;
    uint8_t phase;
};

/*
 * An operator. The functions below call an operator's functions; run and reference only get tensors with at least one
 * element wherever the graph says so.
 *
 *   prepare    checks the node and leaves the data of run and reference in call->own; -ENOTSUP with one line in why
 *   run        by call->ask.n_threads shares of the team, which may be NULL
 *   reference  plain loops, sums in double: shares nothing with run but the results of prepare
 *   magnitudes writes one float for each element of the outputs, from the inputs of a run: the sum of the absolute
 *              values of all terms of the element, which bounds its rounding error. Before the call, each float is the
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
 * Prepares a node. Returns 0; -ENOTSUP with one line in why, and a call that is released. What a network needs for its
 * run is asked for before its first run: so this is also how to know whether a node can run.
 */
int op_prepare(struct op_call *call, const struct op_ask *ask, struct exp_why *why);
void op_release(struct op_call *call); /* of all zeros is fine */

/* Runs a node. Not two runs of one call at the same time: it may have memory of its own. */
void op_run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team);
void op_reference(const struct op_call *call, const struct op_tensors *t);

#endif
