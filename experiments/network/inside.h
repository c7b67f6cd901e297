/* Shared by the files of a network. */
#ifndef EXPERIMENTS_NETWORK_INSIDE_H
#define EXPERIMENTS_NETWORK_INSIDE_H

#include "experiments/network/net.h"

enum { NET_PAGE = 4096, NET_FLOAT = sizeof(float) };

struct net_own {
    void **piece; /* memory with the life of the network */
    size_t n_pieces;
};

/* Returns n elements of `bytes` bytes, all zero, with the life of the network. */
void *net_own(struct net *net, size_t n, size_t bytes);

/* Tells whether the bytes fit into this computer's memory: a file may ask for any size. */
bool net_fits_memory(size_t bytes);

/* Appends a tensor outside of the graph. Returns its number. */
size_t net_add_tensor(struct net *net, const char *name, size_t bytes, enum net_place place);

/* Finds the tensor in whose memory a tensor lies in the end; *at: bytes from there. */
size_t net_root(const struct net *net, size_t tensor, size_t *at);

/* ---- fuse.c: nodes behind a convolution ---- */

/*
 * Tells whether a node multiplies or adds a constant per channel to the value `in`: BatchNormalization, Mul, Div, Add,
 * Sub.
 */
bool net_is_by_channel(const struct onnx_graph *g, const struct onnx_node *n, size_t in, size_t channels);

/* Turns out = in * scale + shift, of each channel, into the scale and shift behind the node. */
void net_add_by_channel(const struct onnx_graph *g, const struct onnx_node *n, size_t in, double *scale, double *shift,
                        size_t channels);

/*
 * Finds how nodes [n], with a convolution among the nodes with `filters` filters, scale and shift the sums of each
 * filter. The caller sets scale and shift to zeros before.
 */
void net_fold(const struct onnx_graph *g, const size_t *node, size_t n, double *scale, double *shift, size_t filters);

/* Tells whether all floats of a constant are finite; *most, unless NULL, becomes the largest absolute value. */
bool net_is_finite(const struct onnx_value *constant, double *most);

/* Returns the activation of a node; SCONV_NO_ACTIVATION: it cannot be fused. */
enum sconv_activation net_activation(const struct onnx_graph *g, const struct onnx_node *n);

/* Adds the padding of a Pad to the convolution behind. Returns false and leaves p alone if the padding does not fit. */
bool net_add_padding(const struct onnx_graph *g, const struct onnx_node *pad, struct conv_problem *p);

/* ---- the parts of net_plan, in their order ---- */

int net_compile(struct net *net, struct exp_why *why);       /* steps, and who lies in whose memory */
int net_place_tensors(struct net *net, struct exp_why *why); /* lifetimes and offsets */

/* ---- convolution.c ---- */

/* Returns the tensor from which the plan's kernels take filters: packed filters, unless the plan packs at run time. */
enum conv_tensor net_filter_tensor(const struct conv_plan *plan);

/* Returns how many bytes a convolution needs besides: packed windows of each thread, matrices, packed filters. */
size_t net_conv_workspace(const struct net_conv *conv);

/* Lays out the filters for the step, and folds the nodes behind the convolution into filters and bias. */
int net_conv_load(const struct net *net, const struct net_step *s);
int net_conv_run(const struct net *net, const struct net_step *s, struct exp_why *why);

/* Opens a plug-in's layer once the filters have their final address. Returns 0, or -ECANCELED with a line in why. */
int net_conv_open(const struct net *net, const struct net_step *s, struct exp_why *why);

#endif
