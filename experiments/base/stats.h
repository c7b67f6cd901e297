/*
 * Statistics of timed samples (whole numbers) and of numbers. Pure functions; const arrays need no order and are not
 * changed. Quantiles, medians and Spearman's correlation are computed as in the GNU Scientific Library.
 */
#ifndef EXPERIMENTS_BASE_STATS_H
#define EXPERIMENTS_BASE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the median of n >= 1 samples; for an even n, the mean of the two samples in the middle. Quadratic time: for
 * hundreds of samples.
 */
double exp_stats_median(const uint64_t *sample, size_t n);
uint64_t exp_stats_min(const uint64_t *sample, size_t n);
uint64_t exp_stats_max(const uint64_t *sample, size_t n);

/* Returns the mean of the smallest quarter, of at least one sample. Quadratic time. */
double exp_stats_low_mean(const uint64_t *sample, size_t n);

/* Tells whether sample `which` of n belongs to the smallest quarter, which makes exp_stats_low_mean. */
bool exp_stats_is_low(const uint64_t *sample, size_t n, size_t which);

/* The times of the rounds of one timed thing, or sums over several things, in ns. */
struct exp_times {
    double low_mean; /* exp_stats_low_mean: speed-ups are ratios of these times */
    double fastest, median;
};

/* Returns the times of n samples; all NaN if n is 0. */
struct exp_times exp_times_of(const uint64_t *sample, size_t n);
void exp_times_add(struct exp_times *sum, const struct exp_times *x);

/* Returns by how many percent the median exceeds the fastest round; NaN if nothing was timed. */
double exp_times_median_percent(const struct exp_times *x);

/* Sorts numbers, none of them NaN. */
void exp_stats_sort_up(double *x, size_t n);

/* Compares structs by the first member, a uint64_t, for qsort: the smallest first. */
int exp_by_first_member(const void *a, const void *b);

/* Quantiles of numbers. A quantile between two numbers is interpolated. */
struct exp_spread {
    size_t n; /* 0: the quantiles are NaN */
    double p10, median, p90;
};

/* Sorts the finite numbers of n to the front, and returns their quantiles. */
struct exp_spread exp_spread_of(double *x, size_t n);

/* Returns the geometric mean, the average of ratios; NaN if n is 0 or a number is not positive. */
double exp_stats_geomean(const double *x, size_t n);

/*
 * Return Spearman's rank correlation, and Kendall's (tau-b, in quadratic time); pairs with a value that is not finite
 * are left out. NaN for fewer than three pairs, where all values of a list are equal, or on lack of memory.
 */
double exp_stats_spearman(const double *x, const double *y, size_t n);
double exp_stats_kendall(const double *x, const double *y, size_t n);

/*
 * Costs that explain sums: of n terms, the amounts times the costs are to come closest to given sums by the weighted
 * squares of the errors, and no cost is negative. Starts from { .n = n }.
 */
enum { EXP_COSTS_MOST = 48 };

struct exp_costs {
    size_t n; /* terms */
    double matrix[EXP_COSTS_MOST][EXP_COSTS_MOST],
        target[EXP_COSTS_MOST]; /* half the gradient: matrix * cost - target */
};

/* Adds a sample: a sum that amount[n] explain, with the error as a share of `all`. */
void exp_costs_add(struct exp_costs *c, const double *amount, double sum, double all, double weight);

/*
 * Improves cost[n] by sweeps: each cost in turn takes its best value, from the first cost to the last. Where the
 * samples do not separate costs, the first costs explain the sums.
 */
void exp_costs_solve(const struct exp_costs *c, int sweeps, double *cost);

/* Returns the sum of n amounts times costs. */
double exp_costs_sum(size_t n, const double *amount, const double *cost);

