/* plugin: -ldnnl
 *
 * oneDNN's convolution (package libdnnl-dev, version 2), in three forms. Filters are converted ahead.
 *
 *     onednn.c           images as they are, NCHW
 *     onednn.c:reorder   the layout that oneDNN likes best, with conversions before and behind it within what is timed
 *     onednn.c:blocked   the same, conversions not timed: what a network pays that never leaves that layout
 *
 * Two records are for programs that load this file themselves (make polydl); they are no convolutions:
 *
 *     relu6              `blocked` with ReLU6 fused
 *     bnorm_relu         batch normalisation with ReLU of a tensor like the output, whose channels stand in blocks of
 *                        bnorm_block(); in place of filters: gamma, beta, mean and variance, [4][out_channels]
 */
#include <errno.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>

#include "conv_plugin.h"

enum { IN, FILTERS, OUT, N_MEMORIES, N_STATISTICS = 4, MAX_STAGES = 3, MAX_ARGS = 6 };

/* A primitive and its arguments. */
struct stage {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arg[MAX_ARGS];
    int n_args;
};

struct state {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t pd;
    dnnl_memory_desc_t plain_md[N_MEMORIES];
    dnnl_memory_t plain[N_MEMORIES], own[N_MEMORIES]; /* equal where no conversion is needed */
    struct stage stage[MAX_STAGES];
    int n_stages, conv;                     /* which of them convolves */
    dnnl_memory_t statistics[N_STATISTICS]; /* of batch normalisation */
};

static void release(void *state)
{
    struct state *x = state;

    for (int i = 0; i < x->n_stages; i++)
        dnnl_primitive_destroy(x->stage[i].primitive);
    for (int i = 0; i < N_MEMORIES; i++) {
        if (x->own[i] && x->own[i] != x->plain[i])
            dnnl_memory_destroy(x->own[i]);
        if (x->plain[i])
            dnnl_memory_destroy(x->plain[i]);
    }
    for (int i = 0; i < N_STATISTICS; i++) {
        if (x->statistics[i])
            dnnl_memory_destroy(x->statistics[i]);
    }
    if (x->pd)
        dnnl_primitive_desc_destroy(x->pd);
    if (x->stream)
        dnnl_stream_destroy(x->stream);
    if (x->engine)
        dnnl_engine_destroy(x->engine);
    free(x);
}

/* Asks for ReLU6 behind a convolution. */
static dnnl_primitive_attr_t make_relu6(void)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t after = NULL;

    if (!dnnl_primitive_attr_create(&attr) && !dnnl_post_ops_create(&after) &&
        !dnnl_post_ops_append_eltwise(after, 1, dnnl_eltwise_clip, 0, 6))
        dnnl_primitive_attr_set_post_ops(attr, after);
    if (after)
        dnnl_post_ops_destroy(after);
    return attr;
}

