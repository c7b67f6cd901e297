/* Speed of libsconv on several threads: of whole models, and layer by layer. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_pin.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/stats.h"
#include "experiments/base/error.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/model/model.h"
#include "experiments/speed/speed.h"
#include "kernels/lib/sconv_shape.h"

enum { MAX_THREADS = 8, ROUNDS = 5, PASSES = 3, MAX_IMAGES = 2, MAX_CONTENDERS = 2 * MAX_THREADS };

/* The computer, and the requested measurement. */
struct bench {
    struct sconv_machine *machine;
    struct sconv_team *team; /* of n_threads */
    size_t n_threads;
    bool shows_layers;
};

struct contender {
    struct sconv_team *team; /* NULL: a run starts its own threads */
    struct sconv_plan *plan;
    float *in, *out;
    void *workspace;
};

static int run_contender(void *ctx)
{
    const struct contender *c = ctx;

    return sconv_team_run(c->team, c->plan, c->in, c->out, NULL, c->workspace, sconv_workspace_bytes(c->plan));
}

/* The times of a layer, by the number of threads less one: with threads started for each run, then with a team. */
struct times {
    double ns[MAX_CONTENDERS];
};

static int prepare(struct contender *c, const struct conv_problem *p, const struct sconv_machine *m, unsigned threads,
                   const float *weights)
{
    const struct sconv_shape shape = sconv_shape_of(p);
    const struct sconv_options o = { .threads = threads };
    const int err = sconv_plan_create(&c->plan, &shape, m, weights, &o);

    c->workspace = err ? NULL : calloc(1, sconv_workspace_bytes(c->plan));
    return err || c->workspace ? err : -ENOMEM;
}

/*
 * Times 1, 2, ... threads started for each run, then 2, 3, ... threads of a team; keeps the smaller of old and new
 * time.
 */
static int time_layer(struct times *t, const struct conv_problem *p, const struct bench *b)
{
    const size_t n = 2 * b->n_threads - 1;
    float *in = calloc(p->n * p->c * p->h * p->w, sizeof *in),
          *out = calloc(p->n * p->k * conv_windows(p), sizeof *out);
    float *weights = calloc(p->k * conv_reduction(p), sizeof *weights);
    struct contender c[MAX_CONTENDERS] = { { 0 } };
    struct exp_contender contender[MAX_CONTENDERS];
    uint64_t fastest_ns[MAX_CONTENDERS];
    int err = in && out && weights ? 0 : -ENOMEM;

    for (size_t i = 0; i < n && !err; i++) {
        const bool is_team = i >= b->n_threads;

        c[i] = (struct contender){ .team = is_team ? b->team : NULL, .in = in, .out = out };
        err = prepare(&c[i], p, b->machine, (unsigned)(is_team ? i + 2 - b->n_threads : i + 1), weights);
        contender[i] = (struct exp_contender){ "threads", run_contender, run_contender, &c[i] };
    }
    err = err ? err : exp_bench_fastest(contender, n, ROUNDS, ctr_now_ns, fastest_ns);
    for (size_t i = 0; i < n; i++) {
        if (!err)
            t->ns[i] = fmin(t->ns[i], (double)fastest_ns[i]);
        sconv_plan_free(c[i].plan);
        free(c[i].workspace);
    }
    free(in);
    free(out);
    free(weights);
    return err;
}

/* Returns the first layer of l's shape, perhaps l. */
static size_t first_like(const struct exp_model *model, size_t l)
{
    size_t i = 0;

    while (memcmp(&model->layer[i].problem, &model->layer[l].problem, sizeof model->layer[l].problem) != 0)
        i++;
    return i;
}

static void print_times(const char *name, unsigned n_images, const struct times *t, const struct bench *b)
{
    printf("%-24s %6u %12.3f", name, n_images, t->ns[0] / 1e6);
    for (size_t i = 1; i < 2 * b->n_threads - 1; i++)
        printf(" %12.2f", t->ns[0] / t->ns[i]);
    fputc('\n', stdout);
}

