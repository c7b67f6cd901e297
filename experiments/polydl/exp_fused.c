#include "experiments/polydl/exp_fused.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_fusion.h"
#include "kernels/backend/backend.h"
#include "kernels/backend/fused.h"

#define NAME(number, name, meaning) [number] = (name),
static const char *const pair_names[EXP_N_FUSED_PAIRS] = { EXP_EACH_FUSED_PAIR(NAME) };
static const char *const way_names[EXP_N_FUSED_WAYS] = { EXP_EACH_FUSED_WAY(NAME) };

const char *exp_fused_pair_name(enum exp_fused_pair p)
{
    return pair_names[p];
}

const char *exp_fused_way_name(enum exp_fused_way w)
{
    return way_names[w];
}

/* ---- running ---- */

static struct conv_bnorm shape_of(const struct conv_problem *p)
{
    return (struct conv_bnorm){ .n = p->n, .c = p->k, .elems = conv_windows(p) };
}

/* Runs a pass of the activation alone over a tensor. */
static void activate(const struct conv_bnorm *shape, uint64_t tensor, enum conv_activation activation,
                     const struct conv_epilogue_kernel *kernel, struct sim_sink *sink)
{
    struct conv_bnorm pass = *shape;

    pass.in = pass.out = tensor;
    pass.scale = pass.shift = 0;
    pass.activation = activation;
    conv_bnorm_run(&pass, kernel, sink);
}

static void normalise(const struct exp_fused_site *s, enum exp_fused_way way, struct sim_sink *sink)
{
    const struct conv_epilogue_kernel *kernel = conv_epilogue_of(conv_plan_isa(s->plan));
    struct conv_bnorm b = s->bnorm;

    b.activation = way == EXP_FUSED_TOGETHER ? CONV_ACTIVATION_RELU : CONV_ACTIVATION_NONE;
    conv_bnorm_run(&b, kernel, sink);
    if (way == EXP_FUSED_APART)
        activate(&b, b.out, CONV_ACTIVATION_RELU, kernel, sink);
}

static int convolve(const struct exp_fused_site *s, enum exp_fused_way way, struct sim_sink *sink)
{
    const struct conv_bnorm shape = shape_of(&s->plan->problem);
    const struct conv_after after = { .out = s->bind.addr[CONV_OUTPUT], .activation = CONV_ACTIVATION_RELU6 };
    struct conv_replay replay;
    struct conv_fused fused;
    struct conv_exec exec;
    struct conv_backend *inner = sink ? &replay.base : &exec.base;
    int err;

    if (sink)
        conv_replay_init(&replay, s->plan, sink);
    else
        conv_exec_init(&exec, s->plan, &s->bind);
    conv_fused_init(&fused, inner, s->plan, &after, sink);
    err = conv_nest_run(s->plan, way == EXP_FUSED_TOGETHER ? &fused.base : inner);
    if (!err && way == EXP_FUSED_APART)
        activate(&shape, after.out, after.activation, fused.kernel, sink);
    return err;
}

int exp_fused_run(const struct exp_fused_site *s, enum exp_fused_pair pair, enum exp_fused_way way,
                  struct sim_sink *sink)
{
    if (pair == EXP_FUSED_CONV)
        return convolve(s, way, sink);
    normalise(s, way, sink);
    return 0;
}

/* Returns the address of the first page behind so many bytes. */
static uint64_t behind(uint64_t address, uint64_t bytes)
{
    return (address + bytes + CONV_PAGE_BYTES - 1) / CONV_PAGE_BYTES * CONV_PAGE_BYTES;
}

struct exp_fused_site exp_fused_synthetic(const struct conv_plan *plan)
{
    struct exp_fused_site s = { .plan = plan,
                                .bind = conv_bind(&plan->layout, CONV_REPLAY_BASE),
                                .bnorm = shape_of(&plan->problem) };
    const uint64_t bytes = (uint64_t)s.bnorm.n * s.bnorm.c * s.bnorm.elems * sizeof(float);

    s.bnorm.in = behind(CONV_REPLAY_BASE, plan->layout.arena_bytes);
    s.bnorm.out = behind(s.bnorm.in, bytes);
    s.bnorm.scale = behind(s.bnorm.out, bytes);
    s.bnorm.shift = behind(s.bnorm.scale, s.bnorm.c * sizeof(float));
    return s;
}