/*
 * Speed-ups from rounds: how many times as fast as Base an algorithm is, over a layer or over all layers of a model,
 * with an interval of confidence.
 *
 * The value is the sum of Base's times over the layers, divided by the algorithm's sum. A time is the mean of the
 * fastest quarter of a layer's rounds. A disturbance mostly adds time, so fast rounds repeat where the median does not,
 * and the single fastest round may be too lucky to repeat. Five runs each, on two cores with a load of about 15, 9 and
 * 9, gave tuned over Base within 1.2, 2.2 and 5.4 % by quarters (SqueezeNet twice, ResNet-18), 1.8, 4.6 and 4.4 % by
 * medians, 3.0, 1.5 and 3.3 % by the fastest round: no estimate is exact on a shared machine. Without another running
 * program, by quarters: within 1.7 % (SqueezeNet) and 5.4 % (ResNet-18; without one run of the five, 2.6 %).
 *
 * The interval holds the middle 95 % of EXP_RATIO_DRAWS ratios, and the value. Each of the ratios comes from a random
 * half of the rounds. A half has equal rounds for both sides and is drawn for each layer separately, without putting
 * back (drawing with replacement, the usual bootstrap, counts fast rounds twice). The generator always starts with
 * equal state: equal samples have equal intervals. Below EXP_RATIO_LEAST_ROUNDS there is no interval: NaN.
 *
 * Random halves say how far further rounds of this run would change the ratio. On a busy computer, a neighbour may also
 * slow the fastest quarter, and slow one side more than the other; further rounds do not show this error. The ruler
 * (bench/time/ruler.h) tells by how much its loops were slower beside the rounds of the fastest quarter: exp_pair.slowed.
 * The interval widens to both sides by EXP_RATIO_UNEQUAL_PERCENT of this number: so far may a neighbour slow one side
 * more than the other. In synthetic runs (test suite exp_busy) with bursts of 0.5 to 300 ms, in 30 to 90 % of the time,
 * that slow layers by 5 to 60 %, each side and each layer by its own share, 63 % of the intervals of random halves hold
 * the undisturbed ratio, and 97 % of the widened intervals. On a virtual Granite Rapids with neighbours (VGG-16 twice,
 * 388 of 1,040 timings disturbed), the ratios of disturbed and of undisturbed rounds of a layer differed, as a share of
 * the ruler's slow-down, by 4 and 6 % in the median of 49 cases, by 11 and 14 % in nine of ten, and once by 107 %.
 *
 * A ratio stands when the interval is no wider than EXP_RATIO_PERCENT of the value.
 */

enum {
    EXP_RATIO_DRAWS = 400,
    EXP_RATIO_LEAST_ROUNDS = 4,
    EXP_RATIO_PERCENT = 1,
    EXP_RATIO_UNEQUAL_PERCENT = 20,
};

/* A speed-up; NaN: unknown. */
struct exp_ratio {
    double value, low, high;
    double by_median; /* ratio of sums of medians */
};

/* The rounds of one layer; base_ns is NULL where Base did not run: then the ratio is 1 ns over the algorithm's sum. */
struct exp_pair {
    const uint64_t *base_ns, *algo_ns; /* [n_rounds]; an index is a round of both */
    size_t n_rounds;
    double slowed; /* a ruler's slow-down beside the fastest quarter, as a share, of the worse side; 0: undisturbed */
};

/* Returns the ratio over n_layers layers; all NaN without layers, or if a layer has no rounds. */
struct exp_ratio exp_ratio_of(const struct exp_pair *layer, size_t n_layers);

/* The reason for empty cells of low and high beside a value. */
#define EXP_RATIO_NO_INTERVAL "fewer than 4 rounds make no interval"

/* Returns an unknown ratio: all NaN. */
struct exp_ratio exp_ratio_none(void);

bool exp_ratio_stands(const struct exp_ratio *r);

/*
 * Tells on which side of 1 the whole interval lies (without an interval, the value): 1 above, -1 below. 0: the interval
 * holds 1, or the ratio is unknown.
 */
int exp_ratio_side(const struct exp_ratio *r);

/* Random numbers, equal in every run: equal samples give equal draws. */

/* Returns the next number of a sequence that begins with any *state (SplitMix64). */
static inline uint64_t exp_random_next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/*
 * The measurement protocol: contenders take turns, so that a change of the machine (clock, neighbours, heat) hits all
 * contenders alike.
 *
 *     warm-up      A B C, n_warmups times: prepared, not timed
 *     round 0      A B C      each: prepare(), then run() between two readings of the clock
 *     round 1      B C A      each round starts one contender later, so that no contender always follows one neighbour
 *     round 2      C A B
 *
 * A turn that the watch finds disturbed is repeated, as often as the watch allows; the least disturbed turn is kept.
 *
 * Only ratios within one measurement have a meaning. All samples are kept; aggregates are in stats.h.
 */

