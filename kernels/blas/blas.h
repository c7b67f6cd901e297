/* OpenBLAS, loaded at run time, after its environment is set. A host without the library still runs all else. */
#ifndef KERNELS_BLAS_H
#define KERNELS_BLAS_H

#include <stddef.h>

#include "sim/base/why.h"
#include "kernels/ukr/f32_openblas.h"

struct conv_blas {
    void *handle;
    char core[32];    /* the answer of openblas_get_corename(): the kernels in use */
    char config[160]; /* openblas_get_config(): version and build */
    void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                  const float *b, int ldb, float beta, float *c, int ldc);
};

/*
 * Sets the environment for a library that is loaded afterwards: one thread and a core type. The core type is
 * OPENBLAS_CORETYPE if the user set it, else the best type for this CPU (conv_gemm_core_for_host), else the library's
 * own choice. Changes the environment: call it before any thread starts. Returns 0 or -errno.
 */
int conv_blas_set_environment(void);

/* Sets the environment, and loads the library. Returns 0, or -ENOENT / -EINVAL with one line in why. */
int conv_blas_load(struct conv_blas *blas, struct sim_why why);
void conv_blas_unload(struct conv_blas *blas);

/* Returns the buffer of the next call's panels: the library's own memory; NULL if the library does not tell. */
void *conv_blas_buffer(const struct conv_blas *blas);

/* The routines of sgemm, for a core. */
struct conv_blas_parts {
    int (*copy_windows)(long k, long n, float *from, long ld, float *to);
    int (*copy_filters)(long k, long n, float *from, long ld, float *to);
    conv_blas_kernel_fn kernel;
    /* NULL: the core has none. The matrix has a row for each step. */
    int (*small)(long m, long n, long k, float *windows, long ld_windows, float alpha, float *filters, long ld_filters,
                 float *out, long ld_out);
    int (*clear)(long m, long n, long unused, float beta, float *, long, float *, long, float *out, long ld_out);
};

/* Finds the routines of a core, even if this CPU cannot run them. Returns 0, or -ENOENT with one line in why. */
int conv_blas_parts_find(struct conv_blas_parts *parts, const struct conv_blas *blas, const char *core,
                         struct sim_why why);

#endif
