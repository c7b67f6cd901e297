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
    struct mean share, top, near_best, spearman, kendall, seconds;
    double worst, most_seconds;
    double *shares, *tops; /* of each layer */
};

static void add_verdict(struct sums *s, const struct exp_rank_verdict *v)
{
    s->shares[s->share.n] = v->share;
    s->tops[s->share.n] = v->top_share;
    add(&s->share, v->share);
    add(&s->near_best, v->share >= EXP_RANK_NEAR_BEST ? 100 : 0);
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
        .mean_share = value(&s->share),
        .geomean_share = n ? exp_stats_geomean(s->shares, n) : (double)NAN,
        .worst_share = s->worst,
        .near_best_percent = value(&s->near_best),
        .geomean_top_share = n ? exp_stats_geomean(s->tops, n) : (double)NAN,
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

        if (v->n && exp_rank_is_in(r, i, part) && (!model || !strcmp(model, r->polydl->layer[i].model)))
            add_verdict(&s, v);
    }
    t = total(&s);
    free(room);
    return t;
}
