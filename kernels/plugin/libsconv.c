/* plugin: -Ikernels/lib -Lbuild -l:libsconv.a -lhwloc -lm
 *
 * libsconv, as `make lib` builds it: the project's own code, called as a program would. Where it is installed, its
 * flags are PLUGIN_CFLAGS="$(pkg-config --cflags --libs sconv)".
 */
#include <errno.h>
#include <sconv.h>
#include <stdlib.h>

#include "conv_plugin.h"

struct state {
    struct sconv_plan *plan;
    size_t bytes;
    void *workspace;
};

static struct sconv_shape shape_of(const struct conv_plugin_shape *s)
{
    return (struct sconv_shape){
        .batch = (size_t)s->batch,
        .in_c = (size_t)s->in_channels,
        .in_h = (size_t)s->in_h,
        .in_w = (size_t)s->in_w,
        .out_c = (size_t)s->out_channels,
        .k_h = (size_t)s->kernel_h,
        .k_w = (size_t)s->kernel_w,
        .stride_h = (size_t)s->stride_h,
        .stride_w = (size_t)s->stride_w,
        .pad_top = (size_t)s->pad_top,
        .pad_left = (size_t)s->pad_left,
        .pad_bottom = (size_t)s->pad_bottom,
        .pad_right = (size_t)s->pad_right,
        .dilation_h = (size_t)s->dilation_h,
        .dilation_w = (size_t)s->dilation_w,
        .groups = (size_t)s->groups,
    };
}

static void release(void *state)
{
    struct state *x = state;

    sconv_plan_free(x->plan);
    free(x->workspace);
    free(x);
}

static int prepare(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                   void **state)
{
    const struct sconv_shape shape = shape_of(s);
    struct state *x = calloc(1, sizeof *x);
    int err = x ? sconv_plan_create(&x->plan, &shape, NULL, filters, NULL) : -ENOMEM;

    (void)ask;
    if (!err) {
        x->bytes = sconv_workspace_bytes(x->plan);
        x->workspace = malloc(x->bytes);
        err = x->workspace ? 0 : -ENOMEM;
    }
    if (err && x)
        release(x);
    *state = err ? NULL : x;
    return err;
}

static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    struct state *x = state;

    (void)s, (void)filters;
    sconv_run(x->plan, in, out, NULL, x->workspace, x->bytes);
}

/* The workspace holds packed windows. */
static size_t regions(void *state, struct conv_plugin_region *region, size_t room)
{
    const struct state *x = state;

    if (!room)
        return 0;
    region[0] = (struct conv_plugin_region){ "packed input", x->workspace, x->bytes };
    return 1;
}

const struct conv_plugin conv_plugin = {
    .abi = CONV_PLUGIN_ABI, .name = "libsconv", .prepare = prepare, .run = run, .release = release, .regions = regions
};
