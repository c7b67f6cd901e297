/*
 * Models from what is no table: texts of oneDNN's programs, which are batch files of benchdnn and logs, and networks.
 *
 * Batch files of oneDNN's benchdnn: problem descriptors and options, separated by blanks and lines;
 * '#' starts a comment.
 *
 * Options that decide which convolutions are meant are heeded: --conv and names of other drivers, --dir, --cfg, --dt,
 * --mb (one number), --match, --reset, and --batch, whose path is relative to the file that has it. Others say how
 * benchdnn runs them. What is no forward convolution of fp32 planes is noted as skipped.
 */
#ifndef EXPERIMENTS_BENCH_MODEL_FORMATS_H
#define EXPERIMENTS_BENCH_MODEL_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/bench/model.h"
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

/* ---- networks ---- */

/*
 * Appends the convolutions of the network whose path m has to m. Nodes that convolve otherwise, or whose shape is not
 * known, are noted as skipped, each with its name; of all others, how many there are of each operator. Returns 0, or as
 * onnx_read with one line in why.
 */
int exp_onnx_read(struct exp_model *m, const struct exp_model_ask *ask, struct exp_why *why);

/* ---- adding to a model ---- */

/* Says where something stands: in a model's file, or in one that it includes. */
struct exp_model_place {
    const char *path;
    unsigned line;
};

/*
 * Appends a convolution d->times times, with the name that it brings; one without a name is called by its place and
 * shape, such as 02_64x56x56_64_3x3. Returns 0; -EINVAL for a name with control characters, or beyond 100,000 layers,
 * with one line in why.
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
 * Notes that something was left out, and why. What a file has for the same reason is noted together. Returns 0.
 */
int exp_model_skip(struct exp_model *m, struct exp_model_place at, const char *reason);

#endif
