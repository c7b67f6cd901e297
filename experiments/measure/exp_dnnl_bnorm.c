#include <errno.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/measure/exp_dnnl.h"
#include "experiments/measure/exp_dnnl_library.h"
#include "sim/cpu.h"

size_t exp_dnnl_bnorm_block(void)
{
    return sim_cpu_has(CPU_ISA_AVX512) ? 16 : 8;
}

#if EXP_HAS_DNNL

enum memory { IN, OUT, MEAN, VARIANCE, SCALE, SHIFT, N_MEMORIES };

static const int argument[N_MEMORIES] = { DNNL_ARG_SRC,      DNNL_ARG_DST,   DNNL_ARG_MEAN,
                                          DNNL_ARG_VARIANCE, DNNL_ARG_SCALE, DNNL_ARG_SHIFT };

struct exp_dnnl_bnorm {
    const struct exp_dnnl *d;
    struct exp_dnnl_stage stage;
    dnnl_memory_t memory[N_MEMORIES];
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
static int describe(const struct exp_dnnl *d, const struct conv_bnorm *shape, dnnl_memory_desc_t *data,
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

static int make_memories(struct exp_dnnl_bnorm *b, const dnnl_memory_desc_t *data, const dnnl_memory_desc_t *of_channel,
                         void *const at[N_MEMORIES])
{
    const struct exp_dnnl *d = b->d;

    for (int i = 0; i < N_MEMORIES; i++) {
        if (d->dnnl_memory_create_(&b->memory[i], i <= OUT ? data : of_channel, d->engine, at[i]))
            return -ENOMEM;
        b->stage.arg[i] = (dnnl_exec_arg_t){ argument[i], b->memory[i] };
    }
    b->stage.n_args = N_MEMORIES;
    return 0;
}

int exp_dnnl_bnorm_new(struct exp_dnnl_bnorm **out, const struct exp_dnnl *d, const struct conv_bnorm *shape,
                       const struct conv_bnorm_statistics *s, float *in, float *to, struct exp_why *why)
{
    void *const at[N_MEMORIES] = { in, to, (void *)s->mean, (void *)s->variance, (void *)s->gamma, (void *)s->beta };
    struct exp_dnnl_bnorm *b = calloc(1, sizeof *b);
    dnnl_memory_desc_t data, of_channel;
    int err;

    *out = NULL;
    if (!b)
        return exp_fail(why, -ENOMEM, "out of memory");
    b->d = d;
    err = describe(d, shape, &data, &of_channel);
    if (!err)
        err = make_primitive(b, shape, s->epsilon, &data);
    if (!err)
        err = make_memories(b, &data, &of_channel, at);
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
    for (int i = 0; i < N_MEMORIES; i++) {
        if (b->memory[i])
            b->d->dnnl_memory_destroy_(b->memory[i]);
    }
    free(b);
}

int exp_dnnl_bnorm_run(struct exp_dnnl_bnorm *b)
{
    return exp_dnnl_start(b->d, &b->stage) || exp_dnnl_wait(b->d) ? -EIO : 0;
}

#else

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
