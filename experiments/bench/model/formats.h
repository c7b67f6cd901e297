/*
 * Models from files without a table: batch files of benchdnn and logs, both of oneDNN, and networks.
 *
 * No entry of a file is left out silently: exp_model_skip notes each kind of entry that is no forward convolution of
 * fp32 planes, with its lines. An error ends the reading only if the meaning is unclear: a named file is missing, or an
 * option in use has an invalid value.
 */
#ifndef EXPERIMENTS_BENCH_MODEL_FORMATS_H
#define EXPERIMENTS_BENCH_MODEL_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/csv.h"
#include "experiments/base/error.h"
#include "experiments/bench/model/model.h"
#include "kernels/shape/problem.h"

/*
 * oneDNN's problem descriptors of convolutions, as benchdnn reads them and ONEDNN_VERBOSE=1 prints them:
 *
 *     g1mb1_ic64ih56iw56_oc64oh56ow56_kh3kw3_sh1sw1_ph1pw1_dh0dw0_n"res2a_branch2b*6"
 *
 * The rules are those of benchdnn's "conv" driver (its driver_conv.md). '_' separates and has no meaning. Defaults: 1
 * group, 2 images (mb), stride 1, dilation 0 (no gap). A shape without widths is square. A missing output size follows
 * from the padding; a missing padding follows from the output; if both are missing, the padding is 0. The padding
 * behind is as large as the output needs, and is never negative here. A number of repetitions may stand behind the
 * name, after '*'.
 */

struct exp_descriptor {
    struct conv_problem problem; /* finished, if unsupported is NULL */
    const char *unsupported;     /* a static text: why the shape is no convolution of planes; or NULL */
    size_t times;                /* at least 1 */
    const char *name;            /* in the read text, without quotes and '*' */
    size_t name_length;          /* 0: no name */
    const char *suffix;          /* appended to the layer's name; NULL: none */
    bool is_line;                /* has only a width: input height and filter height are 1 */
};

/*
 * Reads one descriptor; images overrides the descriptor's mb, unless 0. Returns 0; -EINVAL, or as conv_problem_finish,
 * with one line in why.
 */
int exp_descriptor_read(struct exp_descriptor *d, const char *text, size_t images, struct exp_why *why);

/* Tells whether a text may be a descriptor: the text begins with a required size, or with groups or images. */
bool exp_descriptor_begins(const char *text);

/*
 * A depthwise convolution that oneDNN fuses with a convolution, written as the attribute dw:k3s2p1. The input is the
 * convolution's output, with as many groups as channels.
 */
struct exp_fused {
    size_t kernel, stride, pad; /* for height and width alike */
    bool is_known;              /* false: kernel, stride or pad could not be read */
    bool is_f32;                /* the type of the output */
};

/* Finds the next fused convolution in the attributes `text`, from `from` on. Returns the text behind it; NULL: none. */
const char *exp_fused_find(struct exp_fused *f, const char *from, const char *text);

/*
 * Makes the descriptor of the convolution fused with d. Returns NULL, or a static text: why the convolution is not
 * supported.
 */
const char *exp_descriptor_fuse(struct exp_descriptor *with, const struct exp_descriptor *d, const struct exp_fused *f);

/*
 * Batch files of oneDNN's benchdnn: problem descriptors and options, separated by blanks and lines. '#' starts a
 * comment. A backslash at the end of a word joins the next word. An option's value may be a list, whose items all run.
 *
 * Options that select convolutions are used: --conv and names of further drivers, --dir, --cfg, --dt, --mb,
 * --attr-post-ops, --match, --reset, and --batch, whose path is relative to the including file. All remaining options
 * only direct how benchdnn runs, or are unknown: each is noted. From lists of directions and types, only forward passes
 * and fp32 are read, once. Each number of images gives a layer, and so does each fused convolution.
 *
 * Appends the convolutions of a text to m; m has the text's path; cuts the text up. Returns 0; -EINVAL or another error
 * with one line in why: path, line and value.
 */
int exp_benchdnn_read(struct exp_model *m, char *text, struct exp_why *why);

/*
 * Logs of programs that ran with ONEDNN_VERBOSE=1, or with MKLDNN_VERBOSE=1: the convolutions that really ran, in their
 * order. The reader knows oneDNN's versions 1 to 3, and MKL-DNN 0, whose lines have no types. A convolution of MKL-DNN
 * 0 is read as fp32 unless the implementation's name says another type. The program's own lines are skipped. A
 * convolution's layouts are oneDNN's choice and are ignored. A fused convolution becomes the next layer.
 *
 * A program that runs a network many times repeats its convolutions: the model is the shortest sequence whose
 * repetition is the whole log.
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
 * Reads the layers of a table. Only the columns in_c, in_h, in_w, out_c, k_h and k_w are required. Without their
 * columns, strides, dilations, groups and images are 1, padding is 0, and names consist of number and shape. The
 * columns kernel, stride, dilation and pad stand for both directions; the columns of ConvBench's tables are known, too.
 * Returns 0; -EINVAL or another error with one line in why: path, line, column and value. Two columns that disagree on
 * a size are an error, and so is a column whose name may be a slip.
 */
int exp_layer_table_read(struct exp_model *m, const struct exp_table *t, struct exp_why *why);

/* ---- networks ---- */

/*
 * Appends the convolutions of the network at m's path to m. Special convolutions, and convolutions of unknown shape,
 * are noted as skipped, each by name; all further nodes are counted by operator. Returns 0, or as onnx_read with one
 * line in why.
 */
int exp_onnx_read(struct exp_model *m, const struct exp_model_ask *ask, struct exp_why *why);

/* ---- adding to a model ---- */

/* Reasons for leaving an entry out, shared by all readers. */
#define EXP_OTHER_TYPES "other types than fp32, which alone is supported"
#define EXP_NOT_FORWARD "no forward pass, which alone is supported"

/* A place in a model's file, or in an included file. */
struct exp_model_place {
    const char *path;
    unsigned line;
};

/*
 * Appends a convolution d->times times, under its name; a convolution without a name is named by place and shape, such
 * as 02_64x56x56_64_3x3. Returns 0; -EINVAL for a name with control characters, or beyond 100,000 layers, with one line
 * in why.
 */
int exp_model_add(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at, struct exp_why *why);

/* Appends a convolution of a log: once, and without the limit of layers, because logs are folded later. */
int exp_model_add_run(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at,
                      struct exp_why *why);

/* Returns a name from a layer's number and shape, from malloc: 02_64x56x56_64_3x3. */
char *exp_shape_name(size_t number, const struct conv_problem *p);

/* Adds a sentence to the notes on the reading of a model, for exp_model_print_notes. */
void exp_model_note(struct exp_model *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Checks that a model has not too many layers. Returns 0, or -EINVAL with one line in why. */
int exp_model_check_size(const struct exp_model *m, struct exp_why *why);

/* Keeps the first n layers. */
void exp_model_shorten(struct exp_model *m, size_t n);

/* Notes a left-out entry and the reason. Entries of one file with one reason are noted together. Returns 0. */
int exp_model_skip(struct exp_model *m, struct exp_model_place at, const char *reason);

/* Gives layers with equal names names of their own, and notes the first of the new names. */
void exp_model_tell_apart(struct exp_model *m);

/* Checks that each pattern matches a layer of at least one model; cuts the list up. Returns as exp_model_filter. */
int exp_models_check_patterns(const struct exp_models *m, char *patterns, struct exp_why *why);

/* Tells whether the name of a model is a path. */
bool exp_model_is_path(const char *which);

#endif
