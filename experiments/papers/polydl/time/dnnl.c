#include "experiments/papers/polydl/time/dnnl.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "sim/cpu.h"

#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#endif

size_t exp_dnnl_bnorm_block(void)
{
    return sim_cpu_has(CPU_ISA_AVX512) ? 16 : 8;
}

#if defined(DNNL_VERSION_MAJOR) && DNNL_VERSION_MAJOR == 2

/* ---- the library ---- */

/* The functions in use, with the types of the header. */
/* clang-format off */
#define FUNCTIONS(X)                                                                                                   \
    X(dnnl_version) X(dnnl_engine_create) X(dnnl_engine_destroy)                                                       \
    X(dnnl_stream_create) X(dnnl_stream_destroy) X(dnnl_stream_wait)                                                   \
    X(dnnl_memory_desc_init_by_tag) X(dnnl_memory_desc_equal) X(dnnl_memory_create)                                    \
    X(dnnl_memory_destroy) X(dnnl_dilated_convolution_forward_desc_init) X(dnnl_primitive_desc_create)                 \
    X(dnnl_primitive_desc_destroy) X(dnnl_primitive_desc_query_md) X(dnnl_primitive_desc_query)                        \
    X(dnnl_reorder_primitive_desc_create) X(dnnl_primitive_create) X(dnnl_primitive_execute)                           \
    X(dnnl_primitive_destroy) X(dnnl_batch_normalization_forward_desc_init)                                            \
    X(dnnl_primitive_attr_create) X(dnnl_primitive_attr_destroy) X(dnnl_primitive_attr_set_post_ops)                   \
    X(dnnl_post_ops_create) X(dnnl_post_ops_destroy) X(dnnl_post_ops_append_eltwise)
/* clang-format on */

#define POINTER(name) __typeof__(&name) name##_;

struct exp_dnnl {
    void *handle;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    char version[64];
    FUNCTIONS(POINTER)
};

enum { MAX_ARGS = 6 };

/* One primitive on its arguments. */
struct stage {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arg[MAX_ARGS];
    int n_args;
};

#define NAME(name) #name,
static const char *const function_names[] = { FUNCTIONS(NAME) };

enum { N_FUNCTIONS = sizeof function_names / sizeof function_names[0] };

/* Finds the library's functions. Their pointers lie one after the other, in the order of the names. */
static int find_functions(struct exp_dnnl *d, struct exp_why *why)
{
    unsigned char *first = (unsigned char *)&d->dnnl_version_;

    for (size_t i = 0; i < N_FUNCTIONS; i++) {
        void *address = dlsym(d->handle, function_names[i]);

        if (!address)
            return exp_fail(why, -EINVAL, "libdnnl.so.2 lacks %s", function_names[i]);
        memcpy(first + i * sizeof address, &address, sizeof address);
    }
    return 0;
}

/* Asks for one thread, and for no wider vectors than this program may use, unless the user said how wide. */
static void set_environment(void)
{
    const char *isa = sim_cpu_has(CPU_ISA_AVX512) ? "AVX512_CORE" : sim_cpu_has(CPU_ISA_AVX2) ? "AVX2" : "SSE41";

    if (setenv("OMP_NUM_THREADS", "1", 1) || (sim_cpu_is_limited() && setenv("DNNL_MAX_CPU_ISA", isa, 0)))
        exp_program_out_of_memory();
}

int exp_dnnl_load(struct exp_dnnl **out, struct exp_why *why)
{
    struct exp_dnnl *d;
    const dnnl_version_t *v;
    int err;

    *out = NULL;
    set_environment();
    d = exp_new(1, sizeof *d);
    d->handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    err = d->handle ? find_functions(d, why) : exp_fail(why, -ENOENT, "oneDNN cannot be loaded: %s", dlerror());
    if (!err && (d->dnnl_engine_create_(&d->engine, dnnl_cpu, 0) ||
                 d->dnnl_stream_create_(&d->stream, d->engine, dnnl_stream_default_flags)))
        err = exp_fail(why, -EINVAL, "oneDNN offers no engine for this CPU");
    if (err) {
        exp_dnnl_unload(d);
        return err;
    }
    v = d->dnnl_version_();
    snprintf(d->version, sizeof d->version, "%d.%d.%d", v->major, v->minor, v->patch);
    *out = d;
    return 0;
}

