#include "experiments/papers/polydl/rank.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/base/stats.h"

enum { SEED = 1, TOP_PERCENT = 5, TRAINING_PERCENT = 70, MAX_LAYER_PAIRS = 400 };

/* ---- rankings ---- */

const struct exp_ranking_words exp_rankings[EXP_N_RANKINGS] = {
#define WORDS(number, name, title, meaning) [number] = { name, title, meaning },
    EXP_EACH_RANKING(WORDS)
#undef WORDS
};

/* A layer's variants on this number of threads. */
struct ranked {
    const struct exp_polydl_layer *layer;
    const struct exp_analysis *analysis; /* [variants] */
    const unsigned *wins;                /* [variants], of the net; NULL without a net */
    enum exp_polydl_threads threads;
};

/* A ranking's costs of a variant; NaN: none. */
struct values {
    double cost;    /* the less the better */
    double time_ns; /* the time that judges the ranking */
    double seconds; /* of the CPU, for the ranking */
};

static double or_nan(double x)
{
    return x > 0 ? x : (double)NAN;
}

static struct values simulated_values(const struct exp_polydl_simulated *s, double cycles, double time_ns)
{
    return (struct values){ s->is_known ? cycles : (double)NAN, time_ns, or_nan(s->seconds) };
}

static struct values values_of(enum exp_ranking r, const struct ranked *c, size_t variant)
{
    const struct exp_polydl_simulated *alone = &c->layer->of[variant].simulated[EXP_POLYDL_ALONE],
                                      *whole = &c->layer->of[variant].simulated[EXP_POLYDL_WHOLE];
    const struct exp_polydl_time *t = &c->layer->of[variant].time[c->threads];
    const struct exp_analysis *a = &c->analysis[variant];
    const double fastest = or_nan(t->fastest_ns), polydl_seconds = a->polydl[c->threads].seconds;

    switch (r) {
    case EXP_RANKING_POLYDL:
        return (struct values){ a->polydl[c->threads].cost, fastest, polydl_seconds };
    case EXP_RANKING_DNN:
        return (struct values){ c->wins ? -(double)c->wins[variant] : (double)NAN, fastest, polydl_seconds };
    case EXP_RANKING_HAYSTACK:
        return (struct values){ a->haystack_cycles, fastest, a->haystack_seconds };
    case EXP_RANKING_ALONE:
        return simulated_values(alone, alone->cycles, fastest);
    case EXP_RANKING_WHOLE:
        return simulated_values(whole, whole->cycles, fastest);
    case EXP_RANKING_TRAFFIC:
        return simulated_values(alone, alone->traffic_cycles, fastest);
    case EXP_RANKING_DEFAULT:
        return (struct values){ variant ? (double)NAN : 0, fastest, 0 };
    default: /* the clock needs runs of all rounds */
        return (struct values){ or_nan(t->half_ns[0]), or_nan(t->half_ns[1]),
                                or_nan(t->median_ns * (double)t->n_rounds * 1e-9) };
    }
}

/* ---- learning: the layers ---- */

static const struct exp_rank_training training = { .n_epochs = EXP_RANK_EPOCHS, .batch = 32, .rate = 1e-3 };

/* Returns a number that is equal for equal shapes. */
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

/* Chooses the layers for training. */
static void split(struct exp_rank *r)
{
    const size_t n = r->polydl->n_layers;
    uint64_t *key = exp_new(2 * n, sizeof *key), *sorted = key + n;

    for (size_t i = 0; i < n; i++)
        sorted[i] = key[i] = shape_key(&r->polydl->layer[i].source, SEED);
    qsort(sorted, n, sizeof *sorted, exp_by_first_member);
    for (size_t i = 0; i < n; i++)
        r->layer[i].is_training = key[i] < sorted[n * TRAINING_PERCENT / 100];
    free(key);
}

/* ---- learning: pairs ---- */

struct pairs {
    struct exp_rank_pair *pair;
    size_t n;
};

/* Returns the bytes in a variant's sources, as inputs of the net. */
static void statistics_of(double *statistics, const struct exp_analysis *a, size_t n, enum exp_polydl_threads threads)
{
    for (size_t i = 0; i < n; i++)
        statistics[i] = (double)a->polydl[threads].resident.bytes[i];
}

