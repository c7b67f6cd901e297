/*
 * A program variant: a nest of loops around a GEMM micro-kernel, all as data. What is analysed (analysis/affine.h),
 * executed and replayed is a single record.
 *
 * The nest's outermost n_outer loops are the variant's own: order, tile sizes, and which loop is
 * parallel. The last three are the micro-kernel's, in the paper's order (Figure 8): n, m, k, and C[n][m] += B[n][k] *
 * A[k][m]:
 *
 *             convolution (Figure 8)                           GEMM (Figure 17)
 *   m         ofm, filters of a block: contiguous in A and C   columns of C
 *   n         oi, windows of an output row                     rows of C
 *   k         ifm, channels of a block: contiguous in B        reduction
 *   A         filter [ofm_tile][ifm_tile][kj][ki][ifm][ofm]    [k][n]
 *   B         input [img][ifm_tile][ij + kj][ii + ki][ifm]     [m][k]
 *   C         output [img][ofm_tile][oj][oi][ofm]              [m][n]
 *
 * The input holds the padding: a blocked layout has room. Every tile divides the extent, so a nest is a box.
 *
 * The variants of a layer are orders of the loops, tile sizes, a parallel loop. A variant is written as loops,
 * outermost first: `img* ofm oj.8 ifm oj kj ki` has img in parallel, and oj tiled by 8. A dimension may stand there
 * several times, each time with a smaller step; the rest of the dimension is the micro-kernel's, if the micro-kernel
 * has the dimension (oi of a convolution; i, j and k of a GEMM), and else must be 1. A variant of a single call is `-`.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_VARIANTS_H
#define EXPERIMENTS_PAPERS_POLYDL_VARIANTS_H

#include "experiments/base/error.h"
#include "experiments/papers/polydl/analysis/affine.h"
#include "kernels/shape/problem.h"

/* The micro-kernel's operands, by their names in BLAS, and in the order of exp_variant's tensors. */
enum exp_operand { EXP_OPERAND_A, EXP_OPERAND_B, EXP_OPERAND_C, EXP_N_OPERANDS };

/* A dense array of floats, row-major: the last extent is contiguous. The nest's accesses use the array's name. */
struct exp_tensor {
    char name[16];
    size_t n_dims;
    uint64_t extent[EXP_AFFINE_MAX_DIMS];
};

size_t exp_tensor_bytes(const struct exp_tensor *t);

/* Returns how many elements further an iteration of a nest's loop is, for an access to a tensor. */
uint64_t exp_tensor_step(const struct exp_tensor *t, const struct exp_affine_access *a, size_t loop);

struct exp_variant {
    /* the loops, outermost first, tiles after a dot, a star after the parallel loop: "img* ofm oj.8 ifm oj kj ki" */
    char name[96];
    struct exp_affine_nest nest;
    size_t n_outer; /* the nest has n_outer + 3 loops */
    uint64_t block; /* GEMM_BLOCK: channels of a block; 0 for GEMM */
    struct exp_tensor tensor[EXP_N_OPERANDS];
};

/* ---- the variants of a layer ---- */

/* A matrix multiplication, in the words of PolyDL's Figure 16: C[m][n] += A[m][k] * B[k][n]. */
struct exp_gemm {
    char name[32];
    uint64_t m, n, k;
};

/* The convolution or GEMM of the variants. */
struct exp_variant_source {
    const struct conv_problem *problem; /* a convolution; NULL: the GEMM */
    uint64_t block;                     /* of the channels */
    struct exp_gemm gemm;
    uint64_t n_images; /* an image for each thread; a GEMM has a single image, whatever n_images says */
};

/*
 * Returns the largest of PolyDL's blocks, 64, 32 and 16, that divides a convolution's channels and filters; or 0 with a
 * line in why: for a layer whose channels would need padding, with groups or with dilation.
 */
uint64_t exp_variant_block(const struct conv_problem *p, struct exp_why *why);

/*
 * Makes the variant of a text. Returns 0; -EINVAL with a line in why: for an unknown loop, a tile that does not divide,
 * a dimension that is not walked to the end, or a parallel loop and the dependence that forbids the loop.
 */
int exp_variant_read(struct exp_variant *v, const struct exp_variant_source *s, const char *text, struct exp_why *why);

/*
 * Checks that no two iterations of the parallel loop touch the same element with a write; any order of loops is legal,
 * as all writes are sums. Returns 0, or -EINVAL with the dependence in why. isl takes some 30 ms.
 */
int exp_variant_check(const struct exp_variant *v, struct exp_why *why);

/* Variants, from malloc. Starts as { 0 }. */
struct exp_variants {
    struct exp_variant *variant;
    size_t n;
};

/*
 * Makes the variants of a text:
 *
 *   paper, or ""   PolyDL's generator: at most 21 of a convolution, Figure 8 first; of a GEMM
 *                  21, i or j parallel, first without tiles but the micro-kernel's, 64, 32 or 16 of each
 *                  dimension
 *   all            all orders of a convolution's loops, untiled; all tile sizes of a GEMM, inner and outer: up to
 *                  30,000
 *   a number       this many of paper and all, the first of paper and then always the same sample
 *   else           exp_variant_read's texts, comma-separated
 *
 * No two nests are equal. Returns 0, or -EINVAL with a line in why.
 */
int exp_variants_make(struct exp_variants *v, const struct exp_variant_source *s, const char *wanted,
                      struct exp_why *why);
void exp_variants_release(struct exp_variants *v);

#endif
