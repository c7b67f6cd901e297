/* Writes a graph as an ONNX model in memory, with its weights as they are now. */
#ifndef EXPERIMENTS_ONNX_WRITE_H
#define EXPERIMENTS_ONNX_WRITE_H

#include "experiments/onnx/graph.h"

struct onnx_bytes {
    uint8_t *data; /* to be freed */
    size_t bytes;
};

/* Says which values the model hands out. */
struct onnx_outputs {
    const size_t *value;
    size_t n;
};

/*
 * Writes nodes that are left after folding, and constants that they read. Returns 0; -ENOTSUP or -EOVERFLOW with one
 * line in why.
 */
int onnx_write(struct onnx_bytes *model, const struct onnx_graph *g, const struct onnx_outputs *outputs,
               struct exp_why *why);

#endif
