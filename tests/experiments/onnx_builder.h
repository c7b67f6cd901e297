/*
 * Networks as ONNX files, written node by node:
 *
 *     struct onnx_writer *w = onnx_writer_new("net", 13);
 *
 *     onnx_write_input(w, "x", 4, (int64_t[]){ 1, 3, 8, 8 });
 *     onnx_write_floats(w, "filters", 4, (int64_t[]){ 4, 3, 3, 3 }, weights);      weights: from malloc, taken over
 *     onnx_write_node(w, "Conv", "conv1", "x,filters", "y");
 *     onnx_write_ints(w, "strides", 2, (int64_t[]){ 2, 2 });                       an attribute of the last node
 *     onnx_write_output(w, "y", 4, (int64_t[]){ 1, 4, 3, 3 });
 *     err = exp_file_write("net.onnx", onnx_writer_print, w, &why);
 *     onnx_writer_free(w);
 */
#ifndef TESTS_EXPERIMENTS_ONNX_BUILDER_H
#define TESTS_EXPERIMENTS_ONNX_BUILDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct onnx_writer;

struct onnx_writer *onnx_writer_new(const char *name, int64_t opset);
void onnx_writer_free(struct onnx_writer *w); /* NULL is fine */

/* Writes the file, with the parameters of exp_file_write. Returns 0. */
int onnx_writer_print(void *writer, FILE *out);

/* Add an input or output of floats. */
void onnx_write_input(struct onnx_writer *w, const char *name, size_t n_dims, const int64_t *dim);
void onnx_write_output(struct onnx_writer *w, const char *name, size_t n_dims, const int64_t *dim);

/* Add an initializer: of floats, whose memory from malloc is taken over; or of whole numbers. */
void onnx_write_floats(struct onnx_writer *w, const char *name, size_t n_dims, const int64_t *dim, float *data);
void onnx_write_int64s(struct onnx_writer *w, const char *name, size_t n, const int64_t *data);

/* Add an input, and a constant, of a type (enum onnx_type); the constant's memory from malloc is taken over. */
void onnx_write_input_of(struct onnx_writer *w, const char *name, int32_t type, size_t n_dims, const int64_t *dim);
void onnx_write_constant(struct onnx_writer *w, const char *name, int32_t type, size_t n_dims, const int64_t *dim,
                         void *data);

/* Adds a node; inputs and outputs are lists of names, separated by commas. */
void onnx_write_node(struct onnx_writer *w, const char *op, const char *name, const char *in, const char *out);

/* Add an attribute to the last node. */
void onnx_write_int(struct onnx_writer *w, const char *name, int64_t value);
void onnx_write_float(struct onnx_writer *w, const char *name, float value);
void onnx_write_text(struct onnx_writer *w, const char *name, const char *value);
void onnx_write_ints(struct onnx_writer *w, const char *name, size_t n, const int64_t *values);

/* Returns the message of the file, as declared by protoc-c: every part is from malloc. */
struct Onnx__ModelProto *onnx_writer_model(struct onnx_writer *w);

#endif
