#include "experiments/polydl/exp_rank.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"

enum { SEED = 1, TOP_PERCENT = 5 };

/* ---- one layer ---- */

static bool is_ranked(const double *costs, const double *times, size_t i)
{
    return isfinite(costs[i]) && isfinite(times[i]);
}

/* Counts the ranked variants that a ranking puts before one of them. */
static size_t place_of(const double *costs, const double *times, size_t n, size_t variant)
{
    size_t place = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_ranked(costs, times, i))
            place += costs[i] < costs[variant] || (i < variant && !(costs[i] > costs[variant]));
    }
    return place;
}

static double least(const double *x, size_t n)
{
    double best = (double)NAN;

    for (size_t i = 0; i < n; i++)
        best = fmin(best, x[i]); /* of a NaN and a number, the number */
    return best;
}

static double greatest(const double *x, size_t n)
{
    double worst = (double)NAN;

    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, x[i]);
    return worst;
}

struct exp_rank_verdict exp_rank_judge(const double *costs, const double *times, size_t n)
{
    struct exp_rank_verdict v = { .seconds = (double)NAN };
    const double best = least(times, n);
    double top = (double)NAN;
    size_t n_top;

    for (size_t i = 0; i < n; i++)
        v.n += is_ranked(costs, times, i);
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

/* Lists of values of a layer's variants. */
struct lists {
    double *cost, *time;
    unsigned *wins;
};

static double mean_seconds(enum exp_ranking r, const struct exp_ranking_case *c)
{
    double sum = 0;

    for (size_t i = 0; i < c->layer->variants.n; i++)
        sum += exp_ranking_seconds(r, c, i);
    return sum / (double)c->layer->variants.n;
}

static void judge_threads(struct exp_rank_layer *to, const struct exp_ranking_case *c, struct lists *l)
{
    const size_t n = c->layer->variants.n;

    for (size_t r = 0; r < EXP_N_RANKINGS; r++) {
        for (size_t i = 0; i < n; i++) {
            l->cost[i] = exp_ranking_score((enum exp_ranking)r, c, i);
            l->time[i] = exp_ranking_time((enum exp_ranking)r, c, i);
        }
        to->verdict[c->threads][r] = exp_rank_judge(l->cost, l->time, n);
        to->verdict[c->threads][r].seconds = mean_seconds((enum exp_ranking)r, c);
    }
    for (size_t i = 0; i < n; i++)
        l->time[i] = exp_ranking_time(EXP_RANKING_POLYDL, c, i);
    to->best_ns[c->threads] = least(l->time, n);
    to->worst_ns[c->threads] = greatest(l->time, n);
}

static int judge_layer(struct exp_rank *r, size_t layer)
{
    const struct exp_polydl_layer *of = &r->polydl->layer[layer];
    const size_t n = of->variants.n;
    struct lists l = { calloc(n + 1, sizeof *l.cost), calloc(n + 1, sizeof *l.time), calloc(n + 1, sizeof *l.wins) };
    int err = l.cost && l.time && l.wins ? 0 : -ENOMEM;

    for (size_t t = 0; t < EXP_N_POLYDL_THREADS && !err; t++) {
        const struct exp_rank_net *net = &r->learnt[t].net;
        const struct exp_ranking_case c = {
            .layer = of,
            .analysis = r->analyses.of[layer],
            .wins = net->weight ? l.wins : NULL,
            .threads = (enum exp_polydl_threads)t,
        };

        if (net->weight)
            err = exp_rank_play(net, c.analysis, n, c.threads, l.wins);
        if (!err)
            judge_threads(&r->layer[layer], &c, &l);
    }
    free(l.cost);
    free(l.time);
    free(l.wins);
    return err;
}

size_t exp_rank_first(const struct exp_rank *r, size_t layer, enum exp_polydl_threads threads)
{
    const struct exp_analysis *a = r->analyses.of[layer];
    size_t first = 0;

    for (size_t i = 1; i < r->polydl->layer[layer].variants.n; i++) {
        if (a[i].polydl[threads].cost < a[first].polydl[threads].cost)
            first = i;
    }
    return first;
}

/* ---- all ---- */

static int learn(struct exp_rank *r, struct exp_why *why)
{
    const struct exp_polydl *p = r->polydl;
    bool *is_training = calloc(p->n_layers + 1, sizeof *is_training);
    int err = is_training ? exp_rank_split(p, SEED, is_training) : -ENOMEM;

    if (err)
        exp_fail(why, err, "out of memory");
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS && !err; t++)
        err = exp_rank_learn(&r->learnt[t], p, &r->analyses, (enum exp_polydl_threads)t, is_training, SEED, why);
    for (size_t i = 0; i < p->n_layers && !err; i++)
        r->layer[i].is_training = is_training[i];
    free(is_training);
    return err;
}

int exp_rank_make(struct exp_rank *r, const struct exp_polydl *p, size_t n_jobs, struct exp_progress *progress,
                  struct exp_why *why)
{
    int err;

