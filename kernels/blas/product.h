/*
 * OpenBLAS's kernel for small products: sgemm_small_kernel_nn_skylakex.c, in Debian's 0.3.21, of the cores SkylakeX and
 * Cooperlake. The kernel packs nothing. cblas_sgemm calls the kernel for products of at most a million multiply-adds.
 *
 * Blocks of 64, 32 and 16 windows, and a block of the further windows, meet a few filters at a time: a loop over the
 * reduction, then the stores. At most eight further windows of at least 32 steps are copied instead: the steps of a
 * window then lie side by side. Dot products of windows and filters follow.
 */
#ifndef KERNELS_PRODUCT_H
#define KERNELS_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/shape/tensor.h"
#include "sim/base/access.h"
#include "sim/core/clock.h"

struct conv_product_args {
    enum conv_tensor tag;                 /* of the matrix: CONV_IM2COL or CONV_INPUT */
    uint64_t matrix, filter, out, copies; /* bytes; the matrix has a row for each step, filters follow each other */
    size_t n_win, n_f, n_k;
};

/* The most multiply-adds of a small product. */
#define CONV_SMALL_PRODUCT_MACS 1e6

/* Returns how many elements the kernel copies. */
size_t conv_product_copied(size_t n_win, size_t n_k);

void conv_product_emit(const struct conv_product_args *a, struct sim_sink *sink);

/* Returns the work of a call of cblas_sgemm. */
struct sim_work conv_product_work(const struct conv_product_args *a);

#endif
