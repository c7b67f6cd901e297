/*
 * A network read from an .onnx file (ONNX_OLDEST_OPSET to ONNX_NEWEST_OPSET), ready to be run: every value has a type
 * and a static shape, nodes stand in topological order, and values known before a run are constants.
 *
 *     struct onnx_graph *g;
 *     if (!onnx_read(&g, "net.onnx", &(struct onnx_ask){ .batch = 1 }, &why)) {
 *         for (size_t i = 0; i < g->n_nodes; i++)
 *             if (onnx_is(&g->node[i], "Conv")) ...
 *         onnx_free(g);
 *     }
 *
 * Values are named by index into g->value, nodes by index into g->node. A node whose shape is not inferred (an unknown
 * operator, a shape that depends on data) is no error: `why_no_shape` has the reason, and neither the node's outputs
 * nor values computed from them have a shape. A contradiction (weights of the wrong size, shapes that do not fit, a
 * cycle) is an error of the file.
 */
#ifndef EXPERIMENTS_ONNX_GRAPH_H
#define EXPERIMENTS_ONNX_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "kernels/shape/problem.h"

/* The readable opsets. Code for an opset reads graph->opset. */
enum { ONNX_OLDEST_OPSET = 1, ONNX_NEWEST_OPSET = 24 };

enum { ONNX_MAX_DIMS = 8 };

/* The index of a missing input or output, and the producer of a value without a node. */
#define ONNX_NONE SIZE_MAX

/* Types of elements, numbered as in the file format. */
enum onnx_type {
    ONNX_UNKNOWN_TYPE,
    ONNX_FLOAT,
    ONNX_UINT8,
    ONNX_INT8,
    ONNX_UINT16,
    ONNX_INT16,
    ONNX_INT32,
    ONNX_INT64,
    ONNX_STRING,
    ONNX_BOOL, /* one byte, 0 or 1 */
    ONNX_FLOAT16,
    ONNX_DOUBLE,
    ONNX_UINT32,
    ONNX_UINT64,
    ONNX_COMPLEX64,
    ONNX_COMPLEX128,
    ONNX_BFLOAT16,
    ONNX_FLOAT8E4M3FN, /* this type and all later types have a name, but their elements are not read */
    ONNX_FLOAT8E4M3FNUZ,
    ONNX_FLOAT8E5M2,
    ONNX_FLOAT8E5M2FNUZ,
    ONNX_UINT4,
    ONNX_INT4,
    ONNX_FLOAT4E2M1,
    ONNX_FLOAT8E8M0,
    ONNX_UINT2,
    ONNX_INT2,
    ONNX_N_TYPES
};

/* A value: an input of the network, a constant, or an output of a node. */
struct onnx_value {
    const char *name;
    /*
     * FLOAT16, BFLOAT16 and DOUBLE are run in floats: `type` is ONNX_FLOAT then, data are floats, and `stored` is the
     * file's type. For further types both are equal.
     */
    enum onnx_type type, stored;
    bool has_shape;
    size_t n_dims; /* 0: a scalar */
    int64_t dim[ONNX_MAX_DIMS];
    size_t elements; /* product of the dimensions; the product and its bytes fit */

    /*
     * A constant has data (an initializer, Constant, or folded): dense, row-major, aligned to 16 bytes. Floats from a
     * ConstantOfShape have no data: is_filled, and all are `fill`. A value has data, or is filled, or neither.
     */
    const void *data;
    size_t bytes; /* of data */
    bool is_filled;
    float fill;

    size_t producer;          /* the node; ONNX_NONE: an input or an initializer */
    bool is_input, is_output; /* of the network; an initializer is no input */
};

enum onnx_kind {
    ONNX_KIND_NONE, /* a list without elements, in files of the format's first versions */
    ONNX_KIND_INT,
    ONNX_KIND_FLOAT,
    ONNX_KIND_TEXT,
    ONNX_KIND_INTS,
    ONNX_KIND_FLOATS,
    ONNX_KIND_TENSOR,
    ONNX_KIND_OTHER /* texts, graphs, ... */
};

struct onnx_attribute {
    const char *name;
    enum onnx_kind kind;
    int64_t i;
    float f;
    const char *s; /* of TEXT */
    size_t n;      /* of INTS and FLOATS */
    const int64_t *ints;
    const float *floats;
};

struct onnx_node {
    const char *name;   /* never empty: if the file has no name, the first output's name */
    const char *op;     /* "Conv" */
    const char *domain; /* "": the standard operators */
    size_t n_in, n_out;
    const size_t *in, *out; /* values; ONNX_NONE for a missing value */
    size_t n_attributes;
    const struct onnx_attribute *attribute;
    size_t number;            /* in the file, from 1 */
    bool is_folded;           /* all outputs are constants: nothing to run */
    const char *why_no_shape; /* a line; NULL: all outputs have shapes */
    const char *
        why_unread; /* a line: the part that is not understood, even if the file states shapes; NULL: all is understood */
};

