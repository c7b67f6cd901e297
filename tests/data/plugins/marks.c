/* Clears the output, packs the input and computes, with a mark for each; packs PLUGIN_PLAN times. */
#include <stdlib.h>
#include <string.h>

#include "conv_plugin.h"

#define conv plain
#include "../../../kernels/plugin/naive.c"
#undef conv

struct state {
    struct conv_plugin_marks marks;
    int n_times;
    size_t bytes;
    float *packed;
};

static int prepare(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                   void **state)
{
    struct state *x = malloc(sizeof *x);

    (void)filters;
    x->marks = conv_plugin_marks_of(ask);
    x->n_times = *ask->plan ? atoi(ask->plan) : 1;
    x->bytes = (size_t)s->batch * (size_t)s->in_channels * (size_t)s->in_h * (size_t)s->in_w * sizeof(float);
    x->packed = aligned_alloc(64, (x->bytes + 63) / 64 * 64);
    *state = x;
    return 0;
}

static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    const struct state *x = state;

    conv_plugin_mark(&x->marks, CONV_PLUGIN_CLEARS);
    memset(out, 0, (size_t)s->batch * (size_t)s->out_channels * (size_t)s->out_h * (size_t)s->out_w * sizeof(float));
    conv_plugin_mark(&x->marks, CONV_PLUGIN_PACKS);
    for (int i = 0; i < x->n_times; i++)
        memcpy(x->packed, in, x->bytes);
    conv_plugin_mark(&x->marks, CONV_PLUGIN_COMPUTES);
    plain(s, x->packed, filters, out);
}

static void release(void *state)
{
    struct state *x = state;

    free(x->packed);
    free(x);
}

static size_t regions(void *state, struct conv_plugin_region *region, size_t room)
{
    const struct state *x = state;

    region[0] = (struct conv_plugin_region){ "packed input", x->packed, x->bytes };
    return room ? 1 : 0;
}

const struct conv_plugin conv_plugin = {
    .abi = CONV_PLUGIN_ABI, .name = "marks", .prepare = prepare, .run = run, .release = release, .regions = regions
};
