/* The loads of the micro-kernels of OpenBLAS's cores; the loads of a step, as runs. Internal to kernels/blas. */
#ifndef KERNELS_CORE_LOADS_H
#define KERNELS_CORE_LOADS_H

#include "kernels/ukr/ukr.h"

/* Returns `count` loads side by side, which move by step_bytes from a step to the next. */
struct sim_run conv_core_load(enum conv_tensor tag, uint64_t addr, uint32_t bytes, size_t count, size_t step_bytes);

/* A step's loads: of the windows, each as wide, all over again or side by side; of the filters, each as wide. */
struct core_step {
    uint32_t win_bytes, win_times, f_bytes;
    bool filters_first;
};

enum { CORE_MAX_LOADS = 8 };

/* Makes the runs of a call's first step; returns how many, at most CORE_MAX_LOADS. */
size_t conv_core_loads(const struct conv_ukr *u, const struct conv_ukr_args *a, struct core_step step,
                       struct sim_run *run);

/* As conv_core_loads, for the filters [f0, f0 + n_f) alone, `bytes` at a time. */
size_t conv_core_filter_loads(const struct conv_ukr *u, const struct conv_ukr_args *a, size_t f0, size_t n_f,
                              uint32_t bytes, struct sim_run *run);

/*
 * Return the multiply-add instructions of a step, read in Debian's machine code. Tiles of fewer windows than a vector
 * multiply several filters at a time.
 */
size_t conv_core_avx512_fmas(size_t n_win, size_t n_f);
size_t conv_core_avx2_fmas(size_t n_win, size_t n_f);

/*
 * List the accesses of the micro-kernels, in the order of their machine code (struct conv_ukr):
 * sgemm_kernel_16x4_skylakex_3.c of SkylakeX and Cooperlake, sgemm_kernel_8x4_haswell_2.c of Haswell and Zen, and
 * sgemm_kernel_power10.c.
 */
void conv_core_avx512_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink);
void conv_core_avx2_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink);
void conv_core_mma_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink);

#endif
