/*
 * The loop nests. A nest owns order, bounds and edges, and touches no tensor: for every piece of work it hands a step
 * to a back-end, which executes the step, replays its accesses, or counts it.
 */
#ifndef KERNELS_NEST_H
#define KERNELS_NEST_H

#include "kernels/shape/plan.h"
#include "kernels/shape/step.h"

/* Hands a run to a back-end, at once or step by step. Returns the first failing step's error, else 0. */
int conv_backend_run(struct conv_backend *backend, const struct conv_run *run);

/* Runs the plan's nest. Returns the first failing step's error, else 0. */
int conv_nest_run(const struct conv_plan *plan, struct conv_backend *backend);

/* Hands out the steps that pack all filters of a plan with packed filters. */
int conv_nest_pack_filters(const struct conv_plan *plan, struct conv_backend *backend);

/* SConv's macro-kernel (section 4.2, Figure 5), both schedules. */
int conv_nest_sconv(const struct conv_plan *plan, struct conv_backend *backend);

/* Returns the first window of an SConv plan's input tile; of the tile past the last, the number of windows. */
size_t conv_plan_tile_start(const struct conv_plan *plan, size_t tile);

/* Direct convolution, for few channels and filters per group. */
int conv_nest_direct(const struct conv_plan *plan, struct conv_backend *backend);

/* Winograd's convolution: transforms around products of matrices. */
int conv_nest_winograd(const struct conv_plan *plan, struct conv_backend *backend);
int conv_nest_winograd_filters(const struct conv_plan *plan, struct conv_backend *backend);

/* im2col + GEMM, blocked as GotoBLAS and OpenBLAS's driver/level3/level3.c block GEMM. */
int conv_nest_gemm(const struct conv_plan *plan, struct conv_backend *backend);

#endif