/* Adds an ordered pair of a layer's variants, unless the faster variant is not known. */
static void add_pair(struct pairs *to, const struct ranked *c, size_t n, size_t first, size_t second)
{
    const double first_ns = c->layer->of[first].time[c->threads].fastest_ns,
                 second_ns = c->layer->of[second].time[c->threads].fastest_ns;
    double one[EXP_RANK_MAX_STATISTICS], other[EXP_RANK_MAX_STATISTICS];
    struct exp_rank_pair *pair;

    if (first == second || !(first_ns > 0) || !(second_ns > 0) || !(first_ns < second_ns || first_ns > second_ns))
        return;
    statistics_of(one, &c->analysis[first], n, c->threads);
    statistics_of(other, &c->analysis[second], n, c->threads);
    pair = exp_append(&to->pair, &to->n, sizeof *pair);
    exp_rank_net_input(pair->input, one, other, n);
    pair->winner = second_ns < first_ns;
}

/* Makes the pairs of the layers on a single side: all of a layer, or a sample. Returns how many layers have some. */
static size_t collect(struct pairs *to, const struct exp_rank *r, enum exp_polydl_threads threads, bool is_training)
{
    const size_t n_statistics = r->analyses.sources[threads].n_caches + 1;
    uint64_t state = SEED;
    size_t n_layers = 0;

    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        const struct ranked c = { &r->polydl->layer[i], r->analyses.of[i], NULL, threads };
        const size_t n = c.layer->variants.n, before = to->n;

        if (r->layer[i].is_training != is_training || *c.layer->why)
            continue;
        for (size_t k = 0; k < n * n && k < MAX_LAYER_PAIRS; k++) {
            const size_t pair = n * n <= MAX_LAYER_PAIRS ? k : (size_t)(exp_random_next(&state) % (n * n));

            add_pair(to, &c, n_statistics, pair / n, pair % n);
        }
        n_layers += to->n > before;
    }
    return n_layers;
}

/* ---- learning: the net ---- */

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

/* Trains a net on the times of this many threads. Too few layers are no error: `why` of the struct says so. */
static int learn(struct exp_rank *r, enum exp_polydl_threads threads, struct exp_why *why)
{
    struct exp_rank_learnt *learnt = &r->learnt[threads];
    struct pairs seen = { NULL, 0 }, held_out = { NULL, 0 };
    const size_t n_layers = collect(&seen, r, threads, true);
    int err = 0;

    collect(&held_out, r, threads, false);
    if (n_layers < EXP_RANK_MIN_LAYERS) {
        exp_say(learnt->why, sizeof learnt->why,
                "the net wants %d layers with times of several variants to learn from; there are %zu",
                EXP_RANK_MIN_LAYERS, n_layers);
    } else {
        learnt->n_pairs = seen.n;
        exp_rank_net_new(&learnt->net, r->analyses.sources[threads].n_caches + 1, SEED);
        err = exp_rank_net_train(&learnt->net, seen.pair, seen.n, &training, note_epoch,
                                 &(struct lesson){ learnt, &held_out });
    }
    free(seen.pair);
    free(held_out.pair);
    return err ? exp_fail(why, err, "the net cannot be trained: %s", strerror(-err)) : 0;
}

/* Lets the variants of a layer play. Returns wins[variants], from malloc. */
static unsigned *play(const struct exp_rank_net *net, const struct ranked *c)
{
    const size_t n = c->layer->variants.n;
    double *statistics = exp_new(n * net->n_statistics, sizeof *statistics);
    unsigned *wins = exp_new(n, sizeof *wins);

    for (size_t i = 0; i < n; i++)
        statistics_of(statistics + i * net->n_statistics, &c->analysis[i], net->n_statistics, c->threads);
    exp_rank_net_tournament(net, statistics, n, wins);
    free(statistics);
    return wins;
}

/* ---- judging a single layer ---- */

static bool is_ranked(const double *costs, const double *times, size_t i)
{
    return isfinite(costs[i]) && isfinite(times[i]);
}

/* Counts the ranked variants that a ranking puts before a variant. */
static size_t place_of(const double *costs, const double *times, size_t n, size_t variant)
{
    size_t place = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_ranked(costs, times, i))
            place += costs[i] < costs[variant] || (i < variant && !(costs[i] > costs[variant]));
    }
    return place;
}

