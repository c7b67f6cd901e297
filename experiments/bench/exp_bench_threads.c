#include "experiments/bench/exp_bench_threads.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_pin.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_bench.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_signal.h"
#include "experiments/setup/exp_models.h"
#include "kernels/lib/sconv_shape.h"

enum { MAX_THREADS = 8, ROUNDS = 9, MAX_IMAGES = 2 };

struct contender {
    struct sconv_plan *plan;
    float *in, *out;
    void *workspace;
};

static int run_contender(void *ctx)
{
    const struct contender *c = ctx;

    return sconv_run(c->plan, c->in, c->out, NULL, c->workspace, sconv_workspace_bytes(c->plan));
}

/* What a layer takes: times by the number of threads less one. */
struct times {
    double ns[MAX_THREADS];
};

static double fastest(const uint64_t *sample, size_t n)
{
    double least = (double)INFINITY;

    for (size_t i = 0; i < n; i++)
        least = fmin(least, (double)sample[i]);
    return least;
}

static int prepare(struct contender *c, const struct conv_problem *p, const struct sconv_machine *m, unsigned threads,
                   const float *weights)
{
    const struct sconv_shape shape = sconv_shape_of(p);
    const struct sconv_options o = { .threads = threads };
    const int err = sconv_plan_create(&c->plan, &shape, m, weights, &o);

    c->workspace = err ? NULL : calloc(1, sconv_workspace_bytes(c->plan));
    return err || c->workspace ? err : -ENOMEM;
}

static int time_layer(struct times *t, const struct conv_problem *p, const struct sconv_machine *m, size_t n_threads)
{
    const struct exp_bench protocol = {
        .n_warmups = 1, .rounds = { ROUNDS, ROUNDS, 0 }, .now_ns = ctr_now_ns, .interrupted = exp_interrupted
    };
    float *in = calloc(p->n * p->c * p->h * p->w, sizeof *in),
          *out = calloc(p->n * p->k * conv_windows(p), sizeof *out);
    float *weights = calloc(p->k * conv_reduction(p), sizeof *weights);
    struct contender c[MAX_THREADS] = { { 0 } };
    struct exp_contender contender[MAX_THREADS];
    uint64_t sample[MAX_THREADS * ROUNDS];
    struct exp_bench_result result;
    int err = in && out && weights ? 0 : -ENOMEM;

    for (size_t i = 0; i < n_threads && !err; i++) {
        c[i] = (struct contender){ .in = in, .out = out };
        err = prepare(&c[i], p, m, (unsigned)i + 1, weights);
        contender[i] = (struct exp_contender){ "threads", run_contender, NULL, &c[i] };
    }
    err = err ? err : exp_bench_run(&protocol, contender, n_threads, sample, &result);
    for (size_t i = 0; i < n_threads; i++) {
        t->ns[i] = err ? 0 : fastest(sample + i * ROUNDS, result.n_rounds);
        sconv_plan_free(c[i].plan);
        free(c[i].workspace);
    }
    free(in);
    free(out);
    free(weights);
    return err;
}

/* Returns the first layer of the same shape; l itself if it is that. */
static size_t first_like(const struct exp_model *model, size_t l)
{
    size_t i = 0;

    while (memcmp(&model->layer[i].problem, &model->layer[l].problem, sizeof model->layer[l].problem) != 0)
        i++;
    return i;
}

static void print_times(const struct exp_model *model, unsigned n_images, const struct times *sum, size_t n_threads)
{
    printf("%-14s %6u %12.2f", model->name, n_images, sum->ns[0] / 1e6);
    for (size_t i = 1; i < n_threads; i++)
        printf(" %12.2f", sum->ns[0] / sum->ns[i]);
    fputc('\n', stdout);
}

static int time_model(const struct exp_model *model, unsigned n_images, const struct sconv_machine *m, size_t n_threads)
{
    struct times *of = calloc(model->n_layers, sizeof *of), sum = { { 0 } };
    int err = of ? 0 : -ENOMEM;

    for (size_t l = 0; l < model->n_layers && !err; l++) {
        const size_t first = first_like(model, l);
        struct conv_problem p = model->layer[l].problem;

        p.n = n_images;
        if (first == l)
            err = time_layer(&of[l], &p, m, n_threads);
        for (size_t i = 0; i < n_threads; i++)
            sum.ns[i] += of[first].ns[i];
    }
    if (!err)
        print_times(model, n_images, &sum, n_threads);
    free(of);
    return err;
}

int exp_bench_threads(char *why, size_t why_bytes)
{
    struct sconv_machine *m = NULL;
    struct exp_models models = { 0 };
    struct ctr_pin pin;
    size_t n_threads = 0;
    int err = exp_models_read(&models, "experiments", "all", "", why, why_bytes);

    if (!err) {
        err = ctr_pin_state(&pin);
        n_threads = pin.n_allowed < MAX_THREADS ? pin.n_allowed : MAX_THREADS;
    }
    if (!err)
        err = sconv_machine_create(&m, NULL, why, why_bytes);
    if (!err && n_threads > 1) {
        printf("\nlibsconv on the cores this process may use, hot\n%-14s %6s %12s", "", "images", "1 thread ms");
        for (size_t i = 1; i < n_threads; i++)
            printf(" %5zu threads", i + 1);
        fputc('\n', stdout);
    }
    for (size_t i = 0; i < models.n && !err && n_threads > 1; i++) {
        for (unsigned n = 1; n <= MAX_IMAGES && !err; n++)
            err = time_model(&models.model[i], n, m, n_threads);
    }
    sconv_machine_free(m);
    exp_models_release(&models);
    return err;
}
