/* Rules for types and shapes. A rule is called when all present inputs have shapes. */
#ifndef EXPERIMENTS_ONNX_INFER_H
#define EXPERIMENTS_ONNX_INFER_H

#include "experiments/onnx/reading.h"

/* A node during inference. */
struct infer {
    struct onnx_reading *r;
    struct onnx_graph *g;
    struct onnx_node *n;
    const Onnx__NodeProto *proto;
    struct exp_why *why;
};

/* Rules return 0; -errno with a line in why: the file contradicts itself; or this: there is a reason in the node. */
enum { INFER_NO_SHAPE = 1 };

int infer_wrong(const struct infer *c, const char *format, ...) __attribute__((format(printf, 2, 3)));   /* -EINVAL */
int infer_unknown(const struct infer *c, const char *format, ...) __attribute__((format(printf, 2, 3))); /* NO_SHAPE */

/* As infer_unknown; also marks the node as not understood: a shape in the file does not help. */
int infer_unread(const struct infer *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns an input with a shape, or NULL. */
static inline const struct onnx_value *infer_in(const struct infer *c, size_t i)
{
    return onnx_in(c->g, c->n, i);
}

/* Returns an output, or NULL if missing. */
static inline struct onnx_value *infer_out(const struct infer *c, size_t i)
{
    return i < c->n->n_out && c->n->out[i] != ONNX_NONE ? &c->g->value[c->n->out[i]] : NULL;
}

/* Set type and shape of an output, unless missing; the second as the type and shape of a value. */
int infer_set(const struct infer *c, size_t out, enum onnx_type stored, size_t n_dims, const int64_t *dim);
int infer_like(const struct infer *c, size_t out, const struct onnx_value *v);

/* Turns an axis, maybe counted from the end, into 0 .. n-1. */
int infer_axis(const struct infer *c, int64_t axis, size_t n, size_t *at);

/* Reads a list of axes, each once: which[i] for axis i of n. */
int infer_axes(const struct infer *c, const struct onnx_list *list, size_t n, bool *which);

/* Reads a list from an attribute or an input. NO_SHAPE if the list depends on data. */
int infer_list(const struct infer *c, const char *name, size_t in, struct onnx_list *list);

/* Broadcasts b to *to, a shape of *n dimensions. Returns whether the shapes fit. */
bool infer_broadcast(size_t *n, int64_t *to, const struct onnx_value *b);

/* The constant tensor of an attribute. Returns 0, -errno, or NO_SHAPE if there is none. */
int infer_tensor(const struct infer *c, const char *name, struct onnx_value *v);

/* ---- the rules: infer_window.c, infer_math.c, infer_layout.c, infer_select.c, infer_quantized.c ---- */

int rule_conv(const struct infer *c);
int rule_conv_transpose(const struct infer *c);
int rule_pool(const struct infer *c);
int rule_max_unpool(const struct infer *c);
int rule_global_pool(const struct infer *c);
int rule_roi(const struct infer *c);
int rule_resize(const struct infer *c);
int rule_depth_to_space(const struct infer *c);
int rule_space_to_depth(const struct infer *c);
int rule_grid_sample(const struct infer *c);

int rule_same(const struct infer *c);
int rule_same_bool(const struct infer *c);
int rule_axis(const struct infer *c); /* one dimension, along an axis */
int rule_dropout(const struct infer *c);
int rule_batch_norm(const struct infer *c);
int rule_group_norm(const struct infer *c);
int rule_channels(const struct infer *c); /* with parameters of each channel */
int rule_layer_norm(const struct infer *c);
int rule_binary(const struct infer *c);
int rule_compare(const struct infer *c);
int rule_prelu(const struct infer *c);
int rule_where(const struct infer *c);
int rule_matmul(const struct infer *c);
int rule_gemm(const struct infer *c);
int rule_reduce(const struct infer *c);
int rule_arg(const struct infer *c);
int rule_cast(const struct infer *c);

int rule_concat(const struct infer *c);
int rule_split(const struct infer *c);
int rule_slice(const struct infer *c);
int rule_pad(const struct infer *c);
int rule_reshape(const struct infer *c);
int rule_flatten(const struct infer *c);
int rule_transpose(const struct infer *c);
int rule_squeeze(const struct infer *c);
int rule_unsqueeze(const struct infer *c);
int rule_expand(const struct infer *c);
int rule_tile(const struct infer *c);

int rule_gather(const struct infer *c);
int rule_gather_elements(const struct infer *c);
int rule_gather_nd(const struct infer *c);
int rule_shape(const struct infer *c);
int rule_size(const struct infer *c);
int rule_constant(const struct infer *c);
int rule_constant_of_shape(const struct infer *c);
int rule_range(const struct infer *c);
int rule_one_hot(const struct infer *c);
int rule_eye_like(const struct infer *c);
int rule_top_k(const struct infer *c);
int rule_det(const struct infer *c);
int rule_depends(const struct infer *c); /* the number of elements depends on the data */

int rule_quantize(const struct infer *c);
int rule_dequantize(const struct infer *c);
int rule_quantize_dynamically(const struct infer *c);
int rule_integers(const struct infer *c); /* ConvInteger, QLinearConv, MatMulInteger, QLinearMatMul */

/* Sets the output of a convolution or a product, of elements of a type. bias: the input; ONNX_NONE: none. */
int infer_conv(const struct infer *c, enum onnx_type stored, const struct onnx_value *filters, size_t bias);
int infer_product(const struct infer *c, enum onnx_type stored, const struct onnx_value *b);

/* Writes the name of operator i of the operators with a rule. Returns false behind the last. */
bool infer_operator(size_t i, char *name, size_t bytes);

/* Folds a node: makes its outputs constants, if the inputs are known and the elements are not too many. */
void infer_fold(const struct infer *c);

#endif
