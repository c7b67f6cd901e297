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
