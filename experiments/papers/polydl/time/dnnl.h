/*
 * oneDNN as a peer: the records of kernels/plugin/onednn.c, compiled and loaded into this process as plug-ins are.
 * Everything runs on a single thread. Built without the header (package libdnnl-dev, version 2), there is no oneDNN.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_TIME_DNNL_H
#define EXPERIMENTS_PAPERS_POLYDL_TIME_DNNL_H

#include <stddef.h>

#include "experiments/base/error.h"
#include "kernels/shape/problem.h"

struct exp_dnnl;    /* the library */
struct exp_dnnl_op; /* a single operator on its tensors */

/*
 * Compiles and loads the file. Sets OMP_NUM_THREADS=1 in the environment: to be called before any thread starts.
 * Returns 0, or -errno with a line in why.
 */
int exp_dnnl_load(struct exp_dnnl **d, struct exp_why *why);
void exp_dnnl_unload(struct exp_dnnl *d); /* NULL is fine; after all operators are closed */
const char *exp_dnnl_version(const struct exp_dnnl *d);

/* Returns the channels of a block of bnorm_relu's layout. */
size_t exp_dnnl_block(const struct exp_dnnl *d);

/*
 * Prepares a record of the file, "blocked" or "relu6", on a convolution's tensors, which must outlive the operator; the
 * input is converted to the record's own layout. "bnorm_relu" takes tensors of the output's shape and statistics in
 * place of filters. Returns 0, or -errno with a line in why: -ENOTSUP if oneDNN has no implementation.
 */
int exp_dnnl_open(struct exp_dnnl_op **op, const struct exp_dnnl *d, const char *record, const struct conv_problem *p,
                  const float *in, const float *filters, float *out, struct exp_why *why);
void exp_dnnl_close(struct exp_dnnl_op *op); /* NULL is fine */

/* Runs the operator; brings the result to `out` where the record's own layout left the result elsewhere. */
void exp_dnnl_run(struct exp_dnnl_op *op);
void exp_dnnl_fetch(struct exp_dnnl_op *op);

#endif
