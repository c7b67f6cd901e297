/*
 * Networks that a test writes (experiments/onnx/builder.h), reads again and looks at. Files are in its scratch folder
 * (tests/scratch.h). What cannot be written fails the test.
 */
#ifndef TESTS_EXPERIMENTS_ONNX_WRITTEN_H
#define TESTS_EXPERIMENTS_ONNX_WRITTEN_H

#include "experiments/onnx/builder.h"
#include "experiments/onnx/graph.h"

/* How many numbers, and where they are: two arguments. */
#define DIMS(...)                                                                                                      \
    sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), (int64_t[])                                                  \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* Begin a network that takes x, 1x2x4x4, and gives y; the small one has a convolution and a ReLU in it already. */
struct onnx_writer *onnx_write_begin(void);
struct onnx_writer *onnx_write_small(void);

/* Writes a network and frees it. Returns the path, which is valid as scratch_path says. */
const char *onnx_written(struct onnx_writer *w, const char *name);

/* Writes it, frees it, and reads it as asked (NULL: as it is). Returns as onnx_read does. */
int onnx_written_read(struct onnx_writer *w, const struct onnx_ask *ask, struct onnx_graph **g, struct exp_why *why);

/* Does the same with what must be readable. */
struct onnx_graph *onnx_written_as(struct onnx_writer *w, const struct onnx_ask *ask);

/* Checks that a file is refused with this error and words that begin with its path. */
void onnx_refused(const char *path, const struct onnx_ask *ask, int err, const char *words);

/* Finds a value by its name; NULL: there is none. Tells whether it has a shape. */
const struct onnx_value *onnx_value_named(const struct onnx_graph *g, const char *name);
bool onnx_has_shape(const struct onnx_graph *g, const char *name, size_t n_dims, const int64_t *dim);

#endif
