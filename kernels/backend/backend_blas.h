/*
 * A back-end that executes the GEMM nest with OpenBLAS's own routines for a core (copy, micro-kernel, clearing), which
 * the shared library exports: the same work as cblas_sgemm, in the order of its driver/level3/level3.c, but step by
 * step, so that the parts of one call can be timed.
 */
#ifndef KERNELS_BACKEND_BLAS_H
#define KERNELS_BACKEND_BLAS_H

#include "kernels/blas/blas.h"
#include "kernels/nest/nest.h"
#include "kernels/plan/plan.h"

/*
 * Micro-kernel steps are gathered: OpenBLAS's kernel takes a whole block of windows and filters in one call, which is
 * made when the next step of another kind comes, or by conv_blas_exec_flush. The plan is conv_plan_gemm's, for the core
 * in use and its own micro-kernel.
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