/* Forgets the library, which stays loaded: its OpenMP runtime does not survive being unloaded. */
void exp_dnnl_unload(struct exp_dnnl *d)
{
    if (!d)
        return;
    if (d->stream)
        d->dnnl_stream_destroy_(d->stream);
    if (d->engine)
        d->dnnl_engine_destroy_(d->engine);
    free(d);
}

const char *exp_dnnl_version(const struct exp_dnnl *d)
{
    return d->version;
}

/* Starts a stage. Returns 0 or -EIO. */
static int start_stage(const struct exp_dnnl *d, const struct stage *s)
{
    return d->dnnl_primitive_execute_(s->primitive, d->stream, s->n_args, s->arg) ? -EIO : 0;
}

/* Waits for what was started. Returns 0 or -EIO. */
static int wait_for_it(const struct exp_dnnl *d)
{
    return d->dnnl_stream_wait_(d->stream) ? -EIO : 0;
}

/* ---- a convolution ---- */

enum { MAX_STAGES = 3 };

enum memory { IN, FILTER, OUT, N_MEMORIES };

struct exp_dnnl_conv {
    const struct exp_dnnl *d;
    struct stage stage[MAX_STAGES]; /* what is timed */
    size_t n_stages;
    struct stage fetch;
    dnnl_memory_t plain[N_MEMORIES], own[N_MEMORIES]; /* equal where no conversion is needed */
    dnnl_primitive_desc_t pd;
    char impl[64];
};

/* ---- descriptors ---- */

/* Plain ones, and the same with the layout left to oneDNN. */
struct descriptors {
    dnnl_memory_desc_t plain[N_MEMORIES], any[N_MEMORIES];
};

static int describe(const struct exp_dnnl *d, const struct conv_problem *p, struct descriptors *m)
{
    const dnnl_dim_t g = (dnnl_dim_t)p->groups;
    const dnnl_dims_t in = { (dnnl_dim_t)p->n, (dnnl_dim_t)p->c, (dnnl_dim_t)p->h, (dnnl_dim_t)p->w };
    const dnnl_dims_t out = { (dnnl_dim_t)p->n, (dnnl_dim_t)p->k, (dnnl_dim_t)p->p, (dnnl_dim_t)p->q };
    const dnnl_dims_t filter = { (dnnl_dim_t)p->k, (dnnl_dim_t)p->c, (dnnl_dim_t)p->r, (dnnl_dim_t)p->s };
    const dnnl_dims_t grouped = { g, (dnnl_dim_t)conv_group_filters(p), (dnnl_dim_t)conv_group_channels(p),
                                  (dnnl_dim_t)p->r, (dnnl_dim_t)p->s };
    const dnnl_dim_t *dims[N_MEMORIES] = { in, g > 1 ? grouped : filter, out };
    const dnnl_format_tag_t tag[N_MEMORIES] = { dnnl_nchw, g > 1 ? dnnl_goihw : dnnl_oihw, dnnl_nchw };

    for (int i = 0; i < N_MEMORIES; i++) {
        int n = i == FILTER && g > 1 ? 5 : 4;

        if (d->dnnl_memory_desc_init_by_tag_(&m->plain[i], n, dims[i], dnnl_f32, tag[i]) ||
            d->dnnl_memory_desc_init_by_tag_(&m->any[i], n, dims[i], dnnl_f32, dnnl_format_tag_any))
            return -EIO;
    }
    return 0;
}

