/*
 * Has as many threads as allowed from prepare on; the threads share the rows. PLUGIN_PLAN is the expected number of
 * threads.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "conv_plugin.h"

enum { MAX_THREADS = 8 };

struct team {
    pthread_t thread[MAX_THREADS];
    pthread_barrier_t begin, end;
    int n, is_over;
    const struct conv_plugin_shape *s;
    const float *in, *filters;
    float *out;
};

struct member {
    struct team *team;
    int number;
};

static float sum(const struct conv_plugin_shape *s, const float *in, const float *filter, int first, int y, int x)
{
    float total = 0;

    for (int c = 0; c < s->in_channels / s->groups; c++) {
        for (int i = 0; i < s->kernel_h * s->kernel_w; i++, filter++) {
            const int h = y * s->stride_h + i / s->kernel_w * s->dilation_h - s->pad_top;
            const int w = x * s->stride_w + i % s->kernel_w * s->dilation_w - s->pad_left;

            if (h >= 0 && h < s->in_h && w >= 0 && w < s->in_w)
                total += *filter * in[((ptrdiff_t)(first + c) * s->in_h + h) * s->in_w + w];
        }
    }
    return total;
}

static void convolve(const struct team *t, int number)
{
    const struct conv_plugin_shape *s = t->s;
    const int channels = s->in_channels / s->groups, per_group = s->out_channels / s->groups;

    for (int row = number; row < s->out_channels * s->out_h; row += t->n) { /* a single image */
        const int k = row / s->out_h;

        for (int x = 0; x < s->out_w; x++)
            t->out[(ptrdiff_t)row * s->out_w + x] =
                sum(s, t->in, t->filters + (ptrdiff_t)k * channels * s->kernel_h * s->kernel_w,
                    k / per_group * channels, row % s->out_h, x);
    }
}

static void *work(void *member)
{
    struct member *m = member;
    struct team *t = m->team;
    const int number = m->number;

    free(m);
    while (pthread_barrier_wait(&t->begin), !t->is_over) {
        convolve(t, number);
        pthread_barrier_wait(&t->end);
    }
    return NULL;
}

static int prepare(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                   void **state)
{
    struct team *t;

    (void)s, (void)filters;
    if (ask->threads > MAX_THREADS || (*ask->plan && ask->threads != atoi(ask->plan)))
        return -EINVAL;
    t = calloc(1, sizeof *t);
    t->n = ask->threads;
    pthread_barrier_init(&t->begin, NULL, (unsigned)t->n);
    pthread_barrier_init(&t->end, NULL, (unsigned)t->n);
    for (int i = 1; i < t->n; i++) {
        struct member *m = malloc(sizeof *m);

        *m = (struct member){ t, i };
        pthread_create(&t->thread[i], NULL, work, m);
    }
    *state = t;
    return 0;
}

static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    struct team *t = state;

    t->s = s;
    t->in = in;
    t->filters = filters;
    t->out = out;
    pthread_barrier_wait(&t->begin);
    convolve(t, 0);
    pthread_barrier_wait(&t->end);
}

static void release(void *state)
{
    struct team *t = state;

    t->is_over = 1;
    pthread_barrier_wait(&t->begin);
    for (int i = 1; i < t->n; i++)
        pthread_join(t->thread[i], NULL);
    pthread_barrier_destroy(&t->begin);
    pthread_barrier_destroy(&t->end);
    free(t);
}

const struct conv_plugin conv_plugin = {
    .abi = CONV_PLUGIN_ABI, .name = "team", .title = "100% team", .prepare = prepare, .run = run, .release = release
};
