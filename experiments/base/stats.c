#include "experiments/base/stats.h"

#include <assert.h>
#include <errno.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/error.h"

/* Returns the sample at index k of the sorted order, by counting, without a copy. */
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

/* Returns the number of samples before this sample in the sorted order; equal samples stay in order. */
static size_t rank_of(const uint64_t *sample, size_t n, size_t which)
{
    size_t rank = 0;

    for (size_t i = 0; i < n; i++)
        rank += sample[i] < sample[which] || (sample[i] == sample[which] && i < which);
    return rank;
}

/* Returns the length of the smallest quarter of n samples. */
static size_t low_count(size_t n)
{
    return (n + 3) / 4;
}

bool exp_stats_is_low(const uint64_t *sample, size_t n, size_t which)
{
    assert(which < n);
    return rank_of(sample, n, which) < low_count(n);
}

double exp_stats_low_mean(const uint64_t *sample, size_t n)
{
    double sum = 0;

    assert(n);
    for (size_t i = 0; i < n; i++)
        sum += exp_stats_is_low(sample, n, i) ? (double)sample[i] : 0;
    return sum / (double)low_count(n);
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
    assert(sum && x);
    sum->low_mean += x->low_mean;
    sum->fastest += x->fastest;
    sum->median += x->median;
}

double exp_times_median_percent(const struct exp_times *x)
{
    assert(x);
    return 100 * (x->median / x->fastest - 1);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void exp_stats_sort_up(double *x, size_t n)
{
    assert(x || !n);
    if (n)
        qsort(x, n, sizeof *x, ascending);
}

struct exp_spread exp_spread_of(double *x, size_t n)
{
    struct exp_spread s = { 0, (double)NAN, (double)NAN, (double)NAN };

    assert(x || !n);
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

    assert(x || !n);
    for (size_t i = 0; i < n; i++) {
        if (!(x[i] > 0))
            return (double)NAN;
        sum += log(x[i]);
    }
    return n ? exp(sum / (double)n) : (double)NAN;
}

/* ---- costs ---- */

void exp_costs_add(struct exp_costs *c, const double *amount, double sum, double all, double weight)
{
    assert(c->n <= EXP_COSTS_MOST);
    for (size_t i = 0; i < c->n; i++) {
        const double share = weight * amount[i] / all;

        c->target[i] += share * (sum / all);
        for (size_t j = 0; j < c->n; j++)
            c->matrix[i][j] += share * (amount[j] / all);
    }
}

void exp_costs_solve(const struct exp_costs *c, int sweeps, double *cost)
{
    assert(c->n <= EXP_COSTS_MOST);
    for (int sweep = 0; sweep < sweeps; sweep++) {
        for (size_t i = 0; i < c->n; i++) { /* in turn */
            double rest = c->target[i];

            for (size_t j = 0; j < c->n; j++)
                rest -= j == i ? 0 : c->matrix[i][j] * cost[j];
            cost[i] = c->matrix[i][i] > 0 ? fmax(0, rest / c->matrix[i][i]) : 0;
        }
    }
}

double exp_costs_sum(size_t n, const double *amount, const double *cost)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += amount[i] * cost[i];
    return sum;
}

/* ---- correlations ---- */

/* The finite pairs of two lists, and room for the ranks of both. From malloc. */
struct pairs {
    double *x, *y, *work;
    size_t n;
};

static struct pairs finite_pairs(const double *x, const double *y, size_t n)
{
    struct pairs p = { .x = exp_new(4 * n, sizeof *p.x) };

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

int exp_by_first_member(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void sort_rounds(struct timed *sorted, const uint64_t *ns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct timed){ ns ? ns[i] : 0, i };
    qsort(sorted, n, sizeof *sorted, exp_by_first_member);
}

/* Marks a random half of n rounds. Returns the number of marked rounds. */
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

/* Returns exp_stats_low_mean of the marked rounds. */
static double low_mean(const struct timed *sorted, const bool *taken, size_t n_taken)
{
    const size_t n_low = low_count(n_taken);
    double sum = 0;

    for (size_t i = 0, n = 0; n < n_low; i++) {
        sum += taken[sorted[i].round] ? (double)sorted[i].ns : 0;
        n += taken[sorted[i].round];
    }
    return sum / (double)n_low;
}

/* All layers' rounds, sorted once: base's and the algorithm's, layer after layer; and marks for the longest layer. */
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
    struct timed *sorted;
    struct drawing d;

