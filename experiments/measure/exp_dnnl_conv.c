#include "experiments/measure/exp_dnnl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/measure/exp_dnnl_library.h"

#if EXP_HAS_DNNL

enum { MAX_STAGES = 3 };

enum memory { IN, FILTER, OUT, N_MEMORIES };

struct exp_dnnl_conv {
    const struct exp_dnnl *d;
    struct exp_dnnl_stage stage[MAX_STAGES]; /* what is timed */
    size_t n_stages;
    struct exp_dnnl_stage fetch;
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
    /* What the last window reaches, not what the shape offers: oneDNN wants both to agree. */
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

static int make_reorder(const struct exp_dnnl_conv *c, struct exp_dnnl_stage *s, dnnl_memory_t from,
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
    struct exp_dnnl_stage s = { 0 };
    int err = make_reorder(c, &s, c->plain[i], &m->plain[i], c->own[i], own);

    if (!err)
        err = exp_dnnl_start(c->d, &s);
    if (!err)
        err = exp_dnnl_wait(c->d);
    if (s.primitive)
        c->d->dnnl_primitive_destroy_(s.primitive);
    return err;
}

static int make_conv_stage(struct exp_dnnl_conv *c, struct exp_dnnl_stage *s)
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
    struct exp_dnnl_conv *c = calloc(1, sizeof *c);
    float *const data[N_MEMORIES] = { layer->in, layer->filter, layer->out };
    struct descriptors m;
    int err;

    *out = NULL;
    if (!c)
        return exp_fail(why, -ENOMEM, "out of memory");
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
        int err = exp_dnnl_start(c->d, &c->stage[i]);

        if (err)
            return err;
    }
    return exp_dnnl_wait(c->d);
}

int exp_dnnl_fetch(struct exp_dnnl_conv *c)
{
    if (!c->fetch.primitive)
        return 0;
    return exp_dnnl_start(c->d, &c->fetch) || exp_dnnl_wait(c->d);
}

const char *exp_dnnl_impl(const struct exp_dnnl_conv *c)
{
    return c->impl;
}

#else

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

#endif
