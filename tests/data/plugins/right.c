/*
 * Right convolutions, each by means that a recorder, a check or a leak detector could take amiss. All are plain loops
 * but for the means.
 */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conv_plugin.h"

typedef const struct conv_plugin_shape shape;

/* Sums over a window in `type`, with filters in place or copied. */
#define SUM(type, name)                                                                                                \
    static float name(shape *s, const float *in, const float *filter, int n, int k, int y, int x)                      \
    {                                                                                                                  \
        const int channels = s->in_channels / s->groups, first = k / (s->out_channels / s->groups) * channels;         \
        type sum = 0;                                                                                                  \
                                                                                                                       \
        for (int c = 0; c < channels; c++) {                                                                           \
            for (int tap = 0; tap < s->kernel_h * s->kernel_w; tap++) {                                                \
                const int h = y * s->stride_h + tap / s->kernel_w * s->dilation_h - s->pad_top;                        \
                const int w = x * s->stride_w + tap % s->kernel_w * s->dilation_w - s->pad_left;                       \
                                                                                                                       \
                if (h >= 0 && h < s->in_h && w >= 0 && w < s->in_w)                                                    \
                    sum += (type)filter[c * s->kernel_h * s->kernel_w + tap] *                                         \
                           (type)in[(((ptrdiff_t)n * s->in_channels + first + c) * s->in_h + h) * s->in_w + w];        \
            }                                                                                                          \
        }                                                                                                              \
        return (float)sum;                                                                                             \
    }

SUM(float, sum_floats)
SUM(long double, sum_long)

static ptrdiff_t taps_of(shape *s)
{
    return (ptrdiff_t)(s->in_channels / s->groups) * s->kernel_h * s->kernel_w;
}

#define FOR_ALL(k)                                                                                                     \
    for (int n = 0; n < s->batch; n++)                                                                                 \
        for (int k = 0; k < s->out_channels; k++)                                                                      \
            for (int y = 0; y < s->out_h; y++)                                                                         \
                for (int x = 0; x < s->out_w; x++)

void x87(shape *s, const float *in, const float *filters, float *out)
{
    FOR_ALL(k) *out++ = sum_long(s, in, filters + k * taps_of(s), n, k, y, x);
}

/* Takes aligned memory and gives the memory back: the C library counts a few aligned pieces as in use. */
void aligns(shape *s, const float *in, const float *filters, float *out)
{
    float *sum = aligned_alloc(64, 64);

    FOR_ALL(k)
    {
        *sum = sum_floats(s, in, filters + k * taps_of(s), n, k, y, x);
        *out++ = *sum;
    }
    free(sum);
}

/* Has a copy of a filter on the stack, in an array as long as the layer needs. */
void allocas(shape *s, const float *in, const float *filters, float *out)
{
    float *copy = alloca((size_t)taps_of(s) * sizeof *copy);

    FOR_ALL(k)
    {
        if (!x && !y)
            memcpy(copy, filters + k * taps_of(s), (size_t)taps_of(s) * sizeof *copy);
        *out++ = sum_floats(s, in, copy, n, k, y, x);
    }
}

/* Has a thread's own memory, and prints a line. */
void tells(shape *s, const float *in, const float *filters, float *out)
{
    static _Thread_local float own[16];

    FOR_ALL(k)
    {
        own[x % 16] = sum_floats(s, in, filters + k * taps_of(s), n, k, y, x);
        *out++ = own[x % 16];
    }
    printf("tells: it has run\n");
    fflush(stdout);
}

/* Compresses vectors if the CPU has AVX-512: elements lie one behind another. */
void compresses(shape *s, const float *in, const float *filters, float *out)
{
    FOR_ALL(k) *out++ = sum_floats(s, in, filters + k * taps_of(s), n, k, y, x);
#ifdef __AVX512F__
    __asm__ volatile("kxnorw %%k1, %%k1, %%k1\n\tkshiftrw $13, %%k1, %%k1\n\tvexpandps -64(%0), %%zmm0%{%%k1%}\n\t"
                     "vcompressps %%zmm0, -64(%0)%{%%k1%}" ::"r"(out)
                     : "memory", "xmm0");
#endif
}
