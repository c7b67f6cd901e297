#include "experiments/polydl/exp_rank_totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_stats.h"

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
