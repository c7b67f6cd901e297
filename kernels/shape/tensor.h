/* Names the simulator's tags and phases: the tensors of a convolution, and the parts of an algorithm. */
#ifndef KERNELS_TENSOR_H
#define KERNELS_TENSOR_H

/* The tensors a convolution touches: the simulator's tags. */
enum conv_tensor {
    CONV_INPUT,
    CONV_PACKED_INPUT,
    CONV_FILTER,
    CONV_PACKED_FILTER,
    CONV_IM2COL,
    CONV_OUTPUT,
    CONV_N_TENSORS,
};

/* The parts of an algorithm: the simulator's phases. */
enum conv_phase {
    CONV_PHASE_IM2COL,
    CONV_PHASE_PACK,
    CONV_PHASE_UKR,
    CONV_PHASE_ZERO, /* GEMM's beta = 0: the output is cleared before it is accumulated into */
    CONV_N_PHASES,
};

const char *conv_tensor_name(enum conv_tensor t);
const char *conv_phase_name(enum conv_phase p);

#endif
