/*
 * The paper's seven networks, whole: their convolutions are the rows of the layer tables, and between them stand
 * pooling, batch norm, ReLU, LRN, additions, concatenations and the classifier as the real networks have them.
 */
#ifndef EXPERIMENTS_MODELS_NETWORKS_H
#define EXPERIMENTS_MODELS_NETWORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/bench/model.h"
#include "experiments/onnx/builder.h"

struct networks_weights {
    uint64_t seed;     /* what random weights follow from; not 0 */
    bool are_left_out; /* nodes make zeros (ConstantOfShape): files of some kilobytes */
};

/*
 * Makes the network of a table; *w is to be released by onnx_writer_free. Returns
 * 0, or -EINVAL with one line in why if the table is none of the seven.
 */
int networks_make(struct onnx_writer **w, const struct exp_model *table, const struct networks_weights *weights,
                  struct exp_why *why);

#endif
