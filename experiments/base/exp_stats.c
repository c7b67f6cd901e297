#include "experiments/base/exp_stats.h"

#include <assert.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

/*
 * Returns the sample that would stand at index k if they were sorted. It is found by counting, so that nothing is
 * copied.
 */
static uint64_t ranked(const uint64_t *sample, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++) {
        size_t n_less = 0, n_equal = 0;

        for (size_t j = 0; j < n; j++) {
            n_less += sample[j] < sample[i];
            n_equal += sample[j] == sample[i];
        }
        if (n_less <= k && k < n_less + n_equal)
            return sample[i];
    }
    assert(0); /* k < n */
    return 0;
}

double exp_stats_median(const uint64_t *sample, size_t n)
{
    assert(n);
    return n % 2 ? (double)ranked(sample, n, n / 2)
                 : 0.5 * ((double)ranked(sample, n, n / 2 - 1) + (double)ranked(sample, n, n / 2));
}

/* Returns how many samples stand before this one if they are sorted; equal ones as they come. */
static size_t rank_of(const uint64_t *sample, size_t n, size_t which)
{
    size_t rank = 0;

    for (size_t i = 0; i < n; i++)
        rank += sample[i] < sample[which] || (sample[i] == sample[which] && i < which);
    return rank;
}

double exp_stats_low_mean(const uint64_t *sample, size_t n)
{
    const size_t n_low = (n + 3) / 4;
    double sum = 0;

    assert(n);
    for (size_t i = 0; i < n; i++) {
        if (rank_of(sample, n, i) < n_low)
            sum += (double)sample[i];
    }
    return sum / (double)n_low;
}

uint64_t exp_stats_min(const uint64_t *sample, size_t n)
{
    uint64_t low = sample[0];

    assert(n);
    for (size_t i = 1; i < n; i++)
        low = sample[i] < low ? sample[i] : low;
    return low;
}

uint64_t exp_stats_max(const uint64_t *sample, size_t n)
{
    uint64_t high = sample[0];

    assert(n);
    for (size_t i = 1; i < n; i++)
        high = sample[i] > high ? sample[i] : high;
    return high;
}

struct exp_times exp_times_of(const uint64_t *sample, size_t n)
{
    if (!n)
        return (struct exp_times){ (double)NAN, (double)NAN, (double)NAN };
    return (struct exp_times){
        .low_mean = exp_stats_low_mean(sample, n),
        .fastest = (double)exp_stats_min(sample, n),
        .median = exp_stats_median(sample, n),
    };
}

void exp_times_add(struct exp_times *sum, const struct exp_times *x)
{
    sum->low_mean += x->low_mean;
    sum->fastest += x->fastest;
    sum->median += x->median;
}

double exp_times_median_percent(const struct exp_times *x)
{
    return 100 * (x->median / x->fastest - 1);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int descending(const void *a, const void *b)
{
    return ascending(b, a);
}

void exp_stats_sort_up(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
}

void exp_stats_sort_down(double *x, size_t n)
{
    qsort(x, n, sizeof *x, descending);
}

struct exp_spread exp_spread_of(double *x, size_t n)
{
    struct exp_spread s = { 0, (double)NAN, (double)NAN, (double)NAN };

    for (size_t i = 0; i < n; i++) {
        if (isfinite(x[i]))
            x[s.n++] = x[i];
    }
    if (!s.n)
        return s;
    exp_stats_sort_up(x, s.n);
    s.p10 = gsl_stats_quantile_from_sorted_data(x, 1, s.n, 0.1);
    s.median = gsl_stats_median_from_sorted_data(x, 1, s.n);
    s.p90 = gsl_stats_quantile_from_sorted_data(x, 1, s.n, 0.9);
    return s;
}

double exp_stats_geomean(const double *x, size_t n)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++) {
        if (!(x[i] > 0))
            return (double)NAN;
        sum += log(x[i]);
    }
    return n ? exp(sum / (double)n) : (double)NAN;
}

/* ---- correlations ---- */

/* The pairs of two lists that are finite, and room for the ranks of both. From malloc. */
struct pairs {
    double *x, *y, *work;
    size_t n;
};

/* Leaves none where there is no memory. */
static struct pairs finite_pairs(const double *x, const double *y, size_t n)
{
    struct pairs p = { .x = malloc((4 * n + 1) * sizeof *p.x) };

    if (!p.x)
        return p;
    p.y = p.x + n;
    p.work = p.y + n;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(x[i]) && isfinite(y[i])) {
            p.x[p.n] = x[i];
            p.y[p.n++] = y[i];
        }
    }
    return p;
}

enum { LEAST_PAIRS = 3 };

double exp_stats_spearman(const double *x, const double *y, size_t n)
{
    struct pairs p = finite_pairs(x, y, n);
    double rho = p.n < LEAST_PAIRS ? (double)NAN : gsl_stats_spearman(p.x, 1, p.y, 1, p.n, p.work);

    free(p.x);
    return rho;
}

static int order_of(double a, double b)
{
    return a < b ? -1 : a > b;
}

double exp_stats_kendall(const double *x, const double *y, size_t n)
{
    struct pairs p = finite_pairs(x, y, n);
    double xy = 0, xx = 0, yy = 0;

    for (size_t i = 0; i < p.n && p.n >= LEAST_PAIRS; i++) {
        for (size_t j = i + 1; j < p.n; j++) {
            const int a = order_of(p.x[i], p.x[j]), b = order_of(p.y[i], p.y[j]);

            xy += a * b;
            xx += a * a;
            yy += b * b;
        }
    }
    free(p.x);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : (double)NAN;
}

/* ---- speed-ups and their intervals ---- */

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
