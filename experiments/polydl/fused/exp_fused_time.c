/* Times of one layer's fused operators. */
#include "experiments/polydl/fused/exp_fused.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_bench.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/base/exp_stats.h"
#include "experiments/measure/exp_ruler.h"
#include "experiments/polydl/time/exp_baselines.h"
#include "experiments/setup/exp_tensors.h"

enum { LEAST_ROUNDS = 3, MOST_ROUNDS = 30, N_STATISTICS = 6 };

/* A run that takes longer than this (ns) needs none before it: it has brought its own data into the caches soon. */
static const uint64_t long_run_ns = 20000000;
static const double long_run_flops = 2e9; /* of convolutions that take longer on most computers */

/* A layer while it is timed. */
struct bench {
    struct exp_layer_plans planned;
    struct exp_tensors tensors;
    struct exp_fused_site site;
    float *in, *out, *of_channel; /* what is normalised; N_STATISTICS numbers of each channel */
    struct exp_dnnl_conv *dnnl_conv;
    struct exp_dnnl_bnorm *dnnl_bnorm;
};

/* Runs what takes turns. */
struct runner {
    struct bench *bench;
    enum exp_fused_pair pair;
    enum exp_fused_way way;
    uint64_t last_ns;
};

/* ---- tensors ---- */

static float *floats(size_t n)
{
    void *memory = NULL;

    return posix_memalign(&memory, CONV_PAGE_BYTES, n * sizeof(float) + 1) ? NULL : memory;
}

/* Makes up what a trained network has of each channel, and folds it. */
static struct conv_bnorm_statistics make_statistics(struct bench *b, size_t c)
{
    float *number = b->of_channel;
    const struct conv_bnorm_statistics s = { number, number + c, number + 2 * c, number + 3 * c, 1e-5f };

    for (size_t i = 0; i < N_STATISTICS * c; i++)
        number[i] = 0.5f + (float)(i % 7) / 8;
    conv_bnorm_fold(&s, c, number + 4 * c, number + 5 * c);
    return s;
}

static int open_bnorm(struct bench *b, const struct conv_problem *p, const struct exp_dnnl *dnnl)
{
    const size_t n = p->n * p->k * conv_windows(p);
    struct conv_bnorm_statistics statistics;
    struct conv_bnorm fused = b->site.bnorm;
    struct exp_why why;

    b->in = floats(n);
    b->out = floats(n);
    b->of_channel = floats(N_STATISTICS * p->k);
    if (!b->in || !b->out || !b->of_channel)
        return -ENOMEM;
    exp_tensors_fill(b->in, n * sizeof *b->in, 1);
    statistics = make_statistics(b, p->k);
    b->site.bnorm.in = (uintptr_t)b->in;
    b->site.bnorm.out = (uintptr_t)b->out;
    b->site.bnorm.scale = (uintptr_t)(b->of_channel + 4 * p->k);
    b->site.bnorm.shift = (uintptr_t)(b->of_channel + 5 * p->k);
    fused.activation = CONV_ACTIVATION_RELU;
    return dnnl && exp_dnnl_bnorm_new(&b->dnnl_bnorm, dnnl, &fused, &statistics, b->in, b->out, &why) == -ENOMEM
               ? -ENOMEM
               : 0;
}

static int open_conv(struct bench *b, const struct exp_dnnl *dnnl, struct exp_why *why)
{
    const struct conv_binding *bind = &b->tensors.bind;
    const struct exp_dnnl_layer layer = { .layout = EXP_DNNL_BLOCKED,
                                          .problem = &b->site.plan->problem,
                                          .activation = CONV_ACTIVATION_RELU6,
                                          .in = conv_out_ptr(bind->addr[CONV_INPUT]),
                                          .filter = conv_out_ptr(bind->addr[CONV_FILTER]),
                                          .out = conv_out_ptr(bind->addr[CONV_OUTPUT]) };
    int err;

    if (!dnnl)
        return 0;
    err = exp_dnnl_conv_new(&b->dnnl_conv, dnnl, &layer, why);
    return err == -ENOTSUP ? 0 : err;
}

static int open(struct bench *b, const struct exp_fused_layer *l, const struct exp_fused_timing *t, struct exp_why *why)
{
    int err = exp_layer_plans_init(&b->planned, t->setup, l->of, &l->shape, "sconv_tuned", why);

    if (err)
        return err;
    b->site = exp_fused_synthetic(&exp_layer_plans_case(&b->planned, "sconv_tuned")->plan);
    err = exp_tensors_init(&b->tensors, b->site.plan);
    b->site.bind = b->tensors.bind;
    if (!err)
        err = open_bnorm(b, &b->site.plan->problem, t->dnnl);
    return err ? err : open_conv(b, t->dnnl, why);
}

