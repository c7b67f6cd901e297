/*
 * Models from what is no table: texts of oneDNN's programs, which are batch files of benchdnn and logs, and networks.
 *
 * What such a file says, and what is no forward convolution of fp32 planes, is never left out without a word:
 * exp_model_skip notes each kind with its lines. An error ends the reading only where nobody can tell what is meant:
 * where a file that is named is not there, or where a value of an option that is heeded is none.
 */
#ifndef EXPERIMENTS_BENCH_MODEL_FORMATS_H
#define EXPERIMENTS_BENCH_MODEL_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/csv.h"
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
 * the output needs, and is never negative here. A number of times may stand behind the name, after '*'.
 */

struct exp_descriptor {
    struct conv_problem problem; /* finished, if unsupported is NULL */
    const char *unsupported;     /* a static text: why this is no convolution of planes; or NULL */
    size_t times;                /* at least 1 */
    const char *name;            /* in the text that was read, without quotes and '*'; */
    size_t name_length;          /* 0: it has none */
    const char *suffix;          /* of the name that a layer gets; NULL: none */
    bool is_line;                /* has a width alone: its height and its filters' height are 1 */
};

/*
 * Reads one descriptor; images overrides its mb, unless 0. Returns 0; -EINVAL, or as conv_problem_finish, with one line
 * in why that names what is wrong.
 */
int exp_descriptor_read(struct exp_descriptor *d, const char *text, size_t images, struct exp_why *why);

/* Tells whether a text may be a descriptor: it begins with a size that each one has, or with groups or images. */
bool exp_descriptor_begins(const char *text);

/*
 * A depthwise convolution that oneDNN fuses with a convolution: dw:k3s2p1, an attribute. Its input is the output of the
 * first one, and has as many groups as channels.
 */
struct exp_fused {
    size_t kernel, stride, pad; /* of height and width alike */
    bool is_known;              /* else the three could not be read */
    bool is_f32;                /* what it writes */
};

/* Finds the next one in attributes, which begin at text, from `from` on. Returns what follows it; NULL if there is none. */
const char *exp_fused_find(struct exp_fused *f, const char *from, const char *text);

/*
 * Makes the descriptor of what is fused with d. Returns NULL, or a static text that says why this is no convolution
 * here.
 */
const char *exp_descriptor_fuse(struct exp_descriptor *with, const struct exp_descriptor *d, const struct exp_fused *f);

/*
 * Batch files of oneDNN's benchdnn: problem descriptors and options, separated by blanks and lines; '#' starts a
 * comment, a backslash at the end of a word takes the next word along. An option's value may be a list, whose items all run.
 *
 * Options that decide which convolutions are meant are heeded: --conv and names of other drivers, --dir, --cfg, --dt,
 * --mb, --attr-post-ops, --match, --reset, and --batch, whose path is relative to the file that has it. Others say how
 * benchdnn runs them, or are not known: each is noted. Of lists, forward passes and fp32 are read, once; each number of
 * images is a layer; so is what is fused.
 *
 * Appends the convolutions of a text, whose path m has, to m; cuts the text up. Returns 0; -EINVAL and others with one
 * line in why that names path, line and value.
 */
int exp_benchdnn_read(struct exp_model *m, char *text, struct exp_why *why);

/*
 * Logs of programs that ran with ONEDNN_VERBOSE=1, or with MKLDNN_VERBOSE=1: the convolutions that really ran, in their
 * order. Lines of oneDNN's versions 1 to 3 are known, and of MKL-DNN 0, which names no types: these are read as fp32
 * where the implementation's name does not speak against it. Lines of the program are passed over. A convolution's
 * layouts are oneDNN's own choice and are not looked at. What is fused with a convolution is the next layer.
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

/* ---- layer tables ---- */

/*
 * Reads the layers of a table. It needs the columns in_c, in_h, in_w, out_c, k_h and k_w alone: strides, dilations,
 * groups and images are 1, padding is 0, and names are made of number and shape where no column says them. kernel,
 * stride, dilation and pad stand for both directions; the columns of ConvBench's tables are known, too. Returns 0; -EINVAL
 * and others with one line in why that names path, line, column and value: also where two columns say one size
 * otherwise, and for a column that may be a slip.
 */
int exp_layer_table_read(struct exp_model *m, const struct exp_table *t, struct exp_why *why);

/* ---- networks ---- */

/*
 * Appends the convolutions of the network whose path m has to m. Nodes that convolve otherwise, or whose shape is not
 * known, are noted as skipped, each with its name; of all others, how many there are of each operator. Returns 0, or as
 * onnx_read with one line in why.
 */
int exp_onnx_read(struct exp_model *m, const struct exp_model_ask *ask, struct exp_why *why);

/* ---- adding to a model ---- */

/* Why something is left out, in the words of all readers. */
#define EXP_OTHER_TYPES "other types than fp32, which alone is supported"
#define EXP_NOT_FORWARD "no forward pass, which alone is supported"

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

/* Returns the name of a layer without one, of its number and shape, from malloc: 02_64x56x56_64_3x3. */
char *exp_shape_name(size_t number, const struct conv_problem *p);

/* Notes a sentence of how a model was read, which exp_model_print_notes prints. */
void exp_model_note(struct exp_model *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says whether there are more layers than a model may have: -EINVAL with one line in why. */
int exp_model_check_size(const struct exp_model *m, struct exp_why *why);

/* Keeps the first n layers. */
void exp_model_shorten(struct exp_model *m, size_t n);

/*
 * Notes that something was left out, and why. What a file has for the same reason is noted together. Returns 0.
 */
int exp_model_skip(struct exp_model *m, struct exp_model_place at, const char *reason);

#endif