/* Makes attributes that ask for an activation after the convolution; NULL for none. */
static int describe_activation(const struct exp_dnnl *d, enum conv_activation activation, dnnl_primitive_attr_t *attr)
{
    static const struct {
        dnnl_alg_kind_t algorithm;
        float alpha, beta;
    } of[CONV_N_ACTIVATIONS] = {
        [CONV_ACTIVATION_RELU] = { dnnl_eltwise_relu, 0, 0 },
        [CONV_ACTIVATION_RELU6] = { dnnl_eltwise_clip, 0, 6 },
    };
    dnnl_post_ops_t after = NULL;
    int err;

    *attr = NULL;
    if (activation == CONV_ACTIVATION_NONE)
        return 0;
    err = d->dnnl_primitive_attr_create_(attr) || d->dnnl_post_ops_create_(&after) ||
                  d->dnnl_post_ops_append_eltwise_(after, 1, of[activation].algorithm, of[activation].alpha,
                                                   of[activation].beta) ||
                  d->dnnl_primitive_attr_set_post_ops_(*attr, after)
              ? -ENOMEM
              : 0;
    if (after)
        d->dnnl_post_ops_destroy_(after);
    return err;
}

static int describe_conv(struct exp_dnnl_conv *c, const struct exp_dnnl_layer *l, const struct descriptors *m)
{
    const struct conv_problem *p = l->problem;
    const dnnl_dims_t stride = { (dnnl_dim_t)p->stride_h, (dnnl_dim_t)p->stride_w };
    const dnnl_dims_t dilation = { (dnnl_dim_t)p->dilation_h - 1, (dnnl_dim_t)p->dilation_w - 1 };
    /* oneDNN wants the padding that the last window reaches, which may be less than the shape's. */
    const ptrdiff_t high_h =
        (ptrdiff_t)((p->p - 1) * p->stride_h + (p->r - 1) * p->dilation_h + 1) - (ptrdiff_t)(p->h + p->pad_top);
    const ptrdiff_t high_w =
        (ptrdiff_t)((p->q - 1) * p->stride_w + (p->s - 1) * p->dilation_w + 1) - (ptrdiff_t)(p->w + p->pad_left);
    const dnnl_dims_t low = { (dnnl_dim_t)p->pad_top, (dnnl_dim_t)p->pad_left }, high = { high_h, high_w };
    const dnnl_memory_desc_t *data = l->layout == EXP_DNNL_PLAIN ? m->plain : m->any;
    const struct exp_dnnl *d = c->d;
    dnnl_convolution_desc_t desc;
    dnnl_primitive_attr_t attr = NULL;
    const char *impl = NULL;
    int err = describe_activation(d, l->activation, &attr);

    if (!err && (d->dnnl_dilated_convolution_forward_desc_init_(&desc, dnnl_forward_inference, dnnl_convolution_direct,
                                                                &data[IN], &m->any[FILTER], NULL, &data[OUT], stride,
                                                                dilation, low, high) ||
                 d->dnnl_primitive_desc_create_(&c->pd, &desc, attr, d->engine, NULL)))
        err = -ENOTSUP;
    if (attr)
        d->dnnl_primitive_attr_destroy_(attr);
    if (err)
        return err;
    d->dnnl_primitive_desc_query_(c->pd, dnnl_query_impl_info_str, 0, (void *)&impl);
    snprintf(c->impl, sizeof c->impl, "%s", impl ? impl : "unnamed");
    return 0;
}

/* ---- building ---- */

static int make_memories(struct exp_dnnl_conv *c, const struct descriptors *m, float *const data[N_MEMORIES])
{
    static const dnnl_query_t query[N_MEMORIES] = { dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md };
    const struct exp_dnnl *d = c->d;

    for (int i = 0; i < N_MEMORIES; i++) {
        const dnnl_memory_desc_t *own = d->dnnl_primitive_desc_query_md_(c->pd, query[i], 0);

        if (!own || d->dnnl_memory_create_(&c->plain[i], &m->plain[i], d->engine, data[i]))
            return -ENOMEM;
        c->own[i] = c->plain[i];
        if (d->dnnl_memory_desc_equal_(own, &m->plain[i]) && i != FILTER)
            continue;
        c->own[i] = NULL; /* its own copy of the filter even where plain will do: colder weights are nobody else's */
        if (d->dnnl_memory_create_(&c->own[i], own, d->engine, DNNL_MEMORY_ALLOCATE))
            return -ENOMEM;
    }
    return 0;
}

