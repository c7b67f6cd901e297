/* Shared by the emit functions of micro-kernels. Internal to kernels/. */
#ifndef KERNELS_UKR_EMIT_COMMON_H
#define KERNELS_UKR_EMIT_COMMON_H

#include "kernels/ukr/ukr.h"

/* Emits a k loop: each step's n_runs runs (step_bytes set; room for CONV_N_AHEAD more), then the step's prefetches. */
void conv_emit_k_loop(const struct conv_ukr_args *a, struct sim_run *run, size_t n_runs, struct sim_sink *sink);

/*
 * Emits the steps from `first` on, n of them, in blocks of `block` steps, which divides n: every block's runs (room for
 * block * CONV_N_AHEAD more), then the prefetches of the block's steps.
 */
void conv_emit_k_blocks(const struct conv_ukr_args *a, size_t first, size_t n, size_t block, struct sim_run *run,
                        size_t n_runs, struct sim_sink *sink);

/*
 * Emits a k loop. Every step loads win_loads pieces of the windows (win_bytes wide; side by side, or a piece of each of
 * the tile's panels), then the tile's filters, each a broadcast of 4 bytes, then prefetches.
 */
void conv_emit_broadcast_loop(const struct conv_ukr *u, const struct conv_ukr_args *a, uint32_t win_bytes,
                              uint32_t win_loads, struct sim_sink *sink);

#endif