/* ---- the nests that Algorithm 3 is asked about ---- */

/* Makes an access to a tensor's element whose subscripts are the nest's loops. */
static struct exp_affine_access at_own_element(const struct exp_tensor *t, bool is_write)
{
    struct exp_affine_access a = { .is_write = is_write, .n_dims = t->n_dims };

    snprintf(a.array, sizeof a.array, "%s", t->name);
    for (size_t d = 0; d < t->n_dims; d++)
        a.dim[d].step[d] = 1;
    return a;
}

/* Makes a nest over a tensor that updates each element. */
static struct exp_affine_nest element_wise(const struct exp_tensor *t)
{
    struct exp_affine_nest n = { .n_loops = t->n_dims, .n_accesses = 2 };

    for (size_t d = 0; d < t->n_dims; d++) {
        snprintf(n.loop[d].name, sizeof n.loop[d].name, "d%hhu", (unsigned char)d);
        n.loop[d].extent = t->extent[d];
    }
    n.access[0] = at_own_element(t, false);
    n.access[1] = at_own_element(t, true);
    return n;
}

/*
 * Decides for both pairs. What writes the tensor first is the convolution's nest, or one that normalises: which reads
 * another tensor of the same shape, and the scale and shift of a channel, which nothing here writes.
 */
static int decide(struct exp_fused_layer *l)
{
    const struct exp_variant *figure8 = &l->of->variants.variant[0];
    const struct exp_affine_nest after = element_wise(&figure8->tensor[EXP_OPERAND_C]);
    struct exp_affine_nest normalise = after;
    enum exp_fusion_verdict verdict = EXP_FUSION_LEGAL;
    const struct exp_affine_nest *const heavy[EXP_N_FUSED_PAIRS] = {
        [EXP_FUSED_BNORM] = &normalise, [EXP_FUSED_CONV] = &figure8->nest
    };
    int err = 0;

    strcpy(normalise.access[0].array, "before");
    for (int pair = 0; pair < EXP_N_FUSED_PAIRS && !err && verdict == EXP_FUSION_LEGAL; pair++) {
        struct exp_fusion f;

        err = exp_fuse(heavy[pair], NULL, 0, &after, &f);
        verdict = f.verdict;
    }
    l->verdict = exp_fusion_reason(verdict);
    return err;
}

uint64_t exp_fused_bytes(const struct exp_fused_layer *l)
{
    enum { N_OUTPUTS = 5 }; /* of the convolution, its reordered copy, normalised from and to, and compared */
    const struct conv_problem *p = &l->shape;
    const uint64_t input = (uint64_t)p->n * p->c * p->h * p->w * sizeof(float);

    return 2 * input + N_OUTPUTS * l->output_bytes;
}

static void make_layer(struct exp_fused_layer *l, const struct exp_polydl_layer *of, size_t n_images,
                       uint64_t most_bytes)
{
    *l = (struct exp_fused_layer){ .of = of, .shape = *of->source.problem, .flops = of->flops * (double)n_images };
    l->shape.n = n_images;
    l->output_bytes = (uint64_t)n_images * l->shape.k * conv_windows(&l->shape) * sizeof(float);
    if (exp_fused_bytes(l) > most_bytes)
        exp_say(l->why_not, sizeof l->why_not, "%zu images take %.1f GiB of memory and %.1f may be used", n_images,
                (double)exp_fused_bytes(l) / (1 << 30), (double)most_bytes / (1 << 30));
}

int exp_fused_plan(struct exp_fused *f, const struct exp_polydl *p, size_t n_images, uint64_t most_bytes)
{
    int err = 0;

    *f = (struct exp_fused){ .machine = p->machine,
                             .layer = calloc(p->n_layers + 1, sizeof *f->layer),
                             .n_images = n_images };
    if (!f->layer)
        return -ENOMEM;
    for (size_t i = 0; i < p->n_layers && !err; i++) {
        const struct exp_polydl_layer *l = &p->layer[i];

        if (!l->source.problem || !l->variants.n)
            continue;
        make_layer(&f->layer[f->n_layers], l, n_images, most_bytes);
        err = decide(&f->layer[f->n_layers++]);
    }
    return err;
}

void exp_fused_release(struct exp_fused *f)
{
    free(f->layer);
    *f = (struct exp_fused){ .machine = NULL };
}