struct onnx_graph {
    const char *path;
    const char *name; /* of the file, without folder and .onnx */
    int64_t opset, ir_version;
    struct onnx_value *value;
    size_t n_values;
    struct onnx_node *node; /* in topological order: the file's order if possible */
    size_t n_nodes;
    const size_t *input, *output; /* values of the network */
    size_t n_inputs, n_outputs;
};

/* Values for the open parts of a file. */
struct onnx_ask {
    /*
     * The first dimension of every input of at least 2, and of reshapes to the replaced batch; 0: the file's batch,
     * else 1.
     */
    size_t batch;
    const char
        *input; /* "3x224x224": dimensions of the first input behind the batch, or "x=3x224x224,y=10"; "" or NULL: the
                          file's */
    /*
     * Allows external data to be links out of the file's folder: from the folder `snapshots` into the folder `blobs`
     * beside `snapshots`, as in the cache of huggingface_hub. Without `links`, external data must stay in the file's
     * folder.
     */
    bool links;
};

/*
 * Reads a file, infers all shapes, and folds constants. Returns 0; -errno of reading; -EINVAL or -EOVERFLOW for a file
 * that is malformed, contradicts itself or is too large; a line in why names file and node. *g is NULL on failure. Data
 * of raw tensors are not copied a second time.
 */
int onnx_read(struct onnx_graph **g, const char *path, const struct onnx_ask *ask, struct exp_why *why);

/*
 * Reads tensors from a folder beside a network, as in the model zoo and ONNX's own tests: input_0.pb, input_1.pb, ...
 * and output_0.pb, ... The tensors become inputs and outputs of a graph without nodes; a name may be "". Returns as
 * onnx_read; -ENOENT: no tensors.
 */
int onnx_read_tensors(struct onnx_graph **g, const char *folder, struct exp_why *why);

void onnx_free(struct onnx_graph *g); /* NULL is fine */

/* ---- nodes ---- */

/* Tells whether a node is the standard operator `op` with attributes that are all understood. */
bool onnx_is(const struct onnx_node *n, const char *op);

/* Tells whether a node is a forward convolution: Conv, or ONNX Runtime's FusedConv (a Conv with an activation). */
bool onnx_is_conv(const struct onnx_node *n);
bool onnx_is_fused_conv(const struct onnx_node *n);

/* Returns advice on an unknown operator, as "; it is ..."; "": there is no advice. */
const char *onnx_hint(const struct onnx_node *n);

/* Return a node's input or output; NULL: missing or beyond the last. */
const struct onnx_value *onnx_in(const struct onnx_graph *g, const struct onnx_node *n, size_t i);
const struct onnx_value *onnx_out(const struct onnx_graph *g, const struct onnx_node *n, size_t i);

/* Return an attribute of a kind, or `otherwise` if the node has no attribute of the name. */
const struct onnx_attribute *onnx_attribute(const struct onnx_node *n, const char *name);
int64_t onnx_int(const struct onnx_node *n, const char *name, int64_t otherwise);
float onnx_float(const struct onnx_node *n, const char *name, float otherwise);
const char *onnx_text(const struct onnx_node *n, const char *name, const char *otherwise);

/* Return a list, of *count elements; NULL and 0: there is none. */
const int64_t *onnx_ints(const struct onnx_node *n, const char *name, size_t *count);
const float *onnx_floats(const struct onnx_node *n, const char *name, size_t *count);

/* ---- constants ---- */

/* Tells whether the value is known before a run. */
bool onnx_is_constant(const struct onnx_value *v);

/* Return an element of a constant, of any number type. */
int64_t onnx_element_int(const struct onnx_value *v, size_t i);
double onnx_element(const struct onnx_value *v, size_t i);

/* Gives a filled constant its own data. The data have the life of the graph and may be changed. Returns the data. */
float *onnx_make_data(struct onnx_graph *g, size_t value);

/* Returns how large an element is; 0: no number. */
size_t onnx_type_bytes(enum onnx_type type);
const char *onnx_type_name(enum onnx_type type); /* "float" */

/*
 * Writes a sentence about types of the file that run as floats: "Elements of float16 in the file run as float (fp32)
 * here."; "": none. Scalars, and constants without a reader in a run, do not count.
 */
void onnx_say_types(const struct onnx_graph *g, char *text, size_t bytes);

/* ---- what opsets say in different ways ---- */

enum { ONNX_MAX_LIST = 64 };

struct onnx_list {
    bool is_given;
    size_t n;
    int64_t at[ONNX_MAX_LIST];
};

/*
 * Reads a list, an attribute in old opsets and an input in new opsets ("axes" of Squeeze, "pads" of Pad, "starts" of
 * Slice); `in` is the number of the input. Returns 0; -EINVAL: the input is no constant, or the list is too long.
 */
