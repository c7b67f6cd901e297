/* What the files that make a network share. */
#ifndef EXPERIMENTS_NETWORK_INSIDE_H
#define EXPERIMENTS_NETWORK_INSIDE_H

#include "experiments/network/net.h"

enum { NET_PAGE = 4096, NET_FLOAT = sizeof(float) };

struct net_own {
    void **piece; /* memory that lives as long as the network */
    size_t n_pieces;
};

/* Returns n elements of so many bytes, all zero, that live as long as the network. */
void *net_own(struct net *net, size_t n, size_t bytes);

/* Tells whether so much fits into this computer's memory: what a file asks for may be anything. */
bool net_fits_memory(size_t bytes);

/* Appends a tensor that the graph does not have. Returns its number. */
size_t net_add_tensor(struct net *net, const char *name, size_t bytes, enum net_place place);

/* Finds the tensor in whose memory a tensor lies in the end; *at: bytes from there. */
size_t net_root(const struct net *net, size_t tensor, size_t *at);

/* ---- fuse.c: what a node is to the convolution before it ---- */

/*
 * Tells whether a node multiplies or adds constants, one for each of the channels, to its other operand, which is the
 * value `in`: BatchNormalization, Mul, Div, Add, Sub.
 */
bool net_is_by_channel(const struct onnx_graph *g, const struct onnx_node *n, size_t in, size_t channels);

/* Turns out = in * scale + shift, of each channel, into what it is behind such a node. */
void net_add_by_channel(const struct onnx_graph *g, const struct onnx_node *n, size_t in, double *scale, double *shift,
                        size_t channels);

/*
 * Finds how nodes [n], among them a convolution with `filters` filters, scale and shift the sums of each filter. The
 * caller sets scale and shift to zeros before.
 */
void net_fold(const struct onnx_graph *g, const size_t *node, size_t n, double *scale, double *shift, size_t filters);

/* Tells whether all floats of a constant are finite; *most, unless NULL, becomes the largest absolute value. */
bool net_is_finite(const struct onnx_value *constant, double *most);

/* Returns the activation that a node is; SCONV_NO_ACTIVATION: none that is fused. */
enum sconv_activation net_activation(const struct onnx_graph *g, const struct onnx_node *n);

/* Adds what a Pad pads to a convolution that reads it. Returns false if it cannot be: p is as before. */
bool net_add_padding(const struct onnx_graph *g, const struct onnx_node *pad, struct conv_problem *p);

/* ---- the parts of net_plan, in their order ---- */

int net_compile(struct net *net, struct exp_why *why);       /* steps, and who lies in whose memory */
int net_place_tensors(struct net *net, struct exp_why *why); /* lifetimes and offsets */

/* ---- convolution.c ---- */

/* Returns the tensor from which the plan's kernels take filters: packed ones, unless they are packed at run time. */
enum conv_tensor net_filter_tensor(const struct conv_plan *plan);

/* Returns how many bytes a convolution needs besides: windows that each thread packs, matrices, packed filters. */
size_t net_conv_workspace(const struct net_conv *conv);

/* Lays out the filters as the step reads them, with what follows the convolution folded into them and the bias. */
int net_conv_load(const struct net *net, const struct net_step *s);
int net_conv_run(const struct net *net, const struct net_step *s, struct exp_why *why);

/* Opens a plug-in's layer once the filters have their final address. Returns 0, or -ECANCELED with one line in why. */
int net_conv_open(const struct net *net, const struct net_step *s, struct exp_why *why);

#endif
