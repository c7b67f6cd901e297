/* The tables that the kernel files define and kernels/dispatch.c collects. Internal to kernels/. */
#ifndef KERNELS_UKR_UKR_TABLE_H
#define KERNELS_UKR_UKR_TABLE_H

#include "kernels/pack.h"
#include "kernels/ukr.h"

/* One of a kernel's compiled tile sizes. */
typedef void (*conv_ukr_instance_fn)(const struct conv_ukr_args *a);

extern const struct conv_ukr conv_ukr_ref[3];
extern const struct conv_ukr conv_ukr_avx2[1];
extern const struct conv_ukr conv_ukr_avx2_24[1];
extern const struct conv_ukr conv_ukr_avx512[1];
extern const struct conv_ukr conv_ukr_avx512_few[1];
extern const struct conv_ukr conv_ukr_avx512_32[1];
extern const struct conv_ukr conv_ukr_avx512_48[1];
extern const struct conv_ukr conv_ukr_avx512_taps[1];
extern const struct conv_ukr conv_ukr_mma[1];

extern const struct conv_pack_windows conv_pack_windows_ref;
extern const struct conv_pack_windows conv_pack_windows_avx2;
extern const struct conv_pack_windows conv_pack_windows_avx512;
extern const struct conv_pack_windows conv_pack_windows_vsx;

/*
 * Emits a k loop: every step's runs (n_runs of them, step_bytes set; the array has room for CONV_N_AHEAD more and is
 * used up), then what the step prefetches.
 */
void conv_emit_k_loop(const struct conv_ukr_args *a, struct sim_run *run, size_t n_runs, struct sim_sink *sink);

/*
 * Emits the steps from `first` on, n of them, in blocks of `block` steps, which divides n: every block's runs (room for
 * block * CONV_N_AHEAD more), then what its steps prefetch.
 */
void conv_emit_k_blocks(const struct conv_ukr_args *a, size_t first, size_t n, size_t block, struct sim_run *run,
                        size_t n_runs, struct sim_sink *sink);

/*
 * Emits a k loop of which every step loads win_loads pieces of the windows (win_bytes wide; side by side, or one of
 * each of the tile's panels), then the tile's filters one broadcast of 4 bytes each, then prefetches.
 */
void conv_emit_broadcast_loop(const struct conv_ukr *u, const struct conv_ukr_args *a, uint32_t win_bytes,
                              uint32_t win_loads, struct sim_sink *sink);

/* The AVX-512 tiles of vectors of 16 windows by filters: FMAs and loads of a step, and what a call touches. */
size_t conv_vector_fmas(size_t n_win, size_t n_f);
size_t conv_vector_loads(size_t n_win, size_t n_f);
void conv_emit_vector_tile(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink);

/* What their descriptors share; fn is NULL where this build cannot run them. */
#define CONV_VECTOR_TILE(windows, filters, panel, fn_)                                                                 \
    .isa = CPU_ISA_AVX512, .n_win = (windows), .n_f = (filters), .win_granule = 16, .win_panel = (panel),              \
    .f_panel = (filters), .reads_in_place = true, .prefetches = true, .step_fmas = conv_vector_fmas,                   \
    .step_loads = conv_vector_loads, .fn = (fn_), .emit = conv_emit_vector_tile

#endif
