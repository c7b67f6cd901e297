/*
 * Batch normalisation in inference, and the activation behind the normalisation: y = activation(x * scale[c] +
 * shift[c]), with scale = gamma / sqrt(variance + epsilon) and shift = beta - mean * scale. The nest runs over images;
 * a step is an epilogue's tile of all channels.
 */
#ifndef KERNELS_BNORM_H
#define KERNELS_BNORM_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/ukr/epilogue.h"

/*
 * Tensors, real or synthetic: in and out [n][c][elems], scale and shift [c]. in == out works in place; scale and shift
 * of 0 leave the normalisation out.
 */
struct conv_bnorm {
    size_t n, c, elems;
    uint64_t in, out, scale, shift;
    enum conv_activation activation;
};

/* Holds the statistics of a trained network, for each channel: [c]. */
struct conv_bnorm_statistics {
    const float *gamma, *beta, *mean, *variance;
    float epsilon;
};

/* Folds statistics of c channels into scale and shift. */
void conv_bnorm_fold(const struct conv_bnorm_statistics *s, size_t c, float *scale, float *shift);

/* Executes; with a sink, emits the accesses instead. The kernel must run here if there is no sink. */
void conv_bnorm_run(const struct conv_bnorm *b, const struct conv_epilogue_kernel *k, struct sim_sink *sink);

#endif