static void close(struct bench *b)
{
    exp_dnnl_conv_free(b->dnnl_conv);
    exp_dnnl_bnorm_free(b->dnnl_bnorm);
    exp_tensors_release(&b->tensors);
    exp_layer_plans_release(&b->planned);
    free(b->in);
    free(b->out);
    free(b->of_channel);
}

/* ---- running ---- */

static int run_dnnl(const struct runner *r)
{
    return r->pair == EXP_FUSED_CONV ? exp_dnnl_run(r->bench->dnnl_conv) : exp_dnnl_bnorm_run(r->bench->dnnl_bnorm);
}

static int run(void *ctx)
{
    struct runner *r = ctx;
    const uint64_t begin = ctr_now_ns();
    int err = r->way == EXP_FUSED_ONEDNN ? run_dnnl(r) : exp_fused_run(&r->bench->site, r->pair, r->way, NULL);

    r->last_ns = ctr_now_ns() - begin;
    return err;
}

static int prepare(void *ctx)
{
    struct runner *r = ctx;

    return r->last_ns < long_run_ns ? run(ctx) : 0;
}

static bool is_there(const struct bench *b, enum exp_fused_pair pair, enum exp_fused_way way)
{
    return way != EXP_FUSED_ONEDNN || (pair == EXP_FUSED_CONV ? b->dnnl_conv != NULL : b->dnnl_bnorm != NULL);
}

/* Compares what the two ways make, bit by bit. */
static int check(const struct bench *b, enum exp_fused_pair pair, const struct exp_fused_layer *l, struct exp_why *why)
{
    const float *out = pair == EXP_FUSED_CONV ? conv_in_ptr(b->site.bind.addr[CONV_OUTPUT]) : b->out;
    float *first = malloc(l->output_bytes);
    int err = first ? exp_fused_run(&b->site, pair, EXP_FUSED_APART, NULL) : -ENOMEM;

    if (!err) {
        memcpy(first, out, l->output_bytes);
        err = exp_fused_run(&b->site, pair, EXP_FUSED_TOGETHER, NULL);
    }
    if (!err && memcmp(first, out, l->output_bytes) != 0)
        err = exp_fail(why, -EILSEQ, "%s %s: %s computes something else when fused", l->of->model, l->of->name,
                       exp_fused_pair_name(pair));
    free(first);
    return err;
}

/* ---- rounds ---- */

static struct exp_polydl_time time_of(const uint64_t *sample, size_t n)
{
    const struct exp_times t = exp_times_of(sample, n);

    return (struct exp_polydl_time){ .n_rounds = n, .fastest_ns = t.fastest, .median_ns = t.median };
}

static int time_pair(struct bench *b, enum exp_fused_pair pair, struct exp_fused_layer *l,
                     const struct exp_fused_timing *t)
{
    const struct exp_watch watch = exp_ruler_watch(t->ruler);
    struct runner runner[EXP_N_FUSED_WAYS];
    struct exp_contender contender[EXP_N_FUSED_WAYS];
    uint64_t sample[EXP_N_FUSED_WAYS * MOST_ROUNDS];
    struct exp_bench_result result;
    const bool is_long = pair == EXP_FUSED_CONV && l->flops >= long_run_flops; /* check() has run it before */
    size_t n = 0;
    int err;

    for (enum exp_fused_way w = 0; w < EXP_N_FUSED_WAYS; w++) {
        if (!is_there(b, pair, w))
            continue;
        runner[n] = (struct runner){ b, pair, w, is_long ? UINT64_MAX : 0 };
        contender[n] = (struct exp_contender){ exp_fused_way_name(w), run, prepare, &runner[n] };
        n++;
    }
    exp_ruler_limit(t->ruler, t->budget_ns * n);
    err = exp_bench_run(&(struct exp_bench){ .n_warmups = !is_long,
                                             .rounds = { LEAST_ROUNDS, MOST_ROUNDS, t->budget_ns * n },
                                             .now_ns = ctr_thread_ns,
                                             .wall_ns = ctr_now_ns,
                                             .interrupted = exp_interrupted,
                                             .watch = t->ruler ? &watch : NULL },
                        contender, n, sample, &result);
    for (size_t i = 0; i < n && !err; i++)
        l->time[pair][runner[i].way] = time_of(sample + i * MOST_ROUNDS, result.n_rounds);
    return err;
}

int exp_fused_time(struct exp_fused_layer *l, const struct exp_fused_timing *t, struct exp_why *why)
{
    struct bench b = { .in = NULL };
    int err = *l->why_not ? 0 : open(&b, l, t, why);

    for (enum exp_fused_pair pair = 0; pair < EXP_N_FUSED_PAIRS && !err && !*l->why_not; pair++) {
        err = check(&b, pair, l, why);
        if (!err)
            err = time_pair(&b, pair, l, t);
    }
    close(&b);
    return err;
}
