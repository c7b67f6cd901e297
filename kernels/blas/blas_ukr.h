/*
 * OpenBLAS's own micro-kernel for a core, as one that SConv can be planned for: the paper's "same micro-kernel in
 * both", which leaves tiling and packing as the only differences from the baseline.
 */
#ifndef KERNELS_BLAS_UKR_H
#define KERNELS_BLAS_UKR_H

#include "kernels/blas/blas.h"
#include "kernels/blas/gemm_core.h"
#include "kernels/ukr/ukr.h"

/*
 * The descriptor's n_win x n_f tile is one call of the core's routine, which cuts ragged tiles into powers of two by
 * itself and therefore wants their panels cut so (splits_edges). As the routine always accumulates, fn clears the tile
 * first where it has to be overwritten.
 */
struct conv_blas_ukr {
    struct conv_ukr ukr; /* the first member: from it fn and emit find the others */
    const struct conv_gemm_core *core;
    conv_blas_kernel_fn kernel;
};

/*
 * kernel: the core's, of conv_blas_parts_find; NULL leaves a descriptor for replay only. Plans point to u->ukr: u stays
 * where it is as long as they live.
 */
void conv_blas_ukr_init(struct conv_blas_ukr *u, const struct conv_gemm_core *core, conv_blas_kernel_fn kernel);

#endif
