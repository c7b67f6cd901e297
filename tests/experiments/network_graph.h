/* Small networks for tests: built value by value and node by node, written as a file, and read as any file. */
#ifndef TESTS_NETWORK_GRAPH_H
#define TESTS_NETWORK_GRAPH_H

#include "experiments/onnx/graph.h"

enum { NETWORK_MOST_NODES = 128, NETWORK_MOST_VALUES = 512, NETWORK_MOST_ENDS = 8 };

/* A network under construction. All zeros is an empty network, except for the opset. */
struct network_graph {
    int64_t opset;
    struct onnx_value value[NETWORK_MOST_VALUES];
    struct onnx_node node[NETWORK_MOST_NODES];
    size_t n_values, n_nodes, n_inputs, n_outputs;
    size_t input[NETWORK_MOST_ENDS], output[NETWORK_MOST_ENDS];
    void *owned[4 * NETWORK_MOST_VALUES];
    size_t n_owned;
};

/* Return a value: an input of the network; floats in [-most, most) or [low, high); given numbers. */
size_t network_input(struct network_graph *g, const int64_t *dim, size_t n_dims);
size_t network_weights(struct network_graph *g, const int64_t *dim, size_t n_dims, double low, double high);
size_t network_ints(struct network_graph *g, const int64_t *x, size_t n);
size_t network_float(struct network_graph *g, float x); /* a scalar */

/* Attributes; a list ends with an attribute without a name. */
#define NETWORK_INT(name_, x)                                                                                          \
    {                                                                                                                  \
        .name = (name_), .kind = ONNX_KIND_INT, .i = (x)                                                               \
    }
#define NETWORK_FLOAT(name_, x)                                                                                        \
    {                                                                                                                  \
        .name = (name_), .kind = ONNX_KIND_FLOAT, .f = (x)                                                             \
    }
#define NETWORK_TEXT(name_, text)                                                                                      \
    {                                                                                                                  \
        .name = (name_), .kind = ONNX_KIND_TEXT, .s = (text)                                                           \
    }
#define NETWORK_INTS(name_, count, ...)                                                                                \
    {                                                                                                                  \
        .name = (name_), .kind = ONNX_KIND_INTS, .n = (count), .ints = (const int64_t[])                               \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
#define NETWORK_ATTRIBUTES(...) ((const struct onnx_attribute[]){ __VA_ARGS__, { 0 } })

/* Adds a node with one output. Returns the output. inputs end with ONNX_NONE; attributes (NULL: none) are copied. */
size_t network_node(struct network_graph *g, const char *op, const size_t *inputs,
                    const struct onnx_attribute *attributes);
/* Adds a node with n_out outputs. Returns the first output; the indices of the further outputs follow. */
size_t network_node_of(struct network_graph *g, const char *op, size_t n_out, const size_t *inputs,
                       const struct onnx_attribute *attributes);
#define NETWORK_IN(...) ((const size_t[]){ __VA_ARGS__, ONNX_NONE })

void network_output(struct network_graph *g, size_t value);

/* Writes the network into a temporary file, and reads the file. Frees the built network. Returns as onnx_read. */
int network_finish(struct network_graph *g, struct onnx_graph **read, struct exp_why *why);

/* Builds a random network of convolutions of all kinds with the usual operators around; the values stay finite. */
int network_random(struct onnx_graph **read, struct exp_why *why);

#endif
