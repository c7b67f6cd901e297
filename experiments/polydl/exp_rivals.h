/*
 * The other programs that a layer's variants are held against, on NCHW tensors of their own: SConv, Base, oneDNN. A
 * GEMM is a 1x1 convolution to them.
 */
#ifndef EXPERIMENTS_EXP_RIVALS_H
#define EXPERIMENTS_EXP_RIVALS_H

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_planned.h"
#include "experiments/polydl/exp_polydl_time.h"
#include "experiments/setup/exp_tensors.h"

struct exp_rivals {
    const struct exp_setup *setup;
    struct exp_planned planned;
    struct exp_tensors tensors[EXP_N_POLYDL_BASELINES]; /* of SConv and Base */
    struct exp_dnnl_conv *dnnl;
};

/*
 * Prepares them for a layer. Base is there for a convolution only. A rival that is not there is not run. Must stay
 * where it is. Returns 0, or -errno with one line in why.
 */
int exp_rivals_init(struct exp_rivals *r, const struct exp_polydl_layer *l, const struct exp_polydl_timing *t,
                    struct exp_why *why);
void exp_rivals_release(struct exp_rivals *r);

/* Runs one. Returns 0, -ENOENT if it is not there, or -errno. */
int exp_rivals_run(struct exp_rivals *r, enum exp_polydl_baseline b);

/* Returns SConv's tensors by enum conv_tensor, of which input and filter are filled; NULL if it is not there. */
const float *exp_rivals_tensor(const struct exp_rivals *r, enum conv_tensor t);

#endif
