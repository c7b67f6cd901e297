#include "kernels/bnorm.h"

#include <assert.h>
#include <math.h>

void conv_bnorm_fold(const struct conv_bnorm_statistics *s, size_t c, float *scale, float *shift)
{
    assert(s->variance && s->mean);
    for (size_t i = 0; i < c; i++) {
        scale[i] = s->gamma[i] / sqrtf(s->variance[i] + s->epsilon);
        shift[i] = s->beta[i] - s->mean[i] * scale[i];
    }
}

void conv_bnorm_run(const struct conv_bnorm *b, const struct conv_epilogue_kernel *k, struct sim_sink *sink)
{
    for (size_t image = 0; image < b->n; image++) {
        const uint64_t offset = image * b->c * b->elems * sizeof(float);
        const struct conv_epilogue_args a = {
            .in = b->in == b->out ? 0 : b->in + offset,
            .out = b->out + offset,
            .scale = b->scale,
            .bias = b->shift,
            .ld_out = b->elems,
            .n_f = b->c,
            .n_win = b->elems,
            .activation = b->activation,
        };

        if (sink)
            conv_epilogue_emit(k, &a, sink);
        else
            k->fn(&a);
    }
}
