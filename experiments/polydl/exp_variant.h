/*
 * A program variant: a nest of loops around a GEMM micro-kernel, all of it data. What is analysed (exp_affine.h),
 * executed and replayed is one and the same record.
 *
 * The nest's outermost n_outer loops are the variant's own: their order, their tile sizes, and which of them is
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
 * The input holds its padding: a blocked layout has room for it. Every tile divides its extent, so a nest is a box.
 */
#ifndef EXPERIMENTS_EXP_VARIANT_H
#define EXPERIMENTS_EXP_VARIANT_H

#include "experiments/polydl/exp_affine.h"

/* The micro-kernel's operands, by their names in BLAS, and in the order of exp_variant's tensors. */
enum exp_operand { EXP_OPERAND_A, EXP_OPERAND_B, EXP_OPERAND_C, EXP_N_OPERANDS };

/* A dense array of floats, row-major: the last extent is contiguous. Its name is that of the nest's accesses to it. */
struct exp_tensor {
    char name[16];
    size_t n_dims;
    uint64_t extent[EXP_AFFINE_MAX_DIMS];
};

struct exp_variant {
    /* Its loops, outermost first, tiles after a dot, a star after the parallel one: "img* ofm oj.8 ifm oj kj ki". */
    char name[96];
    struct exp_affine_nest nest;
    size_t n_outer; /* the nest has n_outer + 3 loops */
    uint64_t block; /* GEMM_BLOCK: channels of a block; 0 for GEMM */
    struct exp_tensor tensor[EXP_N_OPERANDS];
};

#endif
