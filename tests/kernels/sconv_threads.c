/*
 * libsconv under ThreadSanitizer (`make tsan`): plans of each kind, shared among two threads by every axis, run by two
 * callers at a time: each run on threads of its own, then all on one team. Results must equal a single thread's
 * results, bit for bit; the sanitizer looks for races.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/lib/sconv.h"

enum { N_CALLERS = 2, N_THREADS = 2, N_RUNS = 3, MAX_IN = 1 << 16, MAX_WEIGHTS = 1 << 16, MAX_OUT = 1 << 16 };

/* Batch, channels, height, width | filters | strides | padding | dilations | groups. */
static const struct sconv_shape shapes[] = {
    { 1, 8, 13, 13, 40, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1 },   /* walked or packed */
    { 1, 70, 14, 14, 50, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1 },  /* pointwise */
    { 2, 6, 17, 17, 8, 5, 5, 2, 2, 2, 2, 2, 2, 1, 1, 2 },    /* images and groups to share */
    { 1, 16, 12, 12, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 16 }, /* depthwise */
    { 1, 20, 2, 2, 300, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1 },   /* filters to share */
};

static float in[MAX_IN], weights[MAX_WEIGHTS], bias[512], expected[MAX_OUT];

struct caller {
    struct sconv_team *team;
    const struct sconv_plan *plan;
    float *out;
    int err;
    pthread_t thread;
};

static int run(struct sconv_team *team, const struct sconv_plan *plan, float *out)
{
    size_t bytes = sconv_workspace_bytes(plan);
    void *workspace = malloc(bytes);
    int err = workspace ? sconv_team_run(team, plan, in, out, NULL, workspace, bytes) : -ENOMEM;

    free(workspace);
    return err;
}

static void *call(void *ctx)
{
    struct caller *c = ctx;

    for (int i = 0; i < N_RUNS && !c->err; i++)
        c->err = run(c->team, c->plan, c->out);
    return NULL;
}

static int create(struct sconv_plan **plan, const struct sconv_shape *s, unsigned threads)
{
    const struct sconv_options options = { .bias = bias, .activation = SCONV_RELU, .threads = threads };

    return sconv_plan_create(plan, s, NULL, weights, &options);
}

/* Has all callers run a plan, on a team or not. */
static int call_together(struct sconv_team *team, const struct sconv_plan *plan, size_t bytes)
{
    static float out[N_CALLERS][MAX_OUT];
    struct caller c[N_CALLERS];
    int err = 0;

    memset(out, 0, sizeof out);
    for (int i = 0; i < N_CALLERS && !err; i++) {
        c[i] = (struct caller){ .team = team, .plan = plan, .out = out[i] };
        err = -pthread_create(&c[i].thread, NULL, call, &c[i]);
    }
    for (int i = 0; i < N_CALLERS && !err; i++) {
        err = -pthread_join(c[i].thread, NULL);
        err = err ? err : c[i].err;
        if (!err && memcmp(out[i], expected, bytes) != 0)
            err = -EILSEQ;
    }
    return err;
}

static int try_shape(struct sconv_team *team, const struct sconv_shape *s)
{
    struct sconv_plan *alone, *plan;
    size_t out_h, out_w, bytes;
    int err = create(&alone, s, 1);

    if (!err)
        err = run(NULL, alone, expected);
    sconv_plan_free(alone);
    if (!err)
        err = create(&plan, s, N_THREADS);
    if (err)
        return err;
    err = sconv_output_size(plan, &out_h, &out_w);
    bytes = s->batch * s->out_c * out_h * out_w * sizeof(float);
    err = err ? err : call_together(NULL, plan, bytes);
    err = err ? err : call_together(team, plan, bytes);
    sconv_plan_free(plan);
    return err;
}

int main(void)
{
    struct sconv_team *team;

    if (sconv_team_create(&team, N_THREADS + 1))
        return EXIT_FAILURE;
    for (size_t i = 0; i < MAX_IN; i++)
        in[i] = (float)(i % 17) - 8;
    for (size_t i = 0; i < MAX_WEIGHTS; i++)
        weights[i] = (float)(i % 13) / 8 - 0.75f;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        int err = try_shape(team, &shapes[i]);

        if (err) {
            fprintf(stderr, "sconv_threads: shape %zu: error %d\n", i, err);
            return EXIT_FAILURE;
        }
    }
    sconv_team_free(team);
    printf("sconv_threads: %zu shapes, %d callers of %d threads, a team, no race\n", sizeof shapes / sizeof shapes[0],
           N_CALLERS, N_THREADS);
    return EXIT_SUCCESS;
}
