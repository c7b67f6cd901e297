/*
 * kernels/blas/blas.h for programs that OpenBLAS is linked into, because a static program cannot load libraries. Stands
 * in place of blas.c, in the program that is run under emulation. The core type must be in the environment before the
 * program starts.
 */
#include "kernels/blas/blas.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc);
char *openblas_get_corename(void);
char *openblas_get_config(void);

int conv_blas_load(struct conv_blas *blas, struct sim_why why)
{
    (void)why;
    *blas = (struct conv_blas){ .handle = blas, .sgemm = cblas_sgemm }; /* any handle but NULL */
    snprintf(blas->core, sizeof blas->core, "%s", openblas_get_corename());
    snprintf(blas->config, sizeof blas->config, "%s", openblas_get_config());
    return 0;
}

void conv_blas_unload(struct conv_blas *blas)
{
    *blas = (struct conv_blas){ 0 };
}

/* The routines of the known cores, linked in where the library is of the core's CPU family. */
#define ROUTINES(CORE)                                                                                                 \
    __attribute__((weak)) int sgemm_itcopy_##CORE(long k, long n, float *from, long ld, float *to);                    \
    __attribute__((weak)) int sgemm_oncopy_##CORE(long k, long n, float *from, long ld, float *to);                    \
    __attribute__((weak)) int sgemm_kernel_##CORE(long m, long n, long k, float alpha, float *windows, float *filters, \
                                                  float *out, long ld_out);                                            \
    __attribute__((weak)) int sgemm_small_kernel_b0_nn_##CORE(long m, long n, long k, float *windows, long ld_windows, \
                                                              float alpha, float *filters, long ld_filters,            \
                                                              float *out, long ld_out);                                \
    __attribute__((weak)) int sgemm_beta_##CORE(long m, long n, long unused, float beta, float *, long, float *, long, \
                                                float *out, long ld_out);

#define ENTRY(name, CORE)                                                                                              \
    {                                                                                                                  \
        name,                                                                                                          \
        {                                                                                                              \
            sgemm_itcopy_##CORE, sgemm_oncopy_##CORE, sgemm_kernel_##CORE, sgemm_small_kernel_b0_nn_##CORE,            \
                sgemm_beta_##CORE                                                                                      \
        }                                                                                                              \
    }

ROUTINES(HASWELL)
ROUTINES(ZEN)
ROUTINES(SKYLAKEX)
ROUTINES(COOPERLAKE)
ROUTINES(POWER10)

int conv_blas_parts_find(struct conv_blas_parts *parts, const struct conv_blas *blas, const char *core,
                         struct sim_why why)
{
    static const struct {
        const char *core;
        struct conv_blas_parts parts;
    } linked[] = {
        ENTRY("Haswell", HASWELL),       ENTRY("Zen", ZEN),         ENTRY("SkylakeX", SKYLAKEX),
        ENTRY("Cooperlake", COOPERLAKE), ENTRY("POWER10", POWER10),
    };

    (void)blas;
    for (size_t i = 0; i < sizeof linked / sizeof linked[0]; i++) {
        const struct conv_blas_parts *p = &linked[i].parts;

        if (strcmp(linked[i].core, core) || !p->copy_windows || !p->copy_filters || !p->kernel || !p->clear)
            continue;
        *parts = *p;
        return 0;
    }
    return sim_fail(why, -ENOENT, "the OpenBLAS that is linked in has no routines for core %s", core);
}
