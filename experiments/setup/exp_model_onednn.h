/*
 * Models from texts of oneDNN's programs: batch files of benchdnn, and logs.
 *
 * Batch files of oneDNN's benchdnn: problem descriptors (exp_model_build.h) and options, separated by blanks and lines;
 * '#' starts a comment.
 *
 * Options that decide which convolutions are meant are heeded: --conv and names of other drivers, --dir, --cfg, --dt,
 * --mb (one number), --match, --reset, and --batch, whose path is relative to the file that has it. Others say how
 * benchdnn runs them. What is no forward convolution of fp32 planes is noted as skipped.
 */
#ifndef EXPERIMENTS_EXP_MODEL_ONEDNN_H
#define EXPERIMENTS_EXP_MODEL_ONEDNN_H

#include <stdbool.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_model.h"

/*
 * Appends the convolutions of a text, whose path m has, to m; cuts the text up. Returns 0; -EINVAL and others with one
 * line in why that names path, line and value.
 */
int exp_benchdnn_read(struct exp_model *m, char *text, struct exp_why *why);

/*
 * Logs of programs that ran with ONEDNN_VERBOSE=1: the convolutions that really ran, in their order. Lines of oneDNN's
 * versions 1 to 3 are known; other lines are passed over. A convolution's layouts are oneDNN's own choice and are not
 * looked at. What is no forward convolution of fp32 planes is noted as skipped.
 *
 * A program that runs a network many times repeats its convolutions: the model is the shortest sequence that the log
 * repeats from its begin to its end.
 */

/* Tells whether a text has a line of such a log. */
bool exp_onednn_log_is(const char *text);

/*
 * Appends the convolutions of a log, whose path m has, to m, and sets m->repeats; cuts the text up. Returns 0; -EINVAL
 * and others with one line in why that names path, line and value.
 */
int exp_onednn_log_read(struct exp_model *m, char *text, struct exp_why *why);

#endif
