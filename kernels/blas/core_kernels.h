/* Lists what the micro-kernels of OpenBLAS's cores touch, in the order of their machine code (struct conv_ukr). */
#ifndef KERNELS_CORE_KERNELS_H
#define KERNELS_CORE_KERNELS_H

#include "kernels/ukr/ukr.h"

/* sgemm_kernel_16x4_skylakex_3.c: SkylakeX and Cooperlake. */
void conv_core_avx512_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink);

/* sgemm_kernel_8x4_haswell_2.c: Haswell and Zen. */
void conv_core_avx2_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink);

/* sgemm_kernel_power10.c. */
void conv_core_mma_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink);

#endif
