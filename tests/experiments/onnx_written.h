/*
 * Networks that a test writes (tests/experiments/onnx_builder.h), reads again and checks. Files are in the test's scratch
 * folder (tests/scratch.h). A failure to write fails the test.
 */
#ifndef TESTS_EXPERIMENTS_ONNX_WRITTEN_H
#define TESTS_EXPERIMENTS_ONNX_WRITTEN_H

#include "tests/experiments/onnx_builder.h"
#include "experiments/onnx/graph.h"

/* A number of dimensions and the dimensions: two arguments. */
#define DIMS(...)                                                                                                      \
    sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), (int64_t[])                                                  \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* Begin a network that takes x, 1x2x4x4, and gives y; the small network already has a convolution and a ReLU. */
struct onnx_writer *onnx_write_begin(void);
struct onnx_writer *onnx_write_small(void);

/* Writes a network and frees the writer. Returns the path, valid as scratch_path says. */
const char *onnx_written(struct onnx_writer *w, const char *name);

/* Writes a network, frees the writer, and reads the file as asked (NULL: without changes). Returns as onnx_read. */
int onnx_written_read(struct onnx_writer *w, const struct onnx_ask *ask, struct onnx_graph **g, struct exp_why *why);

/* Writes and reads a network; an error fails the test. */
struct onnx_graph *onnx_written_as(struct onnx_writer *w, const struct onnx_ask *ask);

/* Checks that a file is refused with the error and with words that begin with the file's path. */
void onnx_refused(const char *path, const struct onnx_ask *ask, int err, const char *words);

/* Finds a value by name; NULL: no such name. Tells whether a value has a shape. */
const struct onnx_value *onnx_value_named(const struct onnx_graph *g, const char *name);
bool onnx_has_shape(const struct onnx_graph *g, const char *name, size_t n_dims, const int64_t *dim);

#endif
