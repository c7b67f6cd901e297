#include "experiments/exp_ratio.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/exp_stats.h"

/* A sequence of random numbers that is the same every time (SplitMix64). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The fastest rounds of both sides. */
struct fastest {
    double base_ns, algo_ns;
};

/* Adds the fastest of a random half of a layer's rounds: each round is taken with the chance that makes it a half. */
static void add_half(struct fastest *sum, const struct exp_pair *p, uint64_t *random)
{
    size_t needed = (p->n_rounds + 1) / 2;
    uint64_t base = UINT64_MAX, algo = UINT64_MAX;

    for (size_t i = 0; i < p->n_rounds && needed; i++) {
        if (next_random(random) % (p->n_rounds - i) >= needed)
            continue;
        needed--;
        base = p->base_ns ? smaller(base, p->base_ns[i]) : 0;
        algo = smaller(algo, p->algo_ns[i]);
    }
    sum->base_ns += (double)base;
    sum->algo_ns += (double)algo;
}

static double ratio_of_half(const struct exp_pair *layer, size_t n_layers, uint64_t *random)
{
    struct fastest sum = { 0, 0 };

    for (size_t i = 0; i < n_layers; i++)
        add_half(&sum, &layer[i], random);
    return (layer[0].base_ns ? sum.base_ns : 1) / sum.algo_ns;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void find_interval(struct exp_ratio *r, const struct exp_pair *layer, size_t n_layers)
{
    const size_t tail = EXP_RATIO_DRAWS / 40; /* 2.5 % */
    double drawn[EXP_RATIO_DRAWS];
    uint64_t random = 0;

    for (size_t i = 0; i < EXP_RATIO_DRAWS; i++)
        drawn[i] = ratio_of_half(layer, n_layers, &random);
    qsort(drawn, EXP_RATIO_DRAWS, sizeof *drawn, ascending);
    r->low = fmin(r->value, drawn[tail]);
    r->high = fmax(r->value, drawn[EXP_RATIO_DRAWS - 1 - tail]);
}

struct exp_ratio exp_ratio_none(void)
{
    return (struct exp_ratio){ (double)NAN, (double)NAN, (double)NAN, (double)NAN };
}

struct exp_ratio exp_ratio_of(const struct exp_pair *layer, size_t n_layers)
{
    struct exp_ratio r = exp_ratio_none();
    struct fastest best = { 0, 0 }, median = { 0, 0 };
    size_t fewest = n_layers ? SIZE_MAX : 0;

    for (size_t i = 0; i < n_layers; i++) {
        const struct exp_pair *p = &layer[i];

        if (!p->n_rounds)
            return r;
        fewest = p->n_rounds < fewest ? p->n_rounds : fewest;
        best.base_ns += p->base_ns ? (double)exp_stats_min(p->base_ns, p->n_rounds) : 0;
        best.algo_ns += (double)exp_stats_min(p->algo_ns, p->n_rounds);
        median.base_ns += p->base_ns ? exp_stats_median(p->base_ns, p->n_rounds) : 0;
        median.algo_ns += exp_stats_median(p->algo_ns, p->n_rounds);
    }
    if (!n_layers)
        return r;
    r.value = (layer[0].base_ns ? best.base_ns : 1) / best.algo_ns;
    r.by_median = (layer[0].base_ns ? median.base_ns : 1) / median.algo_ns;
    if (fewest >= EXP_RATIO_LEAST_ROUNDS)
        find_interval(&r, layer, n_layers);
    return r;
}

bool exp_ratio_stands(const struct exp_ratio *r)
{
    return 100 * (r->high - r->low) <= EXP_RATIO_PERCENT * r->value;
}

int exp_ratio_side(const struct exp_ratio *s)
{
    double low = isnan(s->low) ? s->value : s->low, high = isnan(s->high) ? s->value : s->high;

    return (low > 1) - (high < 1); /* false for NaN */
}