static int make_reorder(const struct exp_dnnl_conv *c, struct stage *s, dnnl_memory_t from,
                        const dnnl_memory_desc_t *from_md, dnnl_memory_t to, const dnnl_memory_desc_t *to_md)
{
    const struct exp_dnnl *d = c->d;
    dnnl_primitive_desc_t pd;
    int err;

    if (d->dnnl_reorder_primitive_desc_create_(&pd, from_md, d->engine, to_md, d->engine, NULL))
        return -EIO;
    err = d->dnnl_primitive_create_(&s->primitive, pd) ? -EIO : 0;
    d->dnnl_primitive_desc_destroy_(pd);
    s->arg[0] = (dnnl_exec_arg_t){ DNNL_ARG_FROM, from };
    s->arg[1] = (dnnl_exec_arg_t){ DNNL_ARG_TO, to };
    s->n_args = 2;
    return err;
}

/* Converts once. */
static int convert(const struct exp_dnnl_conv *c, enum memory i, const struct descriptors *m,
                   const dnnl_memory_desc_t *own)
{
    struct stage s = { 0 };
    int err = make_reorder(c, &s, c->plain[i], &m->plain[i], c->own[i], own);

    if (!err)
        err = start_stage(c->d, &s);
    if (!err)
        err = wait_for_it(c->d);
    if (s.primitive)
        c->d->dnnl_primitive_destroy_(s.primitive);
    return err;
}

static int make_conv_stage(struct exp_dnnl_conv *c, struct stage *s)
{
    s->arg[0] = (dnnl_exec_arg_t){ DNNL_ARG_SRC, c->own[IN] };
    s->arg[1] = (dnnl_exec_arg_t){ DNNL_ARG_WEIGHTS, c->own[FILTER] };
    s->arg[2] = (dnnl_exec_arg_t){ DNNL_ARG_DST, c->own[OUT] };
    s->n_args = 3;
    return c->d->dnnl_primitive_create_(&s->primitive, c->pd) ? -EIO : 0;
}

static int make_stages(struct exp_dnnl_conv *c, enum exp_dnnl_layout layout, const struct descriptors *m)
{
    const dnnl_memory_desc_t *in = c->d->dnnl_primitive_desc_query_md_(c->pd, dnnl_query_src_md, 0);
    const dnnl_memory_desc_t *out = c->d->dnnl_primitive_desc_query_md_(c->pd, dnnl_query_dst_md, 0);
    const dnnl_memory_desc_t *filter = c->d->dnnl_primitive_desc_query_md_(c->pd, dnnl_query_weights_md, 0);
    bool is_timed = layout == EXP_DNNL_REORDER;
    int err = convert(c, FILTER, m, filter);

    if (!err && c->own[IN] != c->plain[IN])
        err = is_timed ? make_reorder(c, &c->stage[c->n_stages++], c->plain[IN], &m->plain[IN], c->own[IN], in)
                       : convert(c, IN, m, in);
    if (!err)
        err = make_conv_stage(c, &c->stage[c->n_stages++]);
    if (!err && c->own[OUT] != c->plain[OUT])
        err = make_reorder(c, is_timed ? &c->stage[c->n_stages++] : &c->fetch, c->own[OUT], out, c->plain[OUT],
                           &m->plain[OUT]);
    return err;
}

int exp_dnnl_conv_new(struct exp_dnnl_conv **out, const struct exp_dnnl *d, const struct exp_dnnl_layer *layer,
                      struct exp_why *why)
{
    struct exp_dnnl_conv *c = exp_new(1, sizeof *c);
    float *const data[N_MEMORIES] = { layer->in, layer->filter, layer->out };
    struct descriptors m;
    int err;

    *out = NULL;
    c->d = d;
    err = describe(d, layer->problem, &m);
    if (!err)
        err = describe_conv(c, layer, &m);
    if (!err)
        err = make_memories(c, &m, data);
    if (!err)
        err = make_stages(c, layer->layout, &m);
    if (err) {
        exp_dnnl_conv_free(c);
        return exp_fail(why, err, "oneDNN %s",
                        err == -ENOTSUP  ? "has no implementation for this shape"
                        : err == -ENOMEM ? "is out of memory"
                                         : "failed");
    }
    *out = c;
    return 0;
}