/* Chooses an implementation. */
static int describe(struct state *x, const struct conv_plugin_shape *s, int is_blocked,
                    const_dnnl_primitive_attr_t attr)
{
    const int g = s->groups, is_grouped = g > 1;
    const dnnl_dims_t in = { s->batch, s->in_channels, s->in_h, s->in_w };
    const dnnl_dims_t out = { s->batch, s->out_channels, s->out_h, s->out_w };
    const dnnl_dims_t filters = { s->out_channels, s->in_channels, s->kernel_h, s->kernel_w };
    const dnnl_dims_t grouped = { g, s->out_channels / g, s->in_channels / g, s->kernel_h, s->kernel_w };
    const dnnl_dims_t stride = { s->stride_h, s->stride_w }, low = { s->pad_top, s->pad_left };
    const dnnl_dims_t dilation = { s->dilation_h - 1, s->dilation_w - 1 };
    /* The reach of the last window, not the padding of the shape: oneDNN wants sizes and padding to agree. */
    const dnnl_dims_t high = {
        (s->out_h - 1) * s->stride_h + (s->kernel_h - 1) * s->dilation_h + 1 - s->in_h - s->pad_top,
        (s->out_w - 1) * s->stride_w + (s->kernel_w - 1) * s->dilation_w + 1 - s->in_w - s->pad_left
    };
    const dnnl_dim_t *dims[N_MEMORIES] = { in, is_grouped ? grouped : filters, out };
    const dnnl_format_tag_t tag[N_MEMORIES] = { dnnl_nchw, is_grouped ? dnnl_goihw : dnnl_oihw, dnnl_nchw };
    dnnl_memory_desc_t any[N_MEMORIES];
    dnnl_convolution_desc_t desc;

    for (int i = 0; i < N_MEMORIES; i++) {
        const int n = i == FILTERS && is_grouped ? 5 : 4;

        if (dnnl_memory_desc_init_by_tag(&x->plain_md[i], n, dims[i], dnnl_f32, tag[i]) ||
            dnnl_memory_desc_init_by_tag(&any[i], n, dims[i], dnnl_f32, dnnl_format_tag_any))
            return -EINVAL;
    }
    if (dnnl_dilated_convolution_forward_desc_init(
            &desc, dnnl_forward_inference, dnnl_convolution_direct, is_blocked ? &any[IN] : &x->plain_md[IN],
            &any[FILTERS], NULL, is_blocked ? &any[OUT] : &x->plain_md[OUT], stride, dilation, low, high) ||
        dnnl_primitive_desc_create(&x->pd, &desc, attr, x->engine, NULL))
        return -ENOTSUP;
    return 0;
}

/* Finds the implementation's layouts. */
static const dnnl_memory_desc_t *own_md(const struct state *x, int i)
{
    static const dnnl_query_t query[N_MEMORIES] = { dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md };

    return dnnl_primitive_desc_query_md(x->pd, query[i], 0);
}

static int make_memories(struct state *x, const float *filters)
{
    for (int i = 0; i < N_MEMORIES; i++) {
        if (dnnl_memory_create(&x->plain[i], &x->plain_md[i], x->engine,
                               i == FILTERS ? (void *)(uintptr_t)filters : DNNL_MEMORY_NONE))
            return -ENOMEM;
        x->own[i] = x->plain[i];
        if (!dnnl_memory_desc_equal(own_md(x, i), &x->plain_md[i])) {
            x->own[i] = NULL;
            if (dnnl_memory_create(&x->own[i], own_md(x, i), x->engine, DNNL_MEMORY_ALLOCATE))
                return -ENOMEM;
        }
    }
    return 0;
}

static int add_reorder(struct state *x, struct stage *s, int i, int is_back)
{
    const dnnl_memory_desc_t *plain = &x->plain_md[i], *own = own_md(x, i);
    dnnl_primitive_desc_t pd;
    int err;

    if (dnnl_reorder_primitive_desc_create(&pd, is_back ? own : plain, x->engine, is_back ? plain : own, x->engine,
                                           NULL))
        return -EINVAL;
    err = dnnl_primitive_create(&s->primitive, pd) ? -EINVAL : 0;
    dnnl_primitive_desc_destroy(pd);
    s->arg[0] = (dnnl_exec_arg_t){ DNNL_ARG_FROM, is_back ? x->own[i] : x->plain[i] };
    s->arg[1] = (dnnl_exec_arg_t){ DNNL_ARG_TO, is_back ? x->plain[i] : x->own[i] };
    s->n_args = 2;
    return err;
}

/* Starts the stages, and waits for them. */
static int execute(struct state *x, const struct stage *stage, int n)
{
    for (int i = 0; i < n; i++) {
        if (dnnl_primitive_execute(stage[i].primitive, x->stream, stage[i].n_args, stage[i].arg))
            return -EIO;
    }
    return dnnl_stream_wait(x->stream) ? -EIO : 0;
}

static int convert_filters(struct state *x)
{
    struct stage s = { 0 };
    int err;

    if (x->own[FILTERS] == x->plain[FILTERS])
        return 0;
    err = add_reorder(x, &s, FILTERS, 0);
    if (!err)
        err = execute(x, &s, 1);
    if (s.primitive)
        dnnl_primitive_destroy(s.primitive);
    return err;
}

