#include "experiments/polydl/exp_blocked.h"

#include <string.h>

void exp_block_input(const struct conv_problem *p, size_t block, const float *in, float *blocked)
{
    const size_t height = p->h + p->pad_top + p->pad_bottom, width = p->w + p->pad_left + p->pad_right;

    memset(blocked, 0, p->n * p->c * height * width * sizeof *blocked);
    for (size_t i = 0; i < p->n * p->c * p->h; i++) {
        const size_t plane = i / p->h, y = i % p->h + p->pad_top;
        float *row = blocked + ((plane / block * height + y) * width + p->pad_left) * block + plane % block;

        for (size_t x = 0; x < p->w; x++)
            row[x * block] = in[i * p->w + x];
    }
}

void exp_block_filter(const struct conv_problem *p, size_t block, const float *filter, float *blocked)
{
    const size_t taps = p->r * p->s;

    for (size_t i = 0; i < p->k * p->c; i++) {
        const size_t k = i / p->c, c = i % p->c;
        float *at = blocked + (k / block * (p->c / block) + c / block) * taps * block * block;

        for (size_t tap = 0; tap < taps; tap++)
            at[(tap * block + c % block) * block + k % block] = filter[i * taps + tap];
    }
}

void exp_unblock_output(const struct conv_problem *p, size_t block, const float *blocked, float *out)
{
    const size_t n_windows = conv_windows(p);

    for (size_t i = 0; i < p->n * p->k; i++) {
        for (size_t win = 0; win < n_windows; win++)
            out[i * n_windows + win] = blocked[(i / block * n_windows + win) * block + i % block];
    }
}
