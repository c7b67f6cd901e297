/*
 * Networks of one node from a line of text: the operator, inputs, attributes and expected outputs.
 *
 *     inputs       1x3x8x8 an input of a shape; [1,-1] constant whole numbers; (0.5,2) constant floats;
 *                  . a scalar input; _ a left-out input
 *     attributes   axis=1 pads=[1,1] alpha=0.5f mode='SAME_UPPER'
 *     outputs      one word for each output; each suite has its own words
 */
#ifndef TESTS_EXPERIMENTS_ONNX_LINE_H
#define TESTS_EXPERIMENTS_ONNX_LINE_H

#include "tests/experiments/onnx_builder.h"

struct onnx_line {
    int64_t opset;
    const char *op, *in, *attributes, *out;
};

/* Writes the network: inputs x0, x1, ..., a node "node", and outputs y0, y1, ..., one for each word of `outputs`. */
struct onnx_writer *onnx_line_write(const struct onnx_line *l);

/* Calls take with each word of a text, and the word's number. */
void onnx_line_words(const char *text, void (*take)(void *ctx, const char *word, size_t i), void *ctx);

#endif