    *r = (struct exp_rank){ .polydl = p, .layer = calloc(p->n_layers + 1, sizeof *r->layer) };
    err =
        r->layer ? exp_analyses_make(&r->analyses, p, n_jobs, progress, why) : exp_fail(why, -ENOMEM, "out of memory");
    if (!err && progress)
        exp_progress_begin(progress, EXP_WORK_ANALYSE, "PolyDL-DNN", "learning");
    if (!err)
        err = learn(r, why);
    for (size_t i = 0; i < p->n_layers && !err; i++) {
        err = judge_layer(r, i);
        if (err)
            exp_fail(why, err, "out of memory");
    }
    if (err)
        exp_rank_release(r);
    return err;
}

void exp_rank_release(struct exp_rank *r)
{
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++)
        exp_rank_learnt_release(&r->learnt[t]);
    exp_analyses_release(&r->analyses);
    free(r->layer);
    *r = (struct exp_rank){ 0 };
}

/* ---- many layers ---- */

static const struct {
    const char *name, *meaning;
} parts[EXP_N_RANK_PARTS] = {
#define PART(number, name, meaning) [number] = { name, meaning },
    EXP_EACH_RANK_PART(PART)
#undef PART
};

const char *exp_rank_part_name(enum exp_rank_part p)
{
    return parts[p].name;
}

const char *exp_rank_part_meaning(enum exp_rank_part p)
{
    return parts[p].meaning;
}

bool exp_rank_is_in(const struct exp_rank *r, size_t layer, enum exp_rank_part part)
{
    if (!r->polydl->layer[layer].source.problem)
        return part == EXP_RANK_GEMMS;
    return part == EXP_RANK_ALL || part == (r->layer[layer].is_training ? EXP_RANK_SEEN : EXP_RANK_HELD_OUT);
}

enum exp_rank_part exp_rank_fair_part(const struct exp_rank *r, enum exp_polydl_threads threads)
{
    return r->learnt[threads].net.weight ? EXP_RANK_HELD_OUT : EXP_RANK_ALL;
}

bool exp_rank_can_fail(const struct exp_rank_layer *l, enum exp_polydl_threads threads)
{
    return l->best_ns[threads] < EXP_RANK_NEAR_BEST * l->worst_ns[threads];
}

size_t exp_rank_place(const struct exp_polydl *p, size_t layer)
{
    size_t place = 1;

    while (place <= layer && !strcmp(p->layer[layer - place].model, p->layer[layer].model))
        place++;
    return place;
}

/* A mean of what is known. */
struct mean {
    double sum;
    size_t n;
};

static void add(struct mean *m, double x)
{
    if (!isfinite(x))
        return;
    m->sum += x;
    m->n++;
}

static double value(const struct mean *m)
{
    return m->n ? m->sum / (double)m->n : (double)NAN;
}

struct sums {
    struct mean share, top, near_best, can_fail, spearman, kendall, seconds;
    double worst, most_seconds;
    size_t n_seen;
    double *shares, *tops; /* of each layer */
};

static void add_verdict(struct sums *s, const struct exp_rank_verdict *v, bool can_fail)
{
    const double near_best = v->share >= EXP_RANK_NEAR_BEST ? 100 : 0;

    s->shares[s->share.n] = v->share;
    s->tops[s->share.n] = v->top_share;
    add(&s->share, v->share);
    add(&s->near_best, near_best);
    add(&s->can_fail, can_fail ? near_best : (double)NAN);
    add(&s->spearman, v->spearman);
    add(&s->kendall, v->kendall);
    add(&s->seconds, v->seconds);
    s->worst = fmin(s->worst, v->share);
    s->most_seconds = fmax(s->most_seconds, v->seconds);
}

static struct exp_rank_total total(const struct sums *s)
{
    const size_t n = s->share.n;

    return (struct exp_rank_total){
        .n = n,
        .n_seen = s->n_seen,
        .mean_share = value(&s->share),
        .geomean_share = exp_stats_geomean(s->shares, n),
        .worst_share = s->worst,
        .near_best_percent = value(&s->near_best),
        .n_can_fail = s->can_fail.n,
        .can_fail_percent = value(&s->can_fail),
        .geomean_top_share = exp_stats_geomean(s->tops, n),
        .mean_spearman = value(&s->spearman),
        .mean_kendall = value(&s->kendall),
        .mean_seconds = value(&s->seconds),
        .most_seconds = s->most_seconds,
    };
}

struct exp_rank_total exp_rank_total_of(const struct exp_rank *r, enum exp_polydl_threads threads,
                                        enum exp_ranking ranking, enum exp_rank_part part, const char *model)
{
    const size_t n = r->polydl->n_layers;
    double *room = calloc(2 * n + 1, sizeof *room);
    struct sums s = { .worst = (double)NAN, .most_seconds = (double)NAN, .shares = room };
    struct exp_rank_total t;

    if (!room)
        return (struct exp_rank_total){ 0 };
    s.tops = room + n;
    for (size_t i = 0; i < n; i++) {
        const struct exp_rank_verdict *v = &r->layer[i].verdict[threads][ranking];

        if (!v->n || !exp_rank_is_in(r, i, part) || (model && strcmp(model, r->polydl->layer[i].model) != 0))
            continue;
        add_verdict(&s, v, exp_rank_can_fail(&r->layer[i], threads));
        s.n_seen += r->layer[i].is_training;
    }
    t = total(&s);
    free(room);
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

        if (!v[ranking].n || !v[over].n || !exp_rank_is_in(r, i, part))
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
