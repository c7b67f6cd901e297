/*
 * kernels/blas.h for programs that OpenBLAS is linked into: a static program cannot load it. Takes the place of blas.c,
 * for the program that is run under emulation. The core type must be in the environment before the program starts.
 */
#include "kernels/blas.h"

#include <stdio.h>

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc);
char *openblas_get_corename(void);
char *openblas_get_config(void);

int conv_blas_load(struct conv_blas *blas, char *why, size_t why_bytes)
{
    (void)why;
    (void)why_bytes;
    *blas = (struct conv_blas){ .handle = blas, .sgemm = cblas_sgemm }; /* any handle: it is there */
    snprintf(blas->core, sizeof blas->core, "%s", openblas_get_corename());
    snprintf(blas->config, sizeof blas->config, "%s", openblas_get_config());
    return 0;
}

void conv_blas_unload(struct conv_blas *blas)
{
    *blas = (struct conv_blas){ 0 };
}
