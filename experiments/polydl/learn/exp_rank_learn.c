#include "experiments/polydl/learn/exp_rank_learn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/base/exp_stats.h"

enum { TRAINING_PERCENT = 70, MAX_LAYER_PAIRS = 400 };

static const struct exp_rank_training training = { .n_epochs = EXP_RANK_EPOCHS, .batch = 32, .rate = 1e-3 };

/* ---- layers ---- */

/* Returns a number that equal shapes share. */
static uint64_t shape_key(const struct exp_variant_source *s, uint64_t seed)
{
    const struct exp_gemm *g = &s->gemm;
    const uint64_t gemm[] = { g->m, g->n, g->k };
    const unsigned char *byte = s->problem ? (const void *)s->problem : (const void *)gemm;
    const size_t bytes = s->problem ? sizeof *s->problem : sizeof gemm;
    uint64_t state = seed;

    for (size_t i = 0; i < bytes; i++)
        state = exp_random_next(&state) ^ byte[i];
    return exp_random_next(&state);
}

static int by_key(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

int exp_rank_split(const struct exp_polydl *p, uint64_t seed, bool *is_training)
{
    uint64_t *key = calloc(2 * p->n_layers + 1, sizeof *key), *sorted = key ? key + p->n_layers : NULL;

    if (!key)
        return -ENOMEM;
    for (size_t i = 0; i < p->n_layers; i++)
        sorted[i] = key[i] = shape_key(&p->layer[i].source, seed);
    qsort(sorted, p->n_layers, sizeof *sorted, by_key);
    for (size_t i = 0; i < p->n_layers; i++)
        is_training[i] = key[i] < sorted[p->n_layers * TRAINING_PERCENT / 100];
    free(key);
    return 0;
}

/* ---- pairs ---- */

struct pairs {
    struct exp_rank_pair *pair;
    size_t n;
};

/* Returns what a variant's sources hold, as the net sees it. */
static void statistics_of(double *statistics, const struct exp_analysis *a, size_t n, enum exp_polydl_threads threads)
{
    for (size_t i = 0; i < n; i++)
        statistics[i] = (double)a->polydl[threads].resident.bytes[i];
}

static bool add_pair(struct pairs *to, const struct exp_polydl_layer *l, const struct exp_analysis *a, size_t n,
                     enum exp_polydl_threads threads, size_t first, size_t second)
{
    const double first_ns = l->of[first].time[threads].fastest_ns, second_ns = l->of[second].time[threads].fastest_ns;
    double one[EXP_RANK_MAX_STATISTICS], other[EXP_RANK_MAX_STATISTICS];
    struct exp_rank_pair *pair = &to->pair[to->n];

    if (first == second || !(first_ns > 0) || !(second_ns > 0) || !(first_ns < second_ns || first_ns > second_ns))
        return false;
    statistics_of(one, &a[first], n, threads);
    statistics_of(other, &a[second], n, threads);
    exp_rank_net_input(pair->input, one, other, n);
    pair->winner = second_ns < first_ns;
    to->n++;
    return true;
}

/* Adds all ordered pairs of a layer's variants, or a sample of them. Returns whether there are any. */
static bool add_layer(struct pairs *to, const struct exp_polydl_layer *l, const struct exp_analysis *a, size_t n,
                      enum exp_polydl_threads threads, uint64_t *state)
{
    const size_t n_variants = l->variants.n, all = n_variants * n_variants;
    const size_t before = to->n;

    if (all <= MAX_LAYER_PAIRS) {
        for (size_t i = 0; i < all; i++)
            add_pair(to, l, a, n, threads, i / n_variants, i % n_variants);
    } else {
        for (size_t i = 0; i < MAX_LAYER_PAIRS; i++) {
            const size_t drawn = (size_t)(exp_random_next(state) % all);

            add_pair(to, l, a, n, threads, drawn / n_variants, drawn % n_variants);
        }
    }
    return to->n > before;
}

/* Makes the pairs of the layers on one side. Returns how many layers have some. */
static size_t collect(struct pairs *to, const struct exp_polydl *p, const struct exp_analyses *a,
                      enum exp_polydl_threads threads, const bool *is_training, bool wanted, uint64_t seed)
{
    size_t n_layers = 0;

    for (size_t i = 0; i < p->n_layers; i++) {
        if (is_training[i] == wanted && !*p->layer[i].why_not)
            n_layers += add_layer(to, &p->layer[i], a->of[i], a->sources[threads].n_caches + 1, threads, &seed);
    }
    return n_layers;
}

/* ---- learning ---- */

struct lesson {
    struct exp_rank_learnt *learnt;
    const struct pairs *held_out;
};

static int note_epoch(void *lesson, size_t epoch, double loss)
{
    const struct lesson *l = lesson;

    l->learnt->loss[epoch] = loss;
    l->learnt->held_out_loss[epoch] =
        l->held_out->n ? exp_rank_net_loss(&l->learnt->net, l->held_out->pair, l->held_out->n) : (double)NAN;
    return exp_interrupted() ? -EINTR : 0;
}

static int teach(struct exp_rank_learnt *learnt, size_t n_statistics, uint64_t seed, const struct pairs *seen,
                 const struct pairs *held_out)
{
    int err = exp_rank_net_new(&learnt->net, n_statistics, seed);

    learnt->n_pairs = seen->n;
    learnt->n_held_out_pairs = held_out->n;
    if (!err)
        err = exp_rank_net_train(&learnt->net, seen->pair, seen->n, &training, note_epoch,
                                 &(struct lesson){ learnt, held_out });
    if (err)
        exp_rank_net_release(&learnt->net);
    return err;
}

int exp_rank_learn(struct exp_rank_learnt *learnt, const struct exp_polydl *p, const struct exp_analyses *a,
                   enum exp_polydl_threads threads, const bool *is_training, uint64_t seed, struct exp_why *why)
{
    const size_t room = p->n_layers * MAX_LAYER_PAIRS + 1, n_statistics = a->sources[threads].n_caches + 1;
    struct pairs seen = { calloc(room, sizeof *seen.pair), 0 }, held_out = { calloc(room, sizeof *seen.pair), 0 };
    int err = seen.pair && held_out.pair ? 0 : -ENOMEM;

    *learnt = (struct exp_rank_learnt){ .why_not = "" };
    if (!err) {
        const size_t n_layers = collect(&seen, p, a, threads, is_training, true, seed);

        collect(&held_out, p, a, threads, is_training, false, seed);
        if (n_layers < EXP_RANK_MIN_LAYERS)
            exp_say(learnt->why_not, sizeof learnt->why_not,
                    "the net wants %d layers with times of several variants to learn from; there are %zu",
                    EXP_RANK_MIN_LAYERS, n_layers);
        else
            err = teach(learnt, n_statistics, seed, &seen, &held_out);
    }
    free(seen.pair);
    free(held_out.pair);
    return err ? exp_fail(why, err, "the net cannot be trained: %s", strerror(-err)) : 0;
}

void exp_rank_learnt_release(struct exp_rank_learnt *learnt)
{
    exp_rank_net_release(&learnt->net);
}

int exp_rank_play(const struct exp_rank_net *net, const struct exp_analysis *analysis, size_t n,
                  enum exp_polydl_threads threads, unsigned *wins)
{
    double *statistics = calloc(n * net->n_statistics + 1, sizeof *statistics);

    if (!statistics)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        statistics_of(statistics + i * net->n_statistics, &analysis[i], net->n_statistics, threads);
    exp_rank_net_tournament(net, statistics, n, wins);
    free(statistics);
    return 0;
}
