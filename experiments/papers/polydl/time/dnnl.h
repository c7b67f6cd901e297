/*
 * oneDNN as a peer, loaded at run time like OpenBLAS: forward convolutions in fp32, algorithm `direct`, one thread,
 * weights laid out ahead of time as it likes them; and batch normalisation in inference. Built without its header
 * (package libdnnl-dev, version 2), everything here says so.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_TIME_DNNL_H
#define EXPERIMENTS_PAPERS_POLYDL_TIME_DNNL_H

#include <stddef.h>

#include "experiments/base/error.h"
#include "kernels/bnorm.h"
#include "kernels/shape/problem.h"

enum exp_dnnl_layout {
    EXP_DNNL_PLAIN,   /* input and output as NCHW */
    EXP_DNNL_REORDER, /* its own blocked layouts; NCHW is converted before and after, every time */
    EXP_DNNL_BLOCKED, /* its own blocked layouts, converted outside exp_dnnl_run */
};

struct exp_dnnl;      /* the library */
struct exp_dnnl_conv; /* one convolution */
struct exp_dnnl_bnorm;

/*
 * Loads libdnnl.so.2. Sets OMP_NUM_THREADS=1 in the environment: call it before any thread starts. Returns 0, or
 * -ENOENT / -EINVAL with one line in why.
 */
int exp_dnnl_load(struct exp_dnnl **d, struct exp_why *why);
void exp_dnnl_unload(struct exp_dnnl *d); /* NULL is fine; after all its convolutions */
const char *exp_dnnl_version(const struct exp_dnnl *d);

/* Describes a convolution and the activation that is fused with it. The tensors are the caller's. */
struct exp_dnnl_layer {
    enum exp_dnnl_layout layout;
    const struct conv_problem *problem;
    enum conv_activation activation;
    float *in, *filter, *out; /* filter: OIHW */
};

/*
 * Prepares a layer, whose in and out must outlive it; the filter is copied. BLOCKED copies the input, too. Returns 0;
 * -ENOTSUP if oneDNN has no implementation; -ENOMEM; -EIO; why gets one line.
 */
int exp_dnnl_conv_new(struct exp_dnnl_conv **c, const struct exp_dnnl *d, const struct exp_dnnl_layer *layer,
                      struct exp_why *why);
void exp_dnnl_conv_free(struct exp_dnnl_conv *c);

/* Runs what is timed. Returns 0 or -EIO. */
int exp_dnnl_run(struct exp_dnnl_conv *c);

/* Brings the result to out as NCHW, where BLOCKED left it elsewhere. Returns 0 or -EIO. */
int exp_dnnl_fetch(struct exp_dnnl_conv *c);

/* Returns the implementation that oneDNN chose, such as "jit:avx512_core"; owned by c. */
const char *exp_dnnl_impl(const struct exp_dnnl_conv *c);

/*
 * Prepares batch normalisation of n images with c channels of elems elements, with ReLU fused, or without: of a tensor
 * in its own layout, [n][c / block][elems][block], and statistics whose epsilon counts. All is the caller's and must
 * outlive it. Returns 0; -ENOTSUP if oneDNN has no implementation, or the block does not divide c; -ENOMEM; -EIO; why
 * gets one line.
 */
int exp_dnnl_bnorm_new(struct exp_dnnl_bnorm **b, const struct exp_dnnl *d, const struct conv_bnorm *shape,
                       const struct conv_bnorm_statistics *s, float *in, float *out, struct exp_why *why);
void exp_dnnl_bnorm_free(struct exp_dnnl_bnorm *b);

/* Returns the channels of a block of that layout: those of a vector. */
size_t exp_dnnl_bnorm_block(void);

/* Runs it. Returns 0 or -EIO. */
int exp_dnnl_bnorm_run(struct exp_dnnl_bnorm *b);

#endif
