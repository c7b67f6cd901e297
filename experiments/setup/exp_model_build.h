/* Building models from what is no layer table, and what was left out of them. */
#ifndef EXPERIMENTS_EXP_MODEL_BUILD_H
#define EXPERIMENTS_EXP_MODEL_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_model.h"
#include "kernels/shape/problem.h"

/*
 * oneDNN's problem descriptors of convolutions, as benchdnn takes them and ONEDNN_VERBOSE=1 prints them:
 *
 *     g1mb1_ic64ih56iw56_oc64oh56ow56_kh3kw3_sh1sw1_ph1pw1_dh0dw0_n"res2a_branch2b*6"
 *
 * Rules of benchdnn's "conv" driver (its driver_conv.md): '_' separates and means nothing; groups default to 1, images
 * (mb) to 2, strides to 1, dilations to 0, which is no gap; a shape without widths is square; without an output size it
 * follows from the padding, without a padding the padding follows from the output, else it is 0; padding behind is what
 * the output needs. A number of times may stand behind the name, after '*'.
 */

struct exp_descriptor {
    struct conv_problem problem; /* finished, if unsupported is NULL */
    const char *unsupported;     /* a static text: why this is no convolution of planes; or NULL */
    size_t times;                /* at least 1 */
    const char *name;            /* in the text that was read, without quotes and '*'; */
    size_t name_length;          /* 0: it has none */
};

/*
 * Reads one descriptor; images overrides its mb, unless 0. Returns 0; -EINVAL, or as conv_problem_finish, with one line
 * in why that names what is wrong.
 */
int exp_descriptor_read(struct exp_descriptor *d, const char *text, size_t images, struct exp_why *why);

/* Tells whether a text may be a descriptor: it begins with a size that each one has, or with groups or images. */
bool exp_descriptor_begins(const char *text);

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
