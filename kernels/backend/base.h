/* The paper's baseline, executed: Caffe's im2col (skipped for pointwise convolutions), then cblas_sgemm. */
#ifndef KERNELS_BASE_H
#define KERNELS_BASE_H

#include "kernels/blas/blas.h"
#include "kernels/plan/plan.h"

/*
 * Runs a plan made by conv_plan_gemm; of its layout only input, filter, im2col and output are touched (OpenBLAS packs
 * into buffers of its own). Returns 0, or -EOVERFLOW if a dimension exceeds BLAS's int.
 */
int conv_base_run(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_blas *blas);

/* The same with another lowering routine, such as conv_im2col_rows: it must write the matrix that conv_im2col writes.
 */
typedef void (*conv_im2col_fn)(const struct conv_im2col_args *a);

int conv_base_run_with(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_blas *blas,
                       conv_im2col_fn lower);

#endif
