/*
 * Logs of programs that ran with ONEDNN_VERBOSE=1: the convolutions that really ran, in their order. Lines of oneDNN's
 * versions 1 to 3 are known; other lines are passed over. A convolution's layouts are oneDNN's own choice and are not
 * looked at. What is no forward convolution of fp32 planes is noted as skipped.
 *
 * A program that runs a network many times repeats its convolutions: the model is the shortest sequence that the log
 * repeats from its begin to its end.
 */
#ifndef EXPERIMENTS_EXP_ONEDNN_LOG_H
#define EXPERIMENTS_EXP_ONEDNN_LOG_H

#include <stdbool.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_model.h"

/* Tells whether a text has a line of such a log. */
bool exp_onednn_log_is(const char *text);

/*
 * Appends the convolutions of a log, whose path m has, to m, and sets m->repeats; cuts the text up. Returns 0; -EINVAL
 * and others with one line in why that names path, line and value.
 */
int exp_onednn_log_read(struct exp_model *m, char *text, struct exp_why *why);

#endif