    for (size_t i = 0; i < n_layers; i++) {
        n_all += 2 * layer[i].n_rounds;
        n_most = layer[i].n_rounds > n_most ? layer[i].n_rounds : n_most;
    }
    d = (struct drawing){ exp_new(n_all, sizeof *d.sorted), exp_new(n_most, sizeof *d.taken) };
    sorted = d.sorted;
    for (size_t i = 0; i < n_layers; i++, sorted += 2 * layer[i - 1].n_rounds) {
        sort_rounds(sorted, layer[i].base_ns, layer[i].n_rounds);
        sort_rounds(sorted + layer[i].n_rounds, layer[i].algo_ns, layer[i].n_rounds);
    }
    draw_all(r, &d, layer, n_layers);
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

/*
 * Widens an interval for a neighbour that slowed the fastest quarter. A time without Base has no other side that the
 * neighbour slowed, too: the whole slow-down may be in the time.
 */
static void widen(struct exp_ratio *r, const struct exp_pair *layer, size_t n_layers)
{
    double sum_ns = 0, slowed_ns = 0, share;

    for (size_t i = 0; i < n_layers; i++) {
        const double ns = exp_stats_low_mean(layer[i].algo_ns, layer[i].n_rounds);

        sum_ns += ns;
        slowed_ns += layer[i].slowed * ns;
    }
    share = slowed_ns / sum_ns;
    if (layer[0].base_ns) {
        share *= EXP_RATIO_UNEQUAL_PERCENT / 100.0;
        r->low /= 1 + share;
    }
    r->high *= 1 + share;
}

struct exp_ratio exp_ratio_of(const struct exp_pair *layer, size_t n_layers)
{
    struct exp_ratio r = exp_ratio_none();
    size_t fewest = n_layers ? SIZE_MAX : 0;

