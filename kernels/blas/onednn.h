/*
 * oneDNN's products of bf16 and bytes, loaded at run time (libdnnl.so.2). All runs on a single thread.
 *
 *     u8s8   dnnl_gemm_u8s8s32, whose left matrix is unsigned: the product has a row for each window, and is transposed
 *     s8s8   dnnl_gemm_s8s8s32
 *     bf16   a matmul primitive; needs AVX-512, and the header of libdnnl-dev when this file is compiled
 *
 * Bytes need VNNI: without it, oneDNN's sums of pairs saturate at 16 bits.
 */
#ifndef KERNELS_ONEDNN_H
#define KERNELS_ONEDNN_H

#include <stddef.h>

#include "kernels/shape/type.h"
#include "sim/base/why.h"

struct conv_onednn;

/*
 * Loads the library for a type; CONV_CPU limits the library, too. Sets OMP_NUM_THREADS=1 in the environment: to be
 * called before any thread starts. Returns 0; -ENOENT, -ENOTSUP or -ENOMEM with one line in why, and *d is NULL.
 */
int conv_onednn_load(struct conv_onednn **d, enum conv_type type, struct sim_why why);
void conv_onednn_unload(struct conv_onednn *d); /* NULL is fine */

const char *conv_onednn_version(const struct conv_onednn *d); /* "2.6.3" */

/* A product out[n_f][n_win] = filter[n_f][n_k] * matrix[n_k][n_win]; dense rows, addresses of elements of the type. */
struct conv_onednn_product {
    size_t n_f, n_win, n_k;
    const void *filter, *matrix;
    void *out; /* f32 or s32 */
};

/* Multiplies; thread-safe. The first product of a shape prepares code and memory. Returns 0, -ENOTSUP or -ENOMEM. */
int conv_onednn_multiply(struct conv_onednn *d, const struct conv_onednn_product *p);

#endif
