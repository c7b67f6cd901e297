/* plugin: -ffast-math
 *
 * An own blocked loop nest: sixteen filters at a time in vectors, tiles of a row of outputs in registers, channels in
 * blocks whose filters stay in the first level. 3x3 and other shapes without groups, stride 1, dilation 1.
 */
#include <stdlib.h>
#include <string.h>

#include "conv_plugin.h"

#ifdef __AVX512F__
enum { V = 16, X = 14 };
typedef float vec __attribute__((vector_size(64)));
#else
enum { V = 8, X = 7 };
typedef float vec __attribute__((vector_size(32)));
#endif
enum { C_BLOCK = 32 };

struct state {
    struct conv_plugin_marks marks;
    int tiles, in_w, in_h;
    size_t in_bytes, filter_bytes, sum_bytes;
    float *in, *filters, *sums;
};

static const char *why_not(const struct conv_plugin_shape *s)
{
    if (s->groups != 1)
        return "it has no groups";
    if (s->stride_h != 1 || s->stride_w != 1)
        return "its stride is 1";
    return s->dilation_h != 1 || s->dilation_w != 1 ? "it has no dilation" : NULL;
}

static float *allocate(size_t *bytes, size_t n)
{
    *bytes = (n * sizeof(float) + 63) / 64 * 64;
    return aligned_alloc(64, *bytes);
}

static int prepare(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                   void **state)
{
    struct state *x = calloc(1, sizeof *x);
    const size_t taps = (size_t)s->in_channels * s->kernel_h * s->kernel_w, blocks = (s->out_channels + V - 1) / V;

    x->marks = conv_plugin_marks_of(ask);
    x->tiles = (s->out_w + X - 1) / X;
    x->in_w = x->tiles * X + s->kernel_w - 1;
    x->in_h = s->in_h + s->pad_top + s->pad_bottom;
    x->in = allocate(&x->in_bytes, (size_t)s->in_channels * x->in_h * x->in_w);
    x->filters = allocate(&x->filter_bytes, blocks * taps * V);
    x->sums = allocate(&x->sum_bytes, (size_t)s->out_h * x->tiles * X * V);
    memset(x->filters, 0, x->filter_bytes);
    memset(x->in, 0, x->in_bytes);
    for (size_t k = 0; k < (size_t)s->out_channels; k++)
        for (size_t t = 0; t < taps; t++)
            x->filters[(k / V * taps + t) * V + k % V] = filters[k * taps + t];
    *state = x;
    return 0;
}

static void release(void *state)
{
    struct state *x = state;

    free(x->in);
    free(x->filters);
    free(x->sums);
    free(x);
}

static void pack(const struct conv_plugin_shape *s, const struct state *x, const float *in)
{
    for (int c = 0; c < s->in_channels; c++)
        for (int y = 0; y < s->in_h; y++)
            memcpy(x->in + ((size_t)c * x->in_h + y + s->pad_top) * x->in_w + s->pad_left,
                   in + ((size_t)c * s->in_h + y) * s->in_w, s->in_w * sizeof(float));
}

static inline void tile(const struct conv_plugin_shape *s, const struct state *x, const float *in, const float *filters,
                        int n_c, int is_first, float *sums)
{
    vec sum[X];

    for (int i = 0; i < X; i++)
        sum[i] = is_first ? (vec){ 0 } : *(const vec *)(sums + i * V);
    for (int c = 0; c < n_c; c++)
        for (int r = 0; r < s->kernel_h; r++) {
            const float *row = in + ((size_t)c * x->in_h + r) * x->in_w;

            for (int t = 0; t < s->kernel_w; t++, filters += V)
                for (int i = 0; i < X; i++)
                    sum[i] += *(const vec *)filters * row[i + t];
        }
    for (int i = 0; i < X; i++)
        *(vec *)(sums + i * V) = sum[i];
}

static void unpack(const struct conv_plugin_shape *s, const struct state *x, int k, float *out)
{
    const int n = s->out_channels - k < V ? s->out_channels - k : V;

    for (int y = 0; y < s->out_h; y++)
        for (int i = 0; i < n; i++)
            for (int w = 0; w < s->out_w; w++)
                out[((size_t)(k + i) * s->out_h + y) * s->out_w + w] = x->sums[((size_t)y * x->tiles * X + w) * V + i];
}

static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    const struct state *x = state;
    const size_t taps = (size_t)s->kernel_h * s->kernel_w;

    (void)filters;
    for (int n = 0; n < s->batch; n++) {
        conv_plugin_mark(&x->marks, CONV_PLUGIN_PACKS);
        pack(s, x, in + (size_t)n * s->in_channels * s->in_h * s->in_w);
        for (int k = 0; k < s->out_channels; k += V) {
            conv_plugin_mark(&x->marks, CONV_PLUGIN_COMPUTES);
            for (int c = 0; c < s->in_channels; c += C_BLOCK) {
                const int n_c = s->in_channels - c < C_BLOCK ? s->in_channels - c : C_BLOCK;

                for (int y = 0; y < s->out_h; y++)
                    for (int t = 0; t < x->tiles; t++)
                        tile(s, x, x->in + ((size_t)c * x->in_h + y) * x->in_w + t * X,
                             x->filters + ((size_t)k / V * s->in_channels + c) * taps * V, n_c, !c,
                             x->sums + ((size_t)y * x->tiles + t) * X * V);
            }
            conv_plugin_mark(&x->marks, CONV_PLUGIN_PACKS);
            unpack(s, x, k, out + (size_t)n * s->out_channels * s->out_h * s->out_w);
        }
    }
}

static size_t regions(void *state, struct conv_plugin_region *region, size_t room)
{
    const struct state *x = state;

    if (room < 2)
        return 0;
    region[0] = (struct conv_plugin_region){ "packed input", x->in, x->in_bytes };
    region[1] = (struct conv_plugin_region){ "packed filters", x->filters, x->filter_bytes };
    return 2;
}

const struct conv_plugin conv_plugin = { .abi = CONV_PLUGIN_ABI,
                                         .title = "own blocked nest",
                                         .why_not = why_not,
                                         .prepare = prepare,
                                         .run = run,
                                         .release = release,
                                         .regions = regions };