    assert(layer || !n_layers);
    for (size_t i = 0; i < n_layers; i++)
        fewest = layer[i].n_rounds < fewest ? layer[i].n_rounds : fewest;
    if (!fewest)
        return r;
    r.value = ratio_by(layer, n_layers, exp_stats_low_mean);
    r.by_median = ratio_by(layer, n_layers, exp_stats_median);
    if (fewest >= EXP_RATIO_LEAST_ROUNDS)
        find_interval(&r, layer, n_layers);
    widen(&r, layer, n_layers);
    return r;
}

bool exp_ratio_stands(const struct exp_ratio *r)
{
    assert(r);
    return 100 * (r->high - r->low) <= EXP_RATIO_PERCENT * r->value;
}

int exp_ratio_side(const struct exp_ratio *s)
{
    double low = isnan(s->low) ? s->value : s->low, high = isnan(s->high) ? s->value : s->high;

    return (low > 1) - (high < 1); /* false for NaN */
}

/* ---- rounds ---- */

/* A turn's time, and the watch's judgement. */
struct turn {
    uint64_t ns;
    struct exp_mark mark;
    double off;
};

/* Runs one turn of one contender. */
static int run_one(const struct exp_bench *b, const struct exp_contender *c, struct turn *t)
{
    const struct exp_watch *w = b->watch;
    uint64_t start;
    int err = b->interrupted && b->interrupted() ? -EINTR : 0;

    *t = (struct turn){ 0 };
    if (!err && w)
        w->before(w->ctx);
    if (!err && c->prepare)
        err = c->prepare(c->ctx);
    if (err)
        return err;
    if (w)
        w->begin(w->ctx);
    if (b->reading_ns) /* the clock's code comes into the caches */
        b->now_ns();
    start = b->now_ns();
    err = c->run(c->ctx);
    t->ns = b->now_ns() - start;
    t->ns = b->took_ns ? b->took_ns(c->ctx, t->ns) : t->ns;
    t->ns -= t->ns > b->reading_ns ? b->reading_ns : 0;
    t->off = w ? w->end(w->ctx, &t->mark) : 0;
    return err;
}

/* Runs a turn, repeats a disturbed turn while the watch allows, and returns the least disturbed turn. */
static int run_undisturbed(const struct exp_bench *b, const struct exp_contender *c, struct turn *best)
{
    const struct exp_watch *w = b->watch;
    unsigned n_again = 0;
    int err = run_one(b, c, best);

    while (!err && best->off > 0 && w->goes_on(w->ctx, n_again)) {
        struct turn t;

        err = run_one(b, c, &t);
        n_again++;
        if (!err && t.off < best->off)
            *best = t;
    }
    best->mark.n_again = n_again;
    if (!err && w)
        w->keep(w->ctx, &best->mark);
    return err;
}

/* Runs every contender once, beginning with contender `first`. Contender i's times and marks are at [i * stride]. */
static int run_round(const struct exp_bench *b, const struct exp_contender *contender, size_t n, size_t first,
                     uint64_t *times, struct exp_mark *marks, struct exp_bench_result *result)
{
    for (size_t i = 0; i < n; i++) {
        const size_t who = (first + i) % n, at = who * b->rounds.most;
        struct turn t;
        int err = run_undisturbed(b, &contender[who], &t);

        if (err) {
            result->failed = who;
            return err;
        }
        times[at] = t.ns;
        if (marks)
            marks[at] = t.mark;
    }
    return 0;
}

const char *exp_end_text(enum exp_end end)
{
    static const char *const texts[] = {
        [EXP_GOES_ON] = "they were not ended",
        [EXP_END_STOOD] = "the ratios no longer changed",
        [EXP_END_LIMIT] = "timing stopped at its limit (LIMIT=), the ratios were still changing",
        [EXP_END_MOST] = "timing stopped at the largest number of rounds, the ratios were still changing",
        [EXP_END_FIXED] = "their number was fixed",
    };

    return texts[end];
}

enum exp_end exp_rounds_end(const struct exp_rounds *r, size_t n, uint64_t elapsed_ns, bool (*stands)(void *ctx),
                            void *ctx)
{
    assert(r);
    if (n < r->least)
        return EXP_GOES_ON;
    if (r->least == r->most)
        return EXP_END_FIXED;
    if (stands && stands(ctx))
        return EXP_END_STOOD;
    if (r->limit_ns && elapsed_ns >= r->limit_ns)
        return EXP_END_LIMIT;
    return n >= r->most ? EXP_END_MOST : EXP_GOES_ON;
}

int exp_bench_run(const struct exp_bench *b, const struct exp_contender *contender, size_t n_contenders,
                  uint64_t *sample_ns, struct exp_bench_result *result)
{
    uint64_t (*const wall_ns)(void) = b->wall_ns ? b->wall_ns : b->now_ns;
    struct exp_bench warmup = *b;
    uint64_t start;
    int err = 0;

    warmup.watch = NULL;
    *result = (struct exp_bench_result){ .failed = n_contenders };
    if (!n_contenders || !b->rounds.least || b->rounds.most < b->rounds.least)
        return -EINVAL;
    for (size_t i = 0; i < b->n_warmups && !err; i++) /* the first round overwrites these times */
        err = run_round(&warmup, contender, n_contenders, b->first + i, sample_ns, b->mark, result);
    start = wall_ns();
    while (!err && result->end == EXP_GOES_ON) {
        err = run_round(b, contender, n_contenders, b->first + result->n_rounds, sample_ns + result->n_rounds,
                        b->mark ? b->mark + result->n_rounds : NULL, result);
        result->n_rounds += !err;
        if (!err)
            result->end = exp_rounds_end(&b->rounds, result->n_rounds, wall_ns() - start, b->stands, b->ctx);
    }
    return err;
}
