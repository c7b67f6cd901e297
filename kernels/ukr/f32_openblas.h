/* OpenBLAS's own micro-kernel for a core, for SConv plans: then only tiling and packing differ from the baseline. */
#ifndef KERNELS_F32_OPENBLAS_H
#define KERNELS_F32_OPENBLAS_H

#include "kernels/ukr/ukr.h"

/* A core's routine: out (+)= alpha * windows * filters over whole packed panels; m windows, n filters, k steps. */
typedef int (*conv_blas_kernel_fn)(long m, long n, long k, float alpha, float *windows, float *filters, float *out,
                                   long ld_out);

/*
 * The descriptor's n_win x n_f tile is a call of the core's routine, which cuts ragged tiles into powers of two by
 * itself and therefore needs panels cut into powers of two (splits_edges). The routine always accumulates, so fn clears
 * a tile first that has to be overwritten.
 */
struct conv_blas_ukr {
    struct conv_ukr ukr;         /* the first member: fn and emit find the whole struct from it */
    const struct conv_ukr *core; /* the tiles in which the routine works; replay only */
    conv_blas_kernel_fn kernel;
};

/*
 * Makes a micro-kernel of a core's (conv_gemm_core.ukr) and its routine (conv_blas_parts_find); NULL leaves a
 * descriptor for replay only. Plans point to u->ukr: u must not move as long as plans live.
 */
void conv_blas_ukr_init(struct conv_blas_ukr *u, const struct conv_ukr *core, conv_blas_kernel_fn kernel);

#endif
