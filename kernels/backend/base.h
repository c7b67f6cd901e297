/* The paper's baseline, executed: Caffe's im2col (skipped for pointwise convolutions), then cblas_sgemm. */
#ifndef KERNELS_BASE_H
#define KERNELS_BASE_H

#include "kernels/blas/blas.h"
#include "kernels/nest/nest.h"
#include "kernels/plan/plan.h"

/*
 * Runs a plan made by conv_plan_gemm. The run touches input, filter, im2col and output of the layout alone (OpenBLAS
 * packs into buffers of its own). Returns 0, or -EOVERFLOW if a dimension exceeds BLAS's int.
 */
int conv_base_run(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_blas *blas);

/* As conv_base_run, with another lowering routine, such as conv_im2col_rows, whose matrix must be conv_im2col's. */
typedef void (*conv_im2col_fn)(const struct conv_im2col_args *a);

int conv_base_run_with(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_blas *blas,
                       conv_im2col_fn lower);

/*
 * The work of cblas_sgemm step by step, so that the parts of a call can be timed: a back-end that executes the GEMM
 * nest with OpenBLAS's own routines for a core (copy, micro-kernel, clearing), which the shared library exports, in the
 * order of OpenBLAS's driver/level3/level3.c.
 *
 * Micro-kernel steps are gathered: OpenBLAS's kernel takes a whole block of windows and filters in one call. The call
 * is made when a step of another kind comes, or by conv_blas_exec_flush. The plan is conv_plan_gemm's, for the core in
 * use and its own micro-kernel.
 */
struct conv_blas_exec {
    struct conv_backend base;
    const struct conv_plan *plan;
    const struct conv_binding *bind;
    const struct conv_blas_parts *parts;
    struct conv_step block; /* n_win 0: none gathered */
};

void conv_blas_exec_init(struct conv_blas_exec *e, const struct conv_plan *plan, const struct conv_binding *bind,
                         const struct conv_blas_parts *parts);
void conv_blas_exec_flush(struct conv_blas_exec *e);

#endif