void exp_dnnl_conv_free(struct exp_dnnl_conv *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < MAX_STAGES; i++) {
        if (c->stage[i].primitive)
            c->d->dnnl_primitive_destroy_(c->stage[i].primitive);
    }
    if (c->fetch.primitive)
        c->d->dnnl_primitive_destroy_(c->fetch.primitive);
    for (int i = 0; i < N_MEMORIES; i++) {
        if (c->own[i] && c->own[i] != c->plain[i])
            c->d->dnnl_memory_destroy_(c->own[i]);
        if (c->plain[i])
            c->d->dnnl_memory_destroy_(c->plain[i]);
    }
    if (c->pd)
        c->d->dnnl_primitive_desc_destroy_(c->pd);
    free(c);
}

int exp_dnnl_run(struct exp_dnnl_conv *c)
{
    for (size_t i = 0; i < c->n_stages; i++) {
        int err = start_stage(c->d, &c->stage[i]);

        if (err)
            return err;
    }
    return wait_for_it(c->d);
}

int exp_dnnl_fetch(struct exp_dnnl_conv *c)
{
    if (!c->fetch.primitive)
        return 0;
    return start_stage(c->d, &c->fetch) || wait_for_it(c->d);
}

const char *exp_dnnl_impl(const struct exp_dnnl_conv *c)
{
    return c->impl;
}

/* ---- batch normalisation ---- */

enum bnorm_memory { BNORM_IN, BNORM_OUT, MEAN, VARIANCE, SCALE, SHIFT, N_BNORM_MEMORIES };

static const int argument[N_BNORM_MEMORIES] = { DNNL_ARG_SRC,      DNNL_ARG_DST,   DNNL_ARG_MEAN,
                                                DNNL_ARG_VARIANCE, DNNL_ARG_SCALE, DNNL_ARG_SHIFT };

struct exp_dnnl_bnorm {
    const struct exp_dnnl *d;
    struct stage stage;
    dnnl_memory_t memory[N_BNORM_MEMORIES];
};

static int make_primitive(struct exp_dnnl_bnorm *b, const struct conv_bnorm *shape, float epsilon,
                          const dnnl_memory_desc_t *data)
{
    const struct exp_dnnl *d = b->d;
    unsigned flags = dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift;
    dnnl_batch_normalization_desc_t desc;
    dnnl_primitive_desc_t pd;
    int err;

    if (shape->activation == CONV_ACTIVATION_RELU)
        flags |= dnnl_fuse_norm_relu;
    if (d->dnnl_batch_normalization_forward_desc_init_(&desc, dnnl_forward_inference, data, epsilon, flags) ||
        d->dnnl_primitive_desc_create_(&pd, &desc, NULL, d->engine, NULL))
        return -ENOTSUP;
    err = d->dnnl_primitive_create_(&b->stage.primitive, pd) ? -EIO : 0;
    d->dnnl_primitive_desc_destroy_(pd);
    return err;
}

/* Describes the tensor, and what there is of each channel. */
static int describe_bnorm(const struct exp_dnnl *d, const struct conv_bnorm *shape, dnnl_memory_desc_t *data,
                          dnnl_memory_desc_t *of_channel)
{
    const dnnl_dims_t all = { (dnnl_dim_t)shape->n, (dnnl_dim_t)shape->c, (dnnl_dim_t)shape->elems, 1 };
    const dnnl_dims_t channels = { (dnnl_dim_t)shape->c };

    if (shape->c % exp_dnnl_bnorm_block())
        return -ENOTSUP;
    return d->dnnl_memory_desc_init_by_tag_(data, 4, all, dnnl_f32,
                                            exp_dnnl_bnorm_block() == 16 ? dnnl_nChw16c : dnnl_nChw8c) ||
                   d->dnnl_memory_desc_init_by_tag_(of_channel, 1, channels, dnnl_f32, dnnl_a)
               ? -EIO
               : 0;
}

