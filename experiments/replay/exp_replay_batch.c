/* Replaying several experiments together: part of exp_replay.h. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_signal.h"
#include "experiments/replay/exp_replay_stream.h"

struct stream {
    size_t experiment, index;
    double experiment_seconds, seconds; /* of all of its experiment, and its own */
};

struct replay_all {
    const struct exp_replay_batch *batch;
    struct stream *stream;
    size_t n_streams;
    size_t *n_left;       /* streams of each experiment that are not done */
    pthread_mutex_t lock; /* guards n_left, and what is done with a finished experiment */
    struct exp_why *why;
    bool has_why;
};

static void copy_identical(struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases; i++) {
        if (e->cases[i].same_as != i) {
            e->cases[i].simulated = e->cases[e->cases[i].same_as].simulated;
            e->cases[i].alone = e->cases[e->cases[i].same_as].alone;
            e->cases[i].simulated.is_copy = e->cases[i].alone.is_copy = true;
        }
    }
}

static void add_streams(struct replay_all *all, size_t experiment)
{
    const struct exp_replay_batch *b = all->batch;
    struct stream *first = all->stream + all->n_streams;
    double sum = 0;

    all->n_left[experiment] = exp_replay_streams(b->experiment[experiment], b->cache);
    for (size_t i = 0; i < all->n_left[experiment]; i++) {
        double seconds = exp_replay_stream_seconds(b->experiment[experiment], b->cache, i);

        all->stream[all->n_streams++] = (struct stream){ .experiment = experiment, .index = i, .seconds = seconds };
        sum += seconds;
    }
    for (struct stream *s = first; s < all->stream + all->n_streams; s++)
        s->experiment_seconds = sum;
}

/* The longest experiment first, and of an experiment the longest stream: what is left at the end is short. */
static int by_seconds(const void *a, const void *b)
{
    const struct stream *x = a, *y = b;

    if (x->experiment_seconds != y->experiment_seconds)
        return x->experiment_seconds < y->experiment_seconds ? 1 : -1;
    if (x->experiment != y->experiment)
        return x->experiment < y->experiment ? -1 : 1;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

/* Counts a stream of an experiment; after the last one there is no more to replay of it. */
static int finish_stream(struct replay_all *all, size_t experiment)
{
    const struct exp_replay_batch *b = all->batch;
    int err = 0;

    pthread_mutex_lock(&all->lock);
    if (!--all->n_left[experiment]) {
        if (b->cache != EXP_NETWORK)
            copy_identical(b->experiment[experiment]);
        if (b->done && !all->has_why)
            err = b->done(b->ctx, experiment, all->why);
        all->has_why = all->has_why || err;
    }
    pthread_mutex_unlock(&all->lock);
    return err;
}

/* Fewer streams than threads: each stream gets what would be idle. */
static unsigned threads_per_stream(const struct replay_all *all)
{
    unsigned n_threads = all->batch->n_threads;

    return n_threads > all->n_streams ? (unsigned)(n_threads / all->n_streams) : 1;
}

static int replay_stream(void *ctx, size_t job, size_t thread, const struct exp_pool *pool)
{
    struct replay_all *all = ctx;
    const struct stream *s = &all->stream[job];
    struct exp_experiment *e = all->batch->experiment[s->experiment];
    int err = exp_replay_stream(all->batch, e, s->index, threads_per_stream(all), pool);

    (void)thread;
    return err ? err : finish_stream(all, s->experiment);
}

static int run_streams(struct replay_all *all)
{
    const struct exp_replay_batch *b = all->batch;
    int err;

    for (size_t i = 0; i < b->n; i++)
        add_streams(all, i);
    qsort(all->stream, all->n_streams, sizeof *all->stream, by_seconds);
    pthread_mutex_init(&all->lock, NULL);
    err = exp_pool_run(all->n_streams, b->n_threads, replay_stream, all, exp_interrupted, NULL);
    pthread_mutex_destroy(&all->lock);
    return err;
}

int exp_replay_batch(const struct exp_replay_batch *b, struct exp_why *why)
{
    struct replay_all all = { .batch = b, .why = why };
    size_t n = 0;
    int err;

    if (b->store) {
        err = exp_replay_kept(b, why);
        if (!err && b->cache != EXP_NETWORK)
            copy_identical(b->experiment[0]);
        return err;
    }
    for (size_t i = 0; i < b->n; i++)
        n += exp_replay_streams(b->experiment[i], b->cache);
    all.stream = calloc(n + 1, sizeof *all.stream);
    all.n_left = calloc(b->n + 1, sizeof *all.n_left);
    err = all.stream && all.n_left ? run_streams(&all) : -ENOMEM;
    free(all.stream);
    free(all.n_left);
    if (err && !all.has_why)
        exp_fail(why, err,
                 err == -EINTR     ? "interrupted while replaying"
                 : err == -EBADMSG ? "internal error: two simulations of one stream disagree; please report"
                                   : "out of memory while replaying");
    return err;
}

int exp_replay_all(struct exp_experiment *e, enum exp_cache_state cache, unsigned n_threads,
                   struct exp_progress *progress, struct exp_why *why)
{
    const struct exp_replay_batch b = {
        .experiment = &e, .n = 1, .cache = cache, .n_threads = n_threads, .progress = progress
    };

    return exp_replay_batch(&b, why);
}
