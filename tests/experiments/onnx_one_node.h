/* Graphs of one node, for tests: written as a file in the scratch folder (tests/scratch.h), and read as any other. */
#ifndef TESTS_ONNX_ONE_NODE_H
#define TESTS_ONNX_ONE_NODE_H

#include "experiments/onnx/graph.h"

struct one_node; /* what is being put together */

struct one_node *one_node_new(const char *op, int64_t opset);
void one_node_free(struct one_node *o);

/* The next input: floats that a run brings; integers that are known before; or none. */
void one_node_input(struct one_node *o, size_t n_dims, const int64_t *dim);
void one_node_constant(struct one_node *o, size_t n, const int64_t *value);
void one_node_no_input(struct one_node *o);

void one_node_int(struct one_node *o, const char *name, int64_t value);
void one_node_float(struct one_node *o, const char *name, float value);
void one_node_text(struct one_node *o, const char *name, const char *value);
void one_node_ints(struct one_node *o, const char *name, size_t n, const int64_t *value);

/* Reads the graph, of so many outputs. Returns as onnx_read does. */
int one_node_read(const struct one_node *o, size_t n_outputs, struct onnx_graph **g, struct exp_why *why);

#endif