static int make_bnorm_memories(struct exp_dnnl_bnorm *b, const dnnl_memory_desc_t *data,
                               const dnnl_memory_desc_t *of_channel, void *const at[N_BNORM_MEMORIES])
{
    const struct exp_dnnl *d = b->d;

    for (int i = 0; i < N_BNORM_MEMORIES; i++) {
        if (d->dnnl_memory_create_(&b->memory[i], i <= BNORM_OUT ? data : of_channel, d->engine, at[i]))
            return -ENOMEM;
        b->stage.arg[i] = (dnnl_exec_arg_t){ argument[i], b->memory[i] };
    }
    b->stage.n_args = N_BNORM_MEMORIES;
    return 0;
}

int exp_dnnl_bnorm_new(struct exp_dnnl_bnorm **out, const struct exp_dnnl *d, const struct conv_bnorm *shape,
                       const struct conv_bnorm_statistics *s, float *in, float *to, struct exp_why *why)
{
    void *const at[N_BNORM_MEMORIES] = {
        in, to, (void *)s->mean, (void *)s->variance, (void *)s->gamma, (void *)s->beta
    };
    struct exp_dnnl_bnorm *b = exp_new(1, sizeof *b);
    dnnl_memory_desc_t data, of_channel;
    int err;

    *out = NULL;
    b->d = d;
    err = describe_bnorm(d, shape, &data, &of_channel);
    if (!err)
        err = make_primitive(b, shape, s->epsilon, &data);
    if (!err)
        err = make_bnorm_memories(b, &data, &of_channel, at);
    if (err) {
        exp_dnnl_bnorm_free(b);
        return exp_fail(why, err, "oneDNN: batch normalisation of %zu channels: %s", shape->c,
                        err == -ENOTSUP ? "no implementation" : "failed");
    }
    *out = b;
    return 0;
}

void exp_dnnl_bnorm_free(struct exp_dnnl_bnorm *b)
{
    if (!b)
        return;
    if (b->stage.primitive)
        b->d->dnnl_primitive_destroy_(b->stage.primitive);
    for (int i = 0; i < N_BNORM_MEMORIES; i++) {
        if (b->memory[i])
            b->d->dnnl_memory_destroy_(b->memory[i]);
    }
    free(b);
}

int exp_dnnl_bnorm_run(struct exp_dnnl_bnorm *b)
{
    return start_stage(b->d, &b->stage) || wait_for_it(b->d) ? -EIO : 0;
}

#else /* no header of version 2 */

int exp_dnnl_load(struct exp_dnnl **d, struct exp_why *why)
{
    *d = NULL;
    return exp_fail(why, -ENOENT, "built without the header of oneDNN 2 (package libdnnl-dev)");
}

void exp_dnnl_unload(struct exp_dnnl *d)
{
    (void)d;
}

const char *exp_dnnl_version(const struct exp_dnnl *d)
{
    (void)d;
    return "missing";
}

int exp_dnnl_conv_new(struct exp_dnnl_conv **c, const struct exp_dnnl *d, const struct exp_dnnl_layer *layer,
                      struct exp_why *why)
{
    (void)d, (void)layer;
    *c = NULL;
    return exp_fail(why, -ENOTSUP, "built without oneDNN");
}

void exp_dnnl_conv_free(struct exp_dnnl_conv *c)
{
    (void)c;
}

int exp_dnnl_run(struct exp_dnnl_conv *c)
{
    (void)c;
    return -EIO;
}

int exp_dnnl_fetch(struct exp_dnnl_conv *c)
{
    (void)c;
    return -EIO;
}

const char *exp_dnnl_impl(const struct exp_dnnl_conv *c)
{
    (void)c;
    return "";
}

int exp_dnnl_bnorm_new(struct exp_dnnl_bnorm **b, const struct exp_dnnl *d, const struct conv_bnorm *shape,
                       const struct conv_bnorm_statistics *s, float *in, float *out, struct exp_why *why)
{
    (void)d, (void)shape, (void)s, (void)in, (void)out;
    *b = NULL;
    return exp_fail(why, -ENOTSUP, "built without oneDNN");
}

void exp_dnnl_bnorm_free(struct exp_dnnl_bnorm *b)
{
    (void)b;
}

int exp_dnnl_bnorm_run(struct exp_dnnl_bnorm *b)
{
    (void)b;
    return -EIO;
}

#endif
