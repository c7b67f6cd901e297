/* Makes plans (shape/plan.h), and answers questions about plans. */
#ifndef KERNELS_PLAN_H
#define KERNELS_PLAN_H

#include <stdbool.h>

#include "kernels/blas/gemm_core.h"
#include "kernels/csa/csa.h"
#include "kernels/shape/plan.h"
#include "kernels/ukr/direct.h"
#include "kernels/ukr/pack.h"
#include "kernels/ukr/ukr.h"
#include "kernels/ukr/winograd.h"

/* conv_plan_sconv, conv_plan_sconv_with and conv_plan_lowered plan all element types, the other functions f32 alone. */

/* Tells whether the micro-kernel can read the shape's windows tap by tap: it walks, and the filter is not too large. */
bool conv_plan_can_walk(const struct conv_problem *p, const struct conv_ukr *ukr);

/*
 * Plans SConv with the given tiling. reads_in_place is ignored for micro-kernels that read packed windows only, and for
 * shapes that are neither pointwise nor can be walked. Where the micro-kernel walks, its tiles follow the output's rows
 * (cut), which may be more tiles than the tiling says. skips_padding is ignored without rows to skip, in place, where
 * walking skips rows anyway, or where the filters of a tile are several panels. pads_first is ignored without padding;
 * pads_first excludes the three options before it. lowers_first is ignored for pointwise shapes, whose input is the
 * matrix; it excludes all other options but packs_filters, and the tiling's channels are rows of the matrix. Types with
 * several channels in a lane are packed by channels: the four options before lowers_first are ignored. The micro-kernel
 * has the problem's type. Returns 0, or -EOVERFLOW if the tensors do not fit an address space.
 */
int conv_plan_sconv_with(struct conv_plan *plan, const struct conv_problem *p, const struct conv_ukr *ukr,
                         const struct csa_tiling *tiling, const struct conv_sconv_options *options);

/* Tells how the kernels get their windows: "in place", "packed", or "packed without rows of padding". */
const char *conv_plan_windows_name(const struct conv_plan *plan);

/* Returns the name of the micro-kernel, or of the direct kernel. */
const char *conv_plan_kernel_name(const struct conv_plan *plan);

/* Returns the instruction set of the plan's kernel. */
enum cpu_isa conv_plan_isa(const struct conv_plan *plan);

/* Returns the core whose blocking the plan has; NULL for plans without GEMM. */
static inline const struct conv_gemm_core *conv_plan_core(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_GEMM ? plan->gemm.core : NULL;
}

/* Tells whether OpenBLAS's sgemm does the plan's work: GEMM with the core's own micro-kernel. */
static inline bool conv_plan_is_base(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_GEMM && plan->ukr == &plan->gemm.core->ukr;
}

/* Tells whether this build and this CPU can execute the plan. */
bool conv_plan_runs(const struct conv_plan *plan);

/* Plans SConv as in the paper. */
int conv_plan_sconv(struct conv_plan *plan, const struct conv_problem *p, const struct conv_ukr *ukr,
                    const struct csa_tiling *tiling, bool packs_filters);

/*
 * Plans a direct convolution with a suitable kernel (conv_direct_suits). The data of a step fill half of L1, of
 * l1_bytes, or are a tile's rows of one group. Returns 0 or -EOVERFLOW.
 */
int conv_plan_direct(struct conv_plan *plan, const struct conv_problem *p, const struct conv_direct *kernel,
                     double l1_bytes);

/*
 * Plans im2col + GotoBLAS-structured GEMM with the blocking of an OpenBLAS core. ukr is the core's own (replay), or any
 * executable micro-kernel. Returns 0 or -EOVERFLOW.
 */
int conv_plan_gemm(struct conv_plan *plan, const struct conv_problem *p, const struct conv_gemm_core *core,
                   const struct conv_ukr *ukr);

/*
 * Plans im2col + GEMM of any element type: SConv's nest on the im2col matrix, in the loop order and blocks of GotoBLAS.
 * A block of windows has core->p windows and core->q lanes and stays in L2; each panel of filters meets all its windows.
 * ukr has the problem's type. Returns 0 or -EOVERFLOW.
 */
int conv_plan_lowered(struct conv_plan *plan, const struct conv_problem *p, const struct conv_gemm_core *core,
                      const struct conv_ukr *ukr, bool packs_filters);

/*
 * Plans Winograd's F(m x m, 3 x 3), m 2 or 4, with blocks of at least `block` tiles, for a shape and a micro-kernel that
 * Winograd takes (conv_winograd_why_not, conv_winograd_takes_ukr). Returns 0 or -EOVERFLOW.
 */
int conv_plan_winograd(struct conv_plan *plan, const struct conv_problem *p, const struct conv_ukr *ukr, size_t m,
                       size_t block, bool packs_filters);

/* Plans a plug-in's convolution, whose name and code must outlive the plan. Returns 0 or -EOVERFLOW. */
int conv_plan_plugin(struct conv_plan *plan, const struct conv_problem *p, const char *name, void *code);

#endif