int onnx_list(const struct onnx_graph *g, const struct onnx_node *n, const char *name, size_t in,
              struct onnx_list *list);

/*
 * Reads a number in the same way ("min" of Clip, "value" of Pad); `otherwise` if there is neither attribute nor input.
 * -EINVAL: no constant.
 */
int onnx_number(const struct onnx_graph *g, const struct onnx_node *n, const char *name, size_t in, double otherwise,
                double *number);

/* The window of a convolution or pooling: auto_pad is resolved to pads. Only the first n of each are set. */
struct onnx_window {
    size_t n; /* axes behind batch and channels */
    int64_t kernel[ONNX_MAX_DIMS], stride[ONNX_MAX_DIMS], dilation[ONNX_MAX_DIMS];
    int64_t begin[ONNX_MAX_DIMS], end[ONNX_MAX_DIMS]; /* padding */
    int64_t out[ONNX_MAX_DIMS];                       /* output dimensions */
};

/*
 * Reads the window of a Conv, MaxPool, AveragePool, LpPool (pools: with ceil_mode) or ConvTranspose whose input has a
 * shape. Returns 0, or -EINVAL or -EOVERFLOW with a line in why.
 */
int onnx_window(const struct onnx_graph *g, const struct onnx_node *n, struct onnx_window *w, struct exp_why *why);

/*
 * Makes a convolution's shape of a Conv; of a 1-D Conv with height 1. Returns 0, or -EINVAL or as conv_problem_finish
 * with the reason in why: no Conv, no planes, no shape.
 */
int onnx_conv_problem(const struct onnx_graph *g, const struct onnx_node *n, struct conv_problem *p,
                      struct exp_why *why);

/* ---- quantized operators ---- */

/*
 * The inputs of ConvInteger, QLinearConv, MatMulInteger and QLinearMatMul, by number: sums of products of x - x_zero and
 * w - w_zero, in s32. ONNX_NONE: the operator lacks the input. A scale or a zero point of x has a single element or an
 * element for each row of a matrix; of w, a single element or an element for each filter or column.
 */
struct onnx_integers {
    const char *op;
    size_t x, x_scale, x_zero, w, w_scale, w_zero;
    size_t y_scale, y_zero, bias; /* y = round((sum + bias) * x_scale * w_scale / y_scale) + y_zero, saturated */
    bool convolves;               /* otherwise a product of matrices */
};

/* Returns the inputs of a node of the four operators; NULL: another operator. */
const struct onnx_integers *onnx_integers(const struct onnx_node *n);

/*
 * Makes the shape of a ConvInteger or QLinearConv; p->type follows the type of x. Returns as onnx_conv_problem. Refuses
 * sums that may exceed 32 bits.
 */
int onnx_integer_problem(const struct onnx_graph *g, const struct onnx_node *n, struct conv_problem *p,
                         struct exp_why *why);

/*
 * The place of an element's scale and zero point, for QuantizeLinear and DequantizeLinear. A tensor has a single scale,
 * a scale for each index of an axis, or, from opset 21 on, a scale for each block of an axis.
 */
struct onnx_scales {
    size_t inner, dim, block;                  /* elements behind the axis, the axis's dimension, indices of a block */
    size_t outer_step, block_step, inner_step; /* in the scale; all 0: a single scale */
};

static inline size_t onnx_scale_at(const struct onnx_scales *s, size_t element)
{
    const size_t row = element / s->inner;

    return row / s->dim * s->outer_step + row % s->dim / s->block * s->block_step + element % s->inner * s->inner_step;
}

/* Reads the scales of a node whose inputs have shapes. Returns 0, or -EINVAL with a line in why. */
int onnx_scales(const struct onnx_graph *g, const struct onnx_node *n, struct onnx_scales *s, struct exp_why *why);

/* The axes resized by a Resize or Upsample: all dimensions, or the attribute "axes" in the attribute's order. */
struct onnx_resized {
    size_t n, axis[ONNX_MAX_DIMS];
    double kept; /* the common scale, if keep_aspect_ratio_policy derives a scale from the sizes; else 0 */
};

/*
 * Reads the axes of a node whose input has a shape. Returns 0; -EINVAL with a line in why; -EAGAIN: sizes depend on
 * data.
 */
int onnx_resized(const struct onnx_graph *g, const struct onnx_node *n, struct onnx_resized *r, struct exp_why *why);

/* ---- writing: an ONNX model in memory, with the present weights ---- */

struct onnx_bytes {
    uint8_t *data; /* to be freed */
    size_t bytes;
};

/* The outputs of the model. */
struct onnx_outputs {
    const size_t *value;
    size_t n;
};

/*
 * Writes the nodes left after folding, and the constants of these nodes. Returns 0; -ENOTSUP or -EOVERFLOW with a line
 * in why.
 */
int onnx_write(struct onnx_bytes *model, const struct onnx_graph *g, const struct onnx_outputs *outputs,
               struct exp_why *why);

#endif
