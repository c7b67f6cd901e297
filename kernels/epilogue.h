/*
 * What follows a convolution in a network, fused: bias, residual add, activation, on each output tile when its last
 * channel set has been accumulated, while it is in L1.
 *
 * It needs nothing from the nests: a back-end around another one looks for the computing steps that end their
 * reduction, and works on the same box of outputs. With a sink it emits its accesses instead, around a replaying
 * back-end.
 */
#ifndef KERNELS_EPILOGUE_H
#define KERNELS_EPILOGUE_H

#include "kernels/nest/nest.h"
#include "kernels/plan.h"

enum conv_activation {
    CONV_ACTIVATION_NONE,
    CONV_ACTIVATION_RELU,
    CONV_ACTIVATION_RELU6,
    CONV_N_ACTIVATIONS,
};

/*
 * One tile: out[f][i] = activation(out[f][i] + bias[f] + residual[f][i]); the residual has the output's layout. An
 * address of 0 leaves a term out. NaN stays NaN. Emitted bias loads are tagged CONV_FILTER, residual loads CONV_INPUT.
 */
struct conv_epilogue_args {
    uint64_t out, bias, residual;
    size_t ld_out, n_f, n_win;
    enum conv_activation activation;
};

void conv_epilogue(const struct conv_epilogue_args *a);
void conv_epilogue_emit(const struct conv_epilogue_args *a, struct sim_sink *sink);

struct conv_fused {
    struct conv_backend base;
    struct conv_backend *inner;
    const struct conv_plan *plan;
    size_t reduction;             /* of the plan's problem */
    uint64_t out, bias, residual; /* whole tensors; 0 = none */
    enum conv_activation activation;
    struct sim_sink *sink; /* NULL: execute */
};

void conv_fused_init(struct conv_fused *f, struct conv_backend *inner, const struct conv_plan *plan, uint64_t out,
                     uint64_t bias, uint64_t residual, enum conv_activation activation, struct sim_sink *sink);

#endif