/* The readings of a ruler around one timing (experiments/bench/time/ruler.h), in ns; all 0: there was no ruler. */
struct exp_mark {
    uint32_t clock_ns, fma_ns;
    uint32_t loads_clock_ns, loads_ns;
    uint32_t n_again; /* how often the timing was repeated */
    double ghz;       /* the core's clock, the mean of before and after; 0: not known */
};

/* Watches each turn, and tells how much the turn was disturbed (exp_ruler_watch makes a watch). */
struct exp_watch {
    void (*before)(void *ctx);                    /* before prepare() */
    void (*begin)(void *ctx);                     /* between prepare() and run() */
    double (*end)(void *ctx, struct exp_mark *m); /* after run(): how far the turn was off; 0: undisturbed */
    bool (*goes_on)(void *ctx, unsigned n_again); /* whether a disturbed turn is repeated, after n_again repetitions */
    void (*keep)(void *ctx, const struct exp_mark *m); /* this turn is kept */
    void *ctx;
};

struct exp_contender {
    const char *name;
    int (*run)(void *ctx);     /* the timed function; 0 or -errno */
    int (*prepare)(void *ctx); /* before each run, not timed, for example to empty the caches; may be NULL */
    void *ctx;
};

/* Bounds of the number of rounds. */
struct exp_rounds {
    size_t least;      /* >= 1; the limit of time does not lower this bound */
    size_t most;       /* upper bound; equal to `least`: exactly this number of rounds */
    uint64_t limit_ns; /* after `least` rounds, no round begins once this time has passed; 0: no limit */
};

/* Returns the share of the most rounds that is done in any case. */
static inline double exp_rounds_least_share(const struct exp_rounds *r)
{
    return (double)r->least / (double)r->most;
}

/* Why the rounds ended. */
enum exp_end { EXP_GOES_ON, EXP_END_STOOD, EXP_END_LIMIT, EXP_END_MOST, EXP_END_FIXED };

/* Says how the rounds ended, such as "the time limit ended them". */
const char *exp_end_text(enum exp_end end);

/* Tells whether to end after n rounds, and why. stands (may be NULL) says whether the result is known well enough. */
enum exp_end exp_rounds_end(const struct exp_rounds *r, size_t n, uint64_t elapsed_ns, bool (*stands)(void *ctx),
                            void *ctx);

struct exp_bench {
    size_t n_warmups;
    size_t first; /* which contender begins round 0 */
    struct exp_rounds rounds;
    bool (*stands)(void *ctx); /* as in exp_rounds_end */
    void *ctx;
    uint64_t (*now_ns)(void);                          /* the clock of the samples: monotonic, or the thread's own */
    uint64_t reading_ns;                               /* the time of a reading of now_ns, not part of a sample */
    uint64_t (*wall_ns)(void);                         /* the clock of the limit; NULL: now_ns */
    uint64_t (*took_ns)(void *contender, uint64_t ns); /* the run's own part of ns; NULL: all of ns */
    bool (*interrupted)(void);                         /* asked between runs; may be NULL */
    const struct exp_watch *watch;                     /* NULL: none */
    struct exp_mark *mark; /* laid out as the samples; receives the marks of the kept turns; may be NULL */
};

/* How the rounds went. */
struct exp_bench_result {
    size_t n_rounds;
    enum exp_end end;
    size_t failed; /* contender whose callback failed; n_contenders: none */
};

/*
 * Measures. sample_ns[i * rounds.most + r] receives the time of contender i in round r. Returns 0; -EINVAL if
 * rounds.most < rounds.least, rounds.least is 0 or there is no contender; -EINTR if interrupted; or a callback's error.
 */
int exp_bench_run(const struct exp_bench *b, const struct exp_contender *contender, size_t n_contenders,
                  uint64_t *sample_ns, struct exp_bench_result *result);

#endif