/* Times each shape of a model once, in the first layer of the shape. */
static int time_shapes(struct times *of, const struct exp_model *model, unsigned n_images, const struct bench *b)
{
    int err = 0;

    for (size_t l = 0; l < model->n_layers && !err; l++) {
        struct conv_problem p = model->layer[l].problem;

        p.n = n_images;
        if (first_like(model, l) == l)
            err = time_layer(&of[l], &p, b);
    }
    return err;
}

static void print_model(const struct exp_model *model, unsigned n_images, const struct times *of, const struct bench *b)
{
    struct times sum = { { 0 } };

    for (size_t l = 0; l < model->n_layers; l++) {
        const size_t first = first_like(model, l);

        if (first == l && b->shows_layers)
            print_times(model->layer[l].name, n_images, &of[l], b);
        for (size_t i = 0; i < MAX_CONTENDERS; i++)
            sum.ns[i] += of[first].ns[i];
    }
    print_times(model->name, n_images, &sum, b);
}

/*
 * A disturbance of the computer may last as long as all rounds of a layer, so there are several passes over the model.
 */
static int time_model(const struct exp_model *model, unsigned n_images, const struct bench *b)
{
    struct times *of = calloc(model->n_layers, sizeof *of);
    int err = of ? 0 : -ENOMEM;

    for (size_t l = 0; l < model->n_layers && !err; l++) {
        for (size_t i = 0; i < MAX_CONTENDERS; i++)
            of[l].ns[i] = (double)INFINITY;
    }
    for (unsigned pass = 0; pass < PASSES && !err; pass++)
        err = time_shapes(of, model, n_images, b);
    if (!err)
        print_model(model, n_images, of, b);
    free(of);
    return err;
}

static void print_heading(size_t n_threads)
{
    static const char *const what[] = { "started", "team" };

    printf("\nlibsconv on the cores this process may use, hot\n%-24s %6s %12s", "", "images", "1 thread ms");
    for (size_t w = 0; w < 2; w++) {
        for (size_t i = 2; i <= n_threads; i++)
            printf(" %3zu %8s", i, what[w]);
    }
    fputc('\n', stdout);
}

static int open_bench(struct bench *b, struct exp_why *why)
{
    struct ctr_pin pin;
    int err = ctr_pin_state(&pin);

    if (!err)
        b->n_threads = pin.n_allowed < MAX_THREADS ? pin.n_allowed : MAX_THREADS;
    if (!err)
        err = sconv_machine_create(&b->machine, NULL, why->text, sizeof why->text);
    return err ? err : sconv_team_create(&b->team, (unsigned)b->n_threads);
}

int exp_bench_threads(const char *list, bool shows_layers, struct exp_why *why)
{
    struct bench b = { .shows_layers = shows_layers };
    struct exp_models models = { 0 };
    int err = exp_main_models(&models, list, &(struct exp_model_ask){ .layers = "" }, why);

    if (!err)
        err = open_bench(&b, why);
    if (!err && b.n_threads > 1)
        print_heading(b.n_threads);
    for (size_t i = 0; i < models.n && !err && b.n_threads > 1; i++) {
        for (unsigned n = 1; n <= MAX_IMAGES && !err; n++)
            err = time_model(&models.model[i], n, &b);
    }
    sconv_team_free(b.team);
    sconv_machine_free(b.machine);
    exp_models_release(&models);
    return err;
}

/* ---- the question ---- */

struct options {
    const char *model;
};

struct session {
    struct options options;
    struct exp_why why;
};

static int work(void *session)
{
    struct session *s = session;

    return exp_bench_threads(s->options.model, true, &s->why);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("MODEL", "models, comma-separated; all (default): the paper's seven", model, "all"),
    EXP_OPTIONS_END,
};

const struct exp_question question_threads = {
    .name = "threads",
    .target = "bench-threads",
    .asks = "Measure libsconv on 2, 3, ... cores, layer by layer",
    .takes = "Some ten seconds a model.",
    .examples = { "make bench-threads MODEL=vgg16" },
    .options = options,
    EXP_SESSION(struct session),
    .work = work,
};
