/*
 * Batch files of oneDNN's benchdnn: problem descriptors (exp_descriptor.h) and options, separated by blanks and lines;
 * '#' starts a comment.
 *
 * Options that decide which convolutions are meant are heeded: --conv and names of other drivers, --dir, --cfg, --dt,
 * --mb (one number), --match, --reset, and --batch, whose path is relative to the file that has it. Others say how
 * benchdnn runs them. What is no forward convolution of fp32 planes is noted as skipped.
 */
#ifndef EXPERIMENTS_EXP_BENCHDNN_H
#define EXPERIMENTS_EXP_BENCHDNN_H

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_model.h"

/*
 * Appends the convolutions of a text, whose path m has, to m; cuts the text up. Returns 0; -EINVAL and others with one
 * line in why that names path, line and value.
 */
int exp_benchdnn_read(struct exp_model *m, char *text, struct exp_why *why);

#endif
