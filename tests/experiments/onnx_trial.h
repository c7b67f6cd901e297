/*
 * Trials of networks' operators: a node on random inputs, the fast path beside plain loops with sums in double, on some
 * threads, and in place if the operator may. A suite has a function for each kind of trial.
 */
#ifndef TESTS_EXPERIMENTS_ONNX_TRIAL_H
#define TESTS_EXPERIMENTS_ONNX_TRIAL_H

#include "tests/experiments/onnx_builder.h"
#include "experiments/onnx/graph.h"
#include "kernels/lib/sconv.h"

enum { OP_TRIAL_MOST = 8 }; /* inputs, outputs, dimensions */

/* The numbers in a run's inputs. */
enum op_fill { OP_FILL_UNIT, OP_FILL_SMALL_INTS, OP_FILL_POSITIVE, OP_FILL_WITH_NAN };

/* A node under construction, and the tolerance of the node's results. */
struct op_trial {
    struct onnx_writer *writer; /* gets attributes of the node */
    char name[64];
    size_t n_outputs;
    enum op_fill fill;
    double units; /* of FLT_EPSILON, times the larger of 1 and the result; 0: equal */
    enum sconv_activation activation;
};

struct op_trial op_trial_begin(const char *op, int64_t opset);

/* Add the next input: floats of the run; whole numbers known before the run; or no input. */
void op_trial_input(struct op_trial *t, size_t n_dims, const int64_t *dim);
void op_trial_constant(struct op_trial *t, size_t n, const int64_t *value);
void op_trial_no_input(struct op_trial *t);

/* Ends the node, and reads the node as a network, in the scratch folder (tests/scratch.h). Returns as onnx_read. */
int op_trial_read(struct op_trial *t, struct onnx_graph **g, struct exp_why *why);

/* Makes and runs `rounds` trials, and checks that most can run. */
void op_trial_all(struct op_trial (*make)(void), unsigned rounds);

/* Sets the dimensions of an image with channels: small images, and some large enough for several threads. */
void op_trial_image(int64_t dim[OP_TRIAL_MOST], size_t n_dims);

/* Sets from `least` to `most` dimensions. Returns the number. */
size_t op_trial_shape(int64_t dim[OP_TRIAL_MOST], size_t least, size_t most);

#endif
