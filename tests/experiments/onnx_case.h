/*
 * An official test of ONNX: a folder with model.onnx, and test_data_set_0/input_<i>.pb and output_<i>.pb. Shapes often
 * depend on the values of inputs: the needed inputs are read as constants of the model.
 */
#ifndef TESTS_ONNX_CASE_H
#define TESTS_ONNX_CASE_H

#include "experiments/onnx/graph.h"

enum { CASE_MAX_TENSORS = 16 };

/* Which inputs are read as constants. */
enum case_constants { CASE_NONE, CASE_INTS, CASE_ALL_BUT_FIRST, CASE_N_WAYS };

struct onnx_case {
    struct onnx_graph *graph;
    size_t n_inputs, n_outputs;                  /* as many as there are files */
    struct onnx_value input[CASE_MAX_TENSORS];   /* in the order of the files, which have no names */
    struct onnx_value output[CASE_MAX_TENSORS];  /* the expected outputs */
    const char *name_of_input[CASE_MAX_TENSORS]; /* the model's */
    struct onnx_graph *owner[3];                 /* of the graphs read */
};

/* Reads a case; files are in the scratch folder (tests/scratch.h). Returns 0, or -errno with a line in why. */
int onnx_case_read(struct onnx_case *c, const char *folder, enum case_constants constants, struct exp_why *why);
void onnx_case_free(struct onnx_case *c);

/* Returns the input of the name in the model, or NULL. */
const struct onnx_value *onnx_case_input(const struct onnx_case *c, const char *name);

#endif
