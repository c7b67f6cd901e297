/* Building models from what is no layer table, and what was left out of them. */
#ifndef EXPERIMENTS_EXP_MODEL_BUILD_H
#define EXPERIMENTS_EXP_MODEL_BUILD_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_descriptor.h"
#include "experiments/setup/exp_model.h"

/* Says where something stands: in a model's file, or in one that it includes. */
struct exp_model_place {
    const char *path;
    unsigned line;
};

/*
 * Appends a convolution d->times times, with the name that it brings; one without a name is called by its place and
 * shape, such as 02_64x56x56_64_3x3. Returns 0; -EINVAL for a name with control characters, or beyond 100,000 layers;
 * -ENOMEM; with one line in why.
 */
int exp_model_add(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at, struct exp_why *why);

/* Appends a convolution that ran: once, and without that limit, as a log is folded. */
int exp_model_add_run(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at,
                      struct exp_why *why);

/* Says whether there are more layers than a model may have: -EINVAL with one line in why. */
int exp_model_check_size(const struct exp_model *m, struct exp_why *why);

/* Keeps the first n layers. */
void exp_model_shorten(struct exp_model *m, size_t n);

/*
 * Notes that something was left out, and why. What a file has for the same reason is noted together. Returns 0, or
 * -ENOMEM with one line in why.
 */
int exp_model_skip(struct exp_model *m, struct exp_model_place at, const char *reason, struct exp_why *why);

/*
 * Prints what a reader should know of how the model was read: what was left out, a line for each reason, with the first
 * few lines of the file; how often a log repeats the model; which layers of a table share a name.
 */
void exp_model_print_notes(const struct exp_model *m, FILE *out);

#endif