static int make_stages(struct state *x)
{
    struct stage *conv;
    int err = x->own[IN] == x->plain[IN] ? 0 : add_reorder(x, &x->stage[x->n_stages++], IN, 0);

    if (err)
        return err;
    x->conv = x->n_stages;
    conv = &x->stage[x->conv];
    if (dnnl_primitive_create(&conv->primitive, x->pd))
        return -EINVAL;
    x->n_stages++;
    conv->arg[0] = (dnnl_exec_arg_t){ DNNL_ARG_SRC, x->own[IN] };
    conv->arg[1] = (dnnl_exec_arg_t){ DNNL_ARG_WEIGHTS, x->own[FILTERS] };
    conv->arg[2] = (dnnl_exec_arg_t){ DNNL_ARG_DST, x->own[OUT] };
    conv->n_args = 3;
    return x->own[OUT] == x->plain[OUT] ? 0 : add_reorder(x, &x->stage[x->n_stages++], OUT, 1);
}

static int start(struct state **x)
{
    *x = calloc(1, sizeof **x);
    if (!*x)
        return -ENOMEM;
    return dnnl_engine_create(&(*x)->engine, dnnl_cpu, 0) ||
                   dnnl_stream_create(&(*x)->stream, (*x)->engine, dnnl_stream_default_flags)
               ? -ENODEV
               : 0;
}

static int finish(struct state *x, int err, void **state)
{
    if (err && x)
        release(x);
    *state = err ? NULL : x;
    return err;
}

static int prepare_as(const struct conv_plugin_shape *s, const float *filters, int is_blocked,
                      const_dnnl_primitive_attr_t attr, void **state)
{
    struct state *x;
    int err = start(&x);

    if (!err)
        err = describe(x, s, is_blocked, attr);
    if (!err)
        err = make_memories(x, filters);
    if (!err)
        err = convert_filters(x);
    if (!err)
        err = make_stages(x);
    return finish(x, err, state);
}

static int prepare(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                   void **state)
{
    (void)ask;
    return prepare_as(s, filters, 0, NULL, state);
}

static int prepare_blocked(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                           void **state)
{
    (void)ask;
    return prepare_as(s, filters, 1, NULL, state);
}

static int prepare_relu6(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                         void **state)
{
    dnnl_primitive_attr_t attr = make_relu6();
    const int err = attr ? prepare_as(s, filters, 1, attr, state) : -ENOMEM;

    (void)ask;
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    return err;
}

static void convert_in(const struct conv_plugin_shape *s, void *state, const float *in)
{
    struct state *x = state;

    (void)s;
    dnnl_memory_set_data_handle(x->plain[IN], (void *)(uintptr_t)in);
    execute(x, x->stage, x->conv);
}

static void convert_out(const struct conv_plugin_shape *s, void *state, float *out)
{
    struct state *x = state;

    (void)s;
    dnnl_memory_set_data_handle(x->plain[OUT], out);
    execute(x, x->stage + x->conv + 1, x->n_stages - x->conv - 1);
}

static void set_images(struct state *x, const float *in, float *out)
{
    dnnl_memory_set_data_handle(x->plain[IN], (void *)(uintptr_t)in);
    dnnl_memory_set_data_handle(x->plain[OUT], out);
}

static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    struct state *x = state;

    (void)s, (void)filters;
    set_images(x, in, out);
    execute(x, x->stage, x->n_stages);
}

/* Where oneDNN's own layout is the plain layout, oneDNN reads and writes the images themselves. */
static void run_blocked(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters,
                        float *out)
{
    struct state *x = state;

    (void)s, (void)filters;
    set_images(x, in, out);
    execute(x, &x->stage[x->conv], 1);
}

const struct conv_plugin conv_plugin = { .abi = CONV_PLUGIN_ABI,
                                         .name = "onednn_nchw",
                                         .title = "oneDNN, NCHW",
                                         .prepare = prepare,
                                         .run = run,
                                         .release = release };
