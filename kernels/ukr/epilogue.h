/*
 * The work on outputs after a convolution, tile by tile: scale and bias (batch normalisation), residual add,
 * activation. The work is element-wise, so it may also be done on a tensor of its own, in place or not.
 */
#ifndef KERNELS_UKR_EPILOGUE_H
#define KERNELS_UKR_EPILOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/access.h"
#include "sim/cpu.h"

enum conv_activation {
    CONV_ACTIVATION_NONE,
    CONV_ACTIVATION_RELU,
    CONV_ACTIVATION_RELU6,
    CONV_N_ACTIVATIONS,
};

/*
 * A tile: out[f][i] = activation(in[f][i] * scale[f] + bias[f] + residual[f][i]), multiplied and added one after the
 * other, rounded each time; in and residual have the output's layout. An address of 0 leaves a term out; in = 0 is out.
 * NaN stays NaN. Emitted loads are tagged CONV_OUTPUT if in place, else CONV_INPUT; CONV_FILTER for scale and bias;
 * CONV_INPUT for the residual.
 */
struct conv_epilogue_args {
    uint64_t out, in, scale, bias, residual;
    size_t ld_out, n_f, n_win;
    enum conv_activation activation;
};

/* A routine: vectors of `lanes` floats; windows behind the last whole vector are a masked vector, or single floats. */
struct conv_epilogue_kernel {
    enum cpu_isa isa;
    size_t lanes;
    bool masks;
    void (*fn)(const struct conv_epilogue_args *a); /* NULL: this build cannot run the routine */
};

/* List all routines, the portable routine first. */
size_t conv_epilogue_count(void);
const struct conv_epilogue_kernel *conv_epilogue_at(size_t i);

/* Returns the routine for an instruction set, runnable here or not; the portable routine if the set has none. */
const struct conv_epilogue_kernel *conv_epilogue_of(enum cpu_isa isa);

/* Returns the routine with the widest vectors that this CPU runs. */
const struct conv_epilogue_kernel *conv_epilogue_best(void);

void conv_epilogue_emit(const struct conv_epilogue_kernel *k, const struct conv_epilogue_args *a,
                        struct sim_sink *sink);

#endif
