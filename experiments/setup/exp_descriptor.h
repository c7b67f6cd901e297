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
#ifndef EXPERIMENTS_EXP_DESCRIPTOR_H
#define EXPERIMENTS_EXP_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "kernels/shape/problem.h"

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

#endif
