#include "kernels/shape/tensor.h"

#include <assert.h>

const char *conv_tensor_name(enum conv_tensor t)
{
    static const char *const names[CONV_N_TENSORS] = {
        [CONV_INPUT] = "input",   [CONV_PACKED_INPUT] = "packed_input",
        [CONV_FILTER] = "filter", [CONV_PACKED_FILTER] = "packed_filter",
        [CONV_IM2COL] = "im2col", [CONV_OUTPUT] = "output",
    };

    assert(t < CONV_N_TENSORS);
    return names[t];
}

const char *conv_phase_name(enum conv_phase p)
{
    static const char *const names[CONV_N_PHASES] = {
        [CONV_PHASE_IM2COL] = "im2col",
        [CONV_PHASE_PACK] = "packing",
        [CONV_PHASE_UKR] = "micro_kernel",
        [CONV_PHASE_ZERO] = "zero_output",
    };

    assert(p < CONV_N_PHASES);
    return names[p];
}
