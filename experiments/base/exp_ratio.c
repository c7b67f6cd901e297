#include "experiments/base/exp_ratio.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/base/exp_random.h"
#include "experiments/base/exp_stats.h"

/* Both sides of a ratio. */
struct sides {
    double base_ns, algo_ns;
};

/* The rounds of one side of a layer, sorted by time. */
struct timed {
    uint64_t ns;
    size_t round;
};

static int by_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;

    return (x->ns > y->ns) - (x->ns < y->ns);
}

static void sort_rounds(struct timed *sorted, const uint64_t *ns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct timed){ ns ? ns[i] : 0, i };
    qsort(sorted, n, sizeof *sorted, by_time);
}

/* Marks a random half of n rounds: each is taken with the chance that makes it a half. Returns how many. */
static size_t draw_half(bool *taken, size_t n, uint64_t *random)
{
    const size_t half = (n + 1) / 2;
    size_t needed = half;

    for (size_t i = 0; i < n; i++) {
        taken[i] = exp_random_next(random) % (n - i) < needed;
        needed -= taken[i];
    }
    return half;
}

/* Returns exp_stats_low_mean of the rounds that are taken. */
static double low_mean(const struct timed *sorted, const bool *taken, size_t n_taken)
{
    const size_t n_low = (n_taken + 3) / 4;
    double sum = 0;

    for (size_t i = 0, n = 0; n < n_low; i++) {
        sum += taken[sorted[i].round] ? (double)sorted[i].ns : 0;
        n += taken[sorted[i].round];
    }
    return sum / (double)n_low;
}

/* All layers' rounds, sorted once: base's and the algorithm's, layer after layer; and marks for the longest of them. */
struct drawing {
    struct timed *sorted;
    bool *taken;
};

static double ratio_of_half(const struct drawing *d, const struct exp_pair *layer, size_t n_layers, uint64_t *random)
{
    const struct timed *sorted = d->sorted;
    struct sides sum = { 0, 0 };

    for (size_t i = 0; i < n_layers; i++) {
        const size_t n = layer[i].n_rounds, n_taken = draw_half(d->taken, n, random);

        sum.base_ns += low_mean(sorted, d->taken, n_taken);
        sum.algo_ns += low_mean(sorted + n, d->taken, n_taken);
        sorted += 2 * n;
    }
    return (layer[0].base_ns ? sum.base_ns : 1) / sum.algo_ns;
}

static void draw_all(struct exp_ratio *r, const struct drawing *d, const struct exp_pair *layer, size_t n_layers)
{
    const size_t tail = EXP_RATIO_DRAWS / 40; /* 2.5 % */
    double drawn[EXP_RATIO_DRAWS];
    uint64_t random = 0;

    for (size_t i = 0; i < EXP_RATIO_DRAWS; i++)
        drawn[i] = ratio_of_half(d, layer, n_layers, &random);
    exp_stats_sort_up(drawn, EXP_RATIO_DRAWS);
    r->low = fmin(r->value, drawn[tail]);
    r->high = fmax(r->value, drawn[EXP_RATIO_DRAWS - 1 - tail]);
}

static void find_interval(struct exp_ratio *r, const struct exp_pair *layer, size_t n_layers)
{
    size_t n_all = 0, n_most = 0;
    struct drawing d;

    for (size_t i = 0; i < n_layers; i++) {
        n_all += 2 * layer[i].n_rounds;
        n_most = layer[i].n_rounds > n_most ? layer[i].n_rounds : n_most;
    }
    d = (struct drawing){ calloc(n_all, sizeof *d.sorted), calloc(n_most, sizeof *d.taken) };
    if (d.sorted && d.taken) {
        struct timed *sorted = d.sorted;

        for (size_t i = 0; i < n_layers; i++, sorted += 2 * layer[i - 1].n_rounds) {
            sort_rounds(sorted, layer[i].base_ns, layer[i].n_rounds);
            sort_rounds(sorted + layer[i].n_rounds, layer[i].algo_ns, layer[i].n_rounds);
        }
        draw_all(r, &d, layer, n_layers);
    }
    free(d.sorted);
    free(d.taken);
}

struct exp_ratio exp_ratio_none(void)
{
    return (struct exp_ratio){ (double)NAN, (double)NAN, (double)NAN, (double)NAN };
}

/* Returns the ratio of the sums of a statistic. */
static double ratio_by(const struct exp_pair *layer, size_t n_layers, double (*of)(const uint64_t *sample, size_t n))
{
    struct sides sum = { 0, 0 };

    for (size_t i = 0; i < n_layers; i++) {
        sum.base_ns += layer[i].base_ns ? of(layer[i].base_ns, layer[i].n_rounds) : 0;
        sum.algo_ns += of(layer[i].algo_ns, layer[i].n_rounds);
    }
    return (layer[0].base_ns ? sum.base_ns : 1) / sum.algo_ns;
}

struct exp_ratio exp_ratio_of(const struct exp_pair *layer, size_t n_layers)
{
    struct exp_ratio r = exp_ratio_none();
    size_t fewest = n_layers ? SIZE_MAX : 0;

    for (size_t i = 0; i < n_layers; i++)
        fewest = layer[i].n_rounds < fewest ? layer[i].n_rounds : fewest;
    if (!fewest)
        return r;
    r.value = ratio_by(layer, n_layers, exp_stats_low_mean);
    r.by_median = ratio_by(layer, n_layers, exp_stats_median);
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