struct exp_rank_verdict exp_rank_judge(const double *costs, const double *times, size_t n)
{
    struct exp_rank_verdict v = { .seconds = (double)NAN };
    double best = (double)NAN, top = (double)NAN;
    size_t n_top;

    assert((costs && times) || !n);
    for (size_t i = 0; i < n; i++) {
        v.n += is_ranked(costs, times, i);
        best = fmin(best, times[i]); /* of a NaN and a number, the number */
    }
    n_top = (v.n * TOP_PERCENT + 99) / 100;
    for (size_t i = 0; i < n; i++) {
        const size_t place = is_ranked(costs, times, i) ? place_of(costs, times, n, i) : n;

        if (!place)
            v.picked = i;
        if (place < n_top)
            top = fmin(top, times[i]);
    }
    v.time_ns = v.n ? times[v.picked] : (double)NAN;
    v.share = best / v.time_ns;
    v.top_share = best / top;
    v.spearman = exp_stats_spearman(costs, times, n);
    v.kendall = exp_stats_kendall(costs, times, n);
    return v;
}

static void judge_layer(struct exp_rank *r, size_t layer, enum exp_polydl_threads threads)
{
    const struct exp_rank_net *net = &r->learnt[threads].net;
    struct exp_rank_layer *to = &r->layer[layer];
    struct ranked c = { &r->polydl->layer[layer], r->analyses.of[layer], NULL, threads };
    const size_t n = c.layer->variants.n;
    double *cost = exp_new(n, sizeof *cost), *time_ns = exp_new(n, sizeof *time_ns);
    unsigned *wins = net->weight ? play(net, &c) : NULL;

    c.wins = wins;
    to->best_ns[threads] = to->worst_ns[threads] = (double)NAN;
    for (size_t i = 0; i < n; i++) { /* of a NaN and a number, fmin and fmax return the number */
        const double ns = or_nan(c.layer->of[i].time[threads].fastest_ns);

        to->best_ns[threads] = fmin(to->best_ns[threads], ns);
        to->worst_ns[threads] = fmax(to->worst_ns[threads], ns);
    }
    for (enum exp_ranking k = 0; k < EXP_N_RANKINGS; k++) {
        double seconds = 0;

        for (size_t i = 0; i < n; i++) {
            const struct values x = values_of(k, &c, i);

            cost[i] = x.cost;
            time_ns[i] = x.time_ns;
            seconds += x.seconds;
        }
        to->verdict[threads][k] = exp_rank_judge(cost, time_ns, n);
        to->verdict[threads][k].seconds = seconds / (double)n;
    }
    free(wins);
    free(cost);
    free(time_ns);
}

/* ---- all ---- */

int exp_rank_make(struct exp_rank *r, const struct exp_polydl *p, size_t n_jobs, struct exp_progress *progress,
                  struct exp_why *why)
{
    int err;

    *r = (struct exp_rank){ .polydl = p, .layer = exp_new(p->n_layers, sizeof *r->layer) };
    err = exp_analyses_make(&r->analyses, p, n_jobs, progress, why);
    if (!err && progress)
        exp_progress_begin(progress, EXP_WORK_ANALYSE, "PolyDL-DNN", "learning");
    split(r);
    for (enum exp_polydl_threads t = 0; t < EXP_N_POLYDL_THREADS && !err; t++)
        err = learn(r, t, why);
    for (size_t i = 0; i < p->n_layers * EXP_N_POLYDL_THREADS && !err; i++)
        judge_layer(r, i / EXP_N_POLYDL_THREADS, i % EXP_N_POLYDL_THREADS ? EXP_POLYDL_TWO : EXP_POLYDL_ONE);
    if (err)
        exp_rank_release(r);
    return err;
}

void exp_rank_release(struct exp_rank *r)
{
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++)
        exp_rank_net_release(&r->learnt[t].net);
    exp_analyses_release(&r->analyses);
    free(r->layer);
    *r = (struct exp_rank){ 0 };
}

/* ---- many layers ---- */

const struct exp_rank_part_words exp_rank_parts[EXP_N_RANK_PARTS] = {
#define PART(number, name, meaning) [number] = { name, meaning },
    EXP_EACH_RANK_PART(PART)
#undef PART
};

