/* Models from networks in ONNX files. */
#ifndef EXPERIMENTS_BENCH_MODEL_ONNX_H
#define EXPERIMENTS_BENCH_MODEL_ONNX_H

#include "experiments/base/error.h"
#include "experiments/bench/model.h"

/*
 * Appends the convolutions of the network whose path m has to m. Nodes that convolve otherwise, or whose shape is not
 * known, are noted as skipped, each with its name; of all others, how many there are of each operator. Returns 0, or as
 * onnx_read with one line in why.
 */
int exp_onnx_read(struct exp_model *m, const struct exp_model_ask *ask, struct exp_why *why);

#endif
