/*
 * The paper's seven networks, whole: their convolutions are the rows of the layer tables, and between them stand
 * pooling, batch norm, ReLU, LRN, additions, concatenations and the classifier as the real networks have them.
 */
#ifndef EXPERIMENTS_MODELS_NETWORKS_H
#define EXPERIMENTS_MODELS_NETWORKS_H

#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/bench/model.h"
#include "experiments/onnx/builder.h"

/*
 * Makes the network of a table, with weights that follow from the seed; *w is to be released by onnx_writer_free. Returns
 * 0, or -EINVAL with one line in why if the table is none of the seven.
 */
int networks_make(struct onnx_writer **w, const struct exp_model *table, uint64_t seed, struct exp_why *why);

#endif
