/*
 * Networks of one node, as a line says them: its operator, inputs, attributes, and what comes out:
 *
 *     inputs       1x3x8x8 an input of that shape; [1,-1] whole numbers, and (0.5,2) floats that are constant; '.' a
 *                  scalar input; _ one that is left out
 *     attributes   axis=1 pads=[1,1] alpha=0.5f mode='SAME_UPPER'
 *     outputs      words, one for each; what is in them is the suite's
 */
#ifndef TESTS_EXPERIMENTS_ONNX_LINE_H
#define TESTS_EXPERIMENTS_ONNX_LINE_H

#include "experiments/onnx/builder.h"

struct onnx_line {
    int64_t opset;
    const char *op, *in, *attributes, *out;
};

/* Writes it: inputs x0, x1, ..., a node "node", and as many outputs y0, y1, ... as there are words. */
struct onnx_writer *onnx_line_write(const struct onnx_line *l);

/* Calls take with each word of a text, and its number. */
void onnx_line_words(const char *text, void (*take)(void *ctx, const char *word, size_t i), void *ctx);

#endif
