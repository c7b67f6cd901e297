/*
 * What a layer's variants are held against: the plain loops, LIBXSMM's micro-kernels, and other programs, on NCHW
 * tensors of their own.
 */
#ifndef EXPERIMENTS_EXP_BASELINES_H
#define EXPERIMENTS_EXP_BASELINES_H

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_polydl.h"
#include "experiments/polydl/exp_variants.h"
#include "experiments/polydl/time/exp_polydl_tasks.h"
#include "experiments/setup/exp_case.h"
#include "experiments/setup/exp_tensors.h"
#include "kernels/shape/problem.h"
#include "kernels/ukr/small.h"

/* ---- plans in this project's algorithms ---- */

/* Holds one layer's plans, as an experiment of one layer. */
struct exp_layer_plans {
    struct exp_layer layer;
    struct exp_model model;
    struct exp_experiment plans;
};

/*
 * Plans a layer's shape, of as many images as are wanted, in a comma-separated list of algorithms. It must stay where
 * it is. Returns 0; -ENOMEM, -EOVERFLOW or -EINVAL with one line in why.
 */
int exp_layer_plans_init(struct exp_layer_plans *p, const struct exp_setup *setup, const struct exp_polydl_layer *l,
                         const struct conv_problem *shape, const char *algos, struct exp_why *why);
void exp_layer_plans_release(struct exp_layer_plans *p); /* one that is all zeros is fine */

/* Returns the case of an algorithm; NULL if it was not asked for. */
const struct exp_case *exp_layer_plans_case(const struct exp_layer_plans *p, const char *algo);

/* ---- other programs ---- */

/* Holds SConv, Base and oneDNN. A GEMM is a 1x1 convolution to them. */
struct exp_baselines {
    const struct exp_setup *setup;
    struct exp_layer_plans planned;
    struct exp_tensors tensors[EXP_N_POLYDL_BASELINES]; /* of SConv and Base */
    struct exp_dnnl_conv *dnnl;
};

/*
 * Prepares them for a layer. Base is there for a convolution only. What is not there is not run. Must stay
 * where it is. Returns 0, or -errno with one line in why.
 */
int exp_baselines_init(struct exp_baselines *r, const struct exp_polydl_layer *l, const struct exp_polydl_timing *t,
                       struct exp_why *why);
void exp_baselines_release(struct exp_baselines *r);

/* Runs one. Returns 0, -ENOENT if it is not there, or -errno. */
int exp_baselines_run(struct exp_baselines *r, enum exp_polydl_baseline b);

/* Returns SConv's tensors by enum conv_tensor, of which input and filter are filled; NULL if it is not there. */
const float *exp_baselines_tensor(const struct exp_baselines *r, enum conv_tensor t);

/* ---- the loops of PolyDL's Figures 8 and 16 as they stand there, without a micro-kernel ---- */

/* Returns how many iterations the outermost loop has: blocks of filters, or rows of a GEMM. */
size_t exp_loops_iterations(const struct exp_variant_source *s);

/*
 * Adds the first iterations of the outermost loop, of one image's convolution in blocked layouts or of the GEMM, to C.
 */
void exp_loops_run(const struct exp_variant_source *s, size_t n_iterations, const float *a, const float *b, float *c);

/*
 * Between a convolution's usual layouts (kernels/shape/problem.h) and the blocked ones of a variant (exp_variant.h).
 * The blocked tensors have as many images as the problem.
 */

/* Copies an input, and puts zeros where its padding is. */
void exp_block_input(const struct conv_problem *p, size_t block, const float *in, float *blocked);

void exp_block_filter(const struct conv_problem *p, size_t block, const float *filter, float *blocked);
void exp_unblock_output(const struct conv_problem *p, size_t block, const float *blocked, float *out);

/* ---- LIBXSMM (package libxsmm-dev, a static library); built without its header, this says so ---- */

/* A micro-kernel for the very sizes of a variant's calls. */
typedef void (*exp_xsmm_fn)(const float *a, const float *b, float *c);

/* Says why there is no LIBXSMM, or NULL; and its version, or why there is none. */
const char *exp_xsmm_why_not(void);
const char *exp_xsmm_version(void);

/*
 * Compiles for calls like this one. Returns NULL if LIBXSMM cannot or is not there. The code is LIBXSMM's to the end.
 */
exp_xsmm_fn exp_xsmm_compile(const struct conv_small_args *a);

#endif
