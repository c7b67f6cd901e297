/*
 * Plans Winograd's convolution: which micro-kernel, which tile, how many tiles in a block.
 *
 *   micro-kernel   of an instruction set: the first micro-kernel, or a micro-kernel with over a twentieth fewer issue
 *                  slots for the products, edges included (conv_ukr_slots on the tiles as windows). Wider tiles make
 *                  larger blocks
 *
 *   tile           m = 4 or m = 2, whichever takes fewer slots in all: products, or the time in which the filters'
 *                  panels arrive, whichever is more; and the transforms. F(4x4) has the fewer products, 36 for 16
 *                  outputs in place of 16 for 4, but four times the filters of a direct convolution, in place of 16/9
 *
 *   block          a tile's panels and products are 4 e^2 (channels + filters) bytes, and all filters pass by for each
 *                  block. Where the filters fit into half of the last level, a block is one tile of the micro-kernel:
 *                  panels and products stay as near as they can, and filters arrive in time, four bytes for each
 *                  multiply-add of a vector. Where the filters come from memory, a block has as many tiles as a quarter
 *                  of the last level holds, in equal blocks
 */
#ifndef KERNELS_PLAN_WINOGRAD_H
#define KERNELS_PLAN_WINOGRAD_H

#include "kernels/plan/plan.h"

/* All zero: the best for this computer, filters transformed ahead. */
struct conv_winograd_options {
    const struct conv_ukr *ukr; /* of the instruction set to choose from; NULL: the widest here */
    bool keeps_ukr;             /* no choice: ukr, which conv_winograd_takes_ukr */
    size_t m;                   /* 2 or 4; 0: chosen */
    bool packs_filters;         /* at run time */
    double most_error;          /* of elements of magnitude at most 1 (conv_winograd_worst_error); 0: any error */
};

/*
 * Tells whether Winograd takes the shape within the error, in over a sixteenth fewer slots than SConv's best
 * micro-kernel here takes.
 */
bool conv_winograd_pays(const struct conv_problem *p, const struct csa_caches *caches,
                        const struct conv_winograd_options *o);

/* Plans a shape that Winograd takes (conv_winograd_why_not), by a tile within the error. Returns 0 or -EOVERFLOW. */
int conv_plan_winograd_tuned(struct conv_plan *plan, const struct conv_problem *p, const struct csa_caches *caches,
                             const struct conv_winograd_options *o);

#endif
