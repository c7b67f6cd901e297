/*
 * The accesses of a network's steps, at the planner's addresses, for simulations (sequence.h).
 *
 * A convolution is the replay of its plan with the fused operations (bench/replay/replay.h); an operator runs its own
 * code (operator.h). Tensors have the offsets of net_plan; the places follow each other in memory, each on a boundary
 * of CONV_ARENA_ALIGN.
 */
#ifndef EXPERIMENTS_NETWORK_STREAM_H
#define EXPERIMENTS_NETWORK_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/network/net.h"
#include "experiments/network/sequence.h"

struct net_stream;

/* A stream, with or without the stack accesses of compiled code. */
struct net_stream_view {
    const struct net_stream *stream;
    bool has_stack;
};

struct net_stream {
    const struct net *net;
    struct net_stream_view view[2];
    uint64_t base[NET_N_PLACES];
    unsigned char *memory; /* stands for the lowest addresses: operators run on this memory, and compute nothing */
    size_t bytes;
    struct net_emitters *emitters; /* of the operators' steps */
};

/* Prepares the streams of a network. The network must outlive the streams. Returns 0 or -errno with a line in why. */
int net_stream_init(struct net_stream *s, const struct net *net, struct exp_why *why);
void net_stream_release(struct net_stream *s); /* of all zeros is fine */

/* Returns the steps, with or without the recorded stack of convolutions; s must not move. */
struct exp_steps net_stream_steps(const struct net_stream *s, bool has_stack);

/* Tells whether a step is a convolution or product of 8-bit elements: a model without cycles stands in for the step. */
bool net_step_is_quantized(const struct net_step *s);

/* Returns a step's multiply-adds: of a convolution or a matrix product; 0: neither. */
double net_step_macs(const struct net *net, const struct net_step *s);

double net_macs(const struct net *net); /* of all steps */

/* Says why a step could not be emitted; simulating the step then returns -ENOTSUP. NULL: no step failed. */
const char *net_stream_refusal(const struct net_stream *s);

/* Says how the step's accesses are made: by replay of a plan, by the operator's own code, or by a model. */
const char *net_stream_source(const struct net_stream *s, size_t step);

#endif
