/*
 * Does what follows a convolution in a network, fused: scale, bias, residual add, activation, on each output tile when
 * its last channel set has been accumulated, while it is in L1.
 *
 * It needs nothing from the nests: a back-end around another one looks for the computing steps that end their
 * reduction, and works on the same box of outputs. With a sink it emits its accesses instead, around a replaying
 * back-end.
 */
#ifndef KERNELS_FUSED_H
#define KERNELS_FUSED_H

#include "kernels/nest/nest.h"
#include "kernels/plan/plan.h"
#include "kernels/ukr/epilogue.h"

/* Says what is fused. Addresses of whole tensors, real or synthetic; 0: without that term. */
struct conv_after {
    uint64_t out, scale, bias, residual; /* [n][k][p][q], [k], [k], [n][k][p][q] */
    enum conv_activation activation;
};

struct conv_fused {
    struct conv_backend base;
    /* Does, or notes, what follows a tile of outputs. */
    void (*finish)(struct conv_fused *self, const struct conv_epilogue_args *a);
    struct conv_backend *inner;
    const struct conv_plan *plan;
    const struct conv_epilogue_kernel *kernel; /* of the plan's instruction set */
    size_t reduction;                          /* of the plan's problem */
    struct conv_after after;
    struct sim_sink *sink; /* NULL: execute */
};

/* Without a sink it executes. Whoever does neither sets finish afterwards. */
void conv_fused_init(struct conv_fused *f, struct conv_backend *inner, const struct conv_plan *plan,
                     const struct conv_after *after, struct sim_sink *sink);

#endif
