/*
 * Does what follows a convolution in a network, fused: scale, bias, residual add, activation, on each output tile when
 * its last channel set has been accumulated, while the tile is in L1.
 *
 * Fusing needs nothing from the nests: a back-end around another back-end looks for the computing steps that end their
 * reduction, and works on the steps' boxes of outputs. With a sink the back-end emits its accesses instead, around a
 * replaying back-end.
 */
#ifndef KERNELS_FUSED_H
#define KERNELS_FUSED_H

#include <stdbool.h>

#include "kernels/nest/nest.h"
#include "kernels/plan/plan.h"
#include "kernels/ukr/epilogue.h"

/* The fused work. Addresses of whole tensors, real or synthetic; 0: without the term. */
struct conv_after {
    uint64_t out, scale, bias, residual; /* [n][k][p][q], [k], [k], [n][k][p][q] */
    enum conv_activation activation;
};

enum { CONV_FUSED_MOST = 16 };

/* Outputs whose finish waits for their neighbours. */
struct conv_fused_pending {
    struct conv_epilogue_args box;
    size_t row, win_end; /* the first filter, counted through all images; the window behind the last */
};

struct conv_fused {
    struct conv_backend base;
    /* Finishes, or notes, a tile of outputs. */
    void (*finish)(struct conv_fused *self, const struct conv_epilogue_args *a);
    struct conv_backend *inner;
    const struct conv_plan *plan;
    const struct conv_epilogue_kernel *kernel; /* of the plan's instruction set */
    size_t reduction;                          /* of the plan's problem */
    struct conv_after after;
    struct sim_sink *sink; /* NULL: execute */
    bool gathers;
    struct conv_fused_pending pending[CONV_FUSED_MOST];
    size_t n_pending;
};

/* Without a sink it executes. A caller that wants another finish sets it afterwards. */
void conv_fused_init(struct conv_fused *f, struct conv_backend *inner, const struct conv_plan *plan,
                     const struct conv_after *after, struct sim_sink *sink);

/*
 * Lets tiles wait until their neighbours along the windows are there, up to 32 KiB of outputs for each of a few ranges
 * of filters: rows of a tile may be shorter than a vector, and lie across two lines. conv_fused_end finishes the
 * waiting tiles, behind the nest; without conv_fused_gather it does nothing.
 */
void conv_fused_gather(struct conv_fused *f);
void conv_fused_end(struct conv_fused *f);

#endif
