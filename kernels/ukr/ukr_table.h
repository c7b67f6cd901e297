/* The tables that the kernel files define and kernels/ukr/dispatch.c collects. Internal to kernels/. */
#ifndef KERNELS_UKR_UKR_TABLE_H
#define KERNELS_UKR_UKR_TABLE_H

#include "kernels/ukr/pack.h"
#include "kernels/ukr/ukr.h"

/*
 * Code that needs an instruction set is alone in the files called *_<isa>.c, the only ones compiled for it: they define
 * functions whose names end in __<isa>, which descriptors hold and nothing else calls. Descriptors, what calls touch and
 * cost, and the rest that is asked on CPUs without the instruction set are in plain files beside them, *_emit.c.
 */

/* A function of such a file, or NULL where this build has none. BUILT_MMA is the Makefile's: its compiler knows MMA. */
#if defined(__x86_64__)
#define CONV_X86_FN(fn) fn
#else
#define CONV_X86_FN(fn) NULL
#endif
#if defined(BUILT_MMA)
#define CONV_MMA_FN(fn) fn
#else
#define CONV_MMA_FN(fn) NULL
#endif

/* One of a kernel's compiled tile sizes. */
typedef void (*conv_ukr_instance_fn)(const struct conv_ukr_args *a);

void conv_f32_ukr_16x6__avx2(const struct conv_ukr *u, const struct conv_ukr_args *a);
void conv_f32_ukr_16x24__avx2(const struct conv_ukr *u, const struct conv_ukr_args *a);
void conv_f32_ukr_16x24__avx512(const struct conv_ukr *u, const struct conv_ukr_args *a);
void conv_f32_ukr_16x24_few__avx512(const struct conv_ukr *u, const struct conv_ukr_args *a);
void conv_f32_ukr_32x12__avx512(const struct conv_ukr *u, const struct conv_ukr_args *a);
void conv_f32_ukr_48x8__avx512(const struct conv_ukr *u, const struct conv_ukr_args *a);
void conv_f32_ukr_14x32__avx512(const struct conv_ukr *u, const struct conv_ukr_args *a);
void conv_f32_ukr_16x8__mma(const struct conv_ukr *u, const struct conv_ukr_args *a);

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

#endif