static bool is_in(const struct exp_rank *r, size_t layer, enum exp_rank_part part)
{
    if (!r->polydl->layer[layer].source.problem)
        return part == EXP_RANK_GEMMS;
    return part == EXP_RANK_ALL || part == (r->layer[layer].is_training ? EXP_RANK_SEEN : EXP_RANK_HELD_OUT);
}

enum exp_rank_part exp_rank_fair_part(const struct exp_rank *r, enum exp_polydl_threads threads)
{
    return r->learnt[threads].net.weight ? EXP_RANK_HELD_OUT : EXP_RANK_ALL;
}

/* Tells whether a pick can miss the target: the layer's slowest variant does. */
static bool can_fail(const struct exp_rank_layer *l, enum exp_polydl_threads threads)
{
    return l->best_ns[threads] < EXP_RANK_NEAR_BEST * l->worst_ns[threads];
}

size_t exp_rank_place(const struct exp_polydl *p, size_t layer)
{
    size_t place = 1;

    assert(layer < p->n_layers);
    while (place <= layer && !strcmp(p->layer[layer - place].model, p->layer[layer].model))
        place++;
    return place;
}

/* Adds a known number to a sum. */
static void add(double *sum, size_t *n, double x)
{
    *sum += isfinite(x) ? x : 0;
    *n += isfinite(x);
}

struct exp_rank_total exp_rank_total_of(const struct exp_rank *r, enum exp_polydl_threads threads,
                                        enum exp_ranking ranking, enum exp_rank_part part, const char *model)
{
    double *share = exp_new(r->polydl->n_layers, sizeof *share), *top = exp_new(r->polydl->n_layers, sizeof *top);
    struct exp_rank_total t = { .worst_share = (double)NAN, .most_seconds = (double)NAN };
    size_t n_spearman = 0, n_kendall = 0, n_seconds = 0;

    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        const struct exp_rank_verdict *v = &r->layer[i].verdict[threads][ranking];
        const double near_best = v->share >= EXP_RANK_NEAR_BEST ? 100 : 0;

        if (!v->n || !is_in(r, i, part) || (model && strcmp(model, r->polydl->layer[i].model) != 0))
            continue;
        share[t.n] = v->share;
        top[t.n] = v->top_share;
        add(&t.mean_share, &t.n, v->share);
        t.n_seen += r->layer[i].is_training;
        t.near_best_percent += near_best;
        add(&t.can_fail_percent, &t.n_can_fail, can_fail(&r->layer[i], threads) ? near_best : (double)NAN);
        add(&t.mean_spearman, &n_spearman, v->spearman);
        add(&t.mean_kendall, &n_kendall, v->kendall);
        add(&t.mean_seconds, &n_seconds, v->seconds);
        t.worst_share = fmin(t.worst_share, v->share);
        t.most_seconds = fmax(t.most_seconds, v->seconds);
    }
    t.mean_share /= (double)t.n;
    t.near_best_percent /= (double)t.n;
    t.can_fail_percent /= (double)t.n_can_fail;
    t.mean_spearman /= (double)n_spearman;
    t.mean_kendall /= (double)n_kendall;
    t.mean_seconds /= (double)n_seconds;
    t.geomean_share = exp_stats_geomean(share, t.n);
    t.geomean_top_share = exp_stats_geomean(top, t.n);
    free(share);
    free(top);
    return t;
}

struct exp_rank_lead exp_rank_lead_of(const struct exp_rank *r, enum exp_polydl_threads threads,
                                      enum exp_ranking ranking, enum exp_ranking over, enum exp_rank_part part)
{
    struct exp_rank_lead l = { .mean = (double)NAN, .error = (double)NAN };
    double sum = 0, squares = 0, n;

    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        const struct exp_rank_verdict *v = r->layer[i].verdict[threads];
        const double lead = v[ranking].share - v[over].share;

        if (!v[ranking].n || !v[over].n || !is_in(r, i, part))
            continue;
        l.n++;
        sum += lead;
        squares += lead * lead;
    }
    if (l.n < 2)
        return l;
    n = (double)l.n;
    l.mean = sum / n;
    l.error = sqrt(fmax(0, squares / n - l.mean * l.mean) / (n - 1));
    l.is_clear = l.n >= EXP_RANK_LEAST_LAYERS && l.mean > 2 * l.error;
    return l;
}