const struct conv_plugin reorder = { .abi = CONV_PLUGIN_ABI,
                                     .name = "onednn_reorder",
                                     .title = "oneDNN, reorders timed",
                                     .prepare = prepare_blocked,
                                     .run = run,
                                     .release = release };
const struct conv_plugin blocked = { .abi = CONV_PLUGIN_ABI,
                                     .name = "onednn_blocked",
                                     .title = "oneDNN, no reorders",
                                     .prepare = prepare_blocked,
                                     .run = run_blocked,
                                     .release = release };
const struct conv_plugin_layout blocked_layout = { convert_in, convert_out };
const struct conv_plugin relu6 = {
    .abi = CONV_PLUGIN_ABI, .name = "onednn_relu6", .prepare = prepare_relu6, .run = run_blocked, .release = release
};
const struct conv_plugin_layout relu6_layout = { convert_in, convert_out };

/* ---- batch normalisation ---- */

int bnorm_block(void);

int bnorm_block(void)
{
    return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core ? 16 : 8;
}

/* Describes the images and what there is of each channel, and makes the primitive. */
static int make_bnorm(struct state *x, const struct conv_plugin_shape *s, dnnl_memory_desc_t *of_channel)
{
    const dnnl_dims_t all = { s->batch, s->out_channels, s->out_h, s->out_w }, channels = { s->out_channels };
    dnnl_batch_normalization_desc_t desc;
    const unsigned flags = dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift | dnnl_fuse_norm_relu;
    const float epsilon = 1e-5f;

    if (s->out_channels % bnorm_block() ||
        dnnl_memory_desc_init_by_tag(&x->plain_md[IN], 4, all, dnnl_f32,
                                     bnorm_block() == 16 ? dnnl_nChw16c : dnnl_nChw8c) ||
        dnnl_memory_desc_init_by_tag(of_channel, 1, channels, dnnl_f32, dnnl_a) ||
        dnnl_batch_normalization_forward_desc_init(&desc, dnnl_forward_inference, &x->plain_md[IN], epsilon, flags) ||
        dnnl_primitive_desc_create(&x->pd, &desc, NULL, x->engine, NULL))
        return -ENOTSUP;
    if (dnnl_primitive_create(&x->stage[0].primitive, x->pd))
        return -EINVAL;
    x->n_stages = 1;
    return 0;
}

static int make_bnorm_memories(struct state *x, const dnnl_memory_desc_t *of_channel, const float *statistics, int n)
{
    static const int argument[N_STATISTICS] = { DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE };
    struct stage *s = &x->stage[0];

    for (int i = 0; i < N_STATISTICS; i++) {
        if (dnnl_memory_create(&x->statistics[i], of_channel, x->engine,
                               (void *)(uintptr_t)(statistics + (size_t)i * n)))
            return -ENOMEM;
        s->arg[s->n_args++] = (dnnl_exec_arg_t){ argument[i], x->statistics[i] };
    }
    for (int i = IN; i <= OUT; i += OUT) {
        if (dnnl_memory_create(&x->plain[i], &x->plain_md[IN], x->engine, DNNL_MEMORY_NONE))
            return -ENOMEM;
        s->arg[s->n_args++] = (dnnl_exec_arg_t){ i == IN ? DNNL_ARG_SRC : DNNL_ARG_DST, x->plain[i] };
    }
    return 0;
}

static int prepare_bnorm(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *statistics,
                         void **state)
{
    dnnl_memory_desc_t of_channel;
    struct state *x;
    int err = start(&x);

    (void)ask;
    if (!err)
        err = make_bnorm(x, s, &of_channel);
    if (!err)
        err = make_bnorm_memories(x, &of_channel, statistics, s->out_channels);
    return finish(x, err, state);
}

const struct conv_plugin bnorm_relu = {
    .abi = CONV_PLUGIN_ABI, .name = "onednn_bnorm_relu", .prepare = prepare_bnorm, .run = run, .release = release
};
