/*
 * Statistics: of samples of times, which are whole numbers, and of numbers. Pure functions; arrays that are const need
 * no order and are not changed. Quantiles, medians and Spearman's correlation are those of the GNU Scientific Library.
 */
#ifndef EXPERIMENTS_BASE_STATS_H
#define EXPERIMENTS_BASE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the middle one of n >= 1 samples; of an even number, the mean of the two in the middle. Quadratic time: for
 * hundreds of samples.
 */
double exp_stats_median(const uint64_t *sample, size_t n);
uint64_t exp_stats_min(const uint64_t *sample, size_t n);
uint64_t exp_stats_max(const uint64_t *sample, size_t n);

/* Returns the mean of the smallest quarter, of one sample at least. Quadratic time likewise. */
double exp_stats_low_mean(const uint64_t *sample, size_t n);

/* Reports the rounds of one thing that was timed, or the sums of several, in ns. */
struct exp_times {
    double low_mean; /* exp_stats_low_mean: what speed-ups are made of */
    double fastest, median;
};

/* Returns the times of n samples; all NaN if n is 0. */
struct exp_times exp_times_of(const uint64_t *sample, size_t n);
void exp_times_add(struct exp_times *sum, const struct exp_times *x);

/* Returns how far the median lies above the fastest round, in percent of that; NaN if nothing was timed. */
double exp_times_median_percent(const struct exp_times *x);

/* Sort numbers, none of them NaN: ascending, descending. */
void exp_stats_sort_up(double *x, size_t n);
void exp_stats_sort_down(double *x, size_t n);

/* Compares structs whose first member is a uint64_t by it, for qsort: the smallest first. */
int exp_by_first_member(const void *a, const void *b);

/* Quantiles of numbers, between two of them where one falls there; the median of an even number is the two's mean. */
struct exp_spread {
    size_t n; /* 0: the others are NaN */
    double p10, median, p90;
};

/* Sorts the finite ones of n numbers to the front, and returns their quantiles. */
struct exp_spread exp_spread_of(double *x, size_t n);

/*
 * Returns the geometric mean, which is how ratios are averaged; NaN if n is 0 or one of them is not a positive number.
 */
double exp_stats_geomean(const double *x, size_t n);

/*
 * Return Spearman's rank correlation, and Kendall's (tau-b, in quadratic time); pairs with a value that is not finite
 * are left out. NaN for fewer than three pairs, where all values of a list are equal, or on lack of memory.
 */
double exp_stats_spearman(const double *x, const double *y, size_t n);
double exp_stats_kendall(const double *x, const double *y, size_t n);

/*
 * Speed-ups out of rounds: how many times as fast as Base an algorithm is, over a layer or over all layers of a model,
 * and how sure that is.
 *
 * The value: the sum over the layers of Base's times, divided by the same sum of the algorithm. A time is the mean of
 * the fastest quarter of a layer's rounds. What disturbs a run mostly adds time, so the fast rounds repeat where the
 * median does not; and the single fastest may be too lucky to repeat. Five runs each, on two cores with a load of about
 * 15, 9 and 9, gave tuned over Base within 1.2, 2.2 and 5.4 % by quarters (SqueezeNet twice, ResNet-18), 1.8, 4.6 and
 * 4.4 % by medians, 3.0, 1.5 and 3.3 % by the fastest: none is exact on a machine that others use. With no other
 * program running there, by quarters: within 1.7 % (SqueezeNet) and 5.4 % (ResNet-18; without one of the five, 2.6 %).
 *
 * The interval: the same ratio out of a random half of the rounds, for EXP_RATIO_DRAWS halves; low and high hold the
 * middle 95 % of them, and the value. A half has the same rounds for both sides, is drawn for each layer by itself and
 * without putting back (drawing with replacement, the usual bootstrap, counts fast rounds twice), by a generator that
 * always starts alike: equal samples have equal intervals. Below EXP_RATIO_LEAST_ROUNDS there is no interval: NaN.
 *
 * A ratio stands when its interval is no wider than EXP_RATIO_PERCENT of its value. It tells what other rounds of the
 * same run would have made of it; what disturbed the whole run alike, bench/time/ruler.h tells.
 */

enum { EXP_RATIO_DRAWS = 400, EXP_RATIO_LEAST_ROUNDS = 4, EXP_RATIO_PERCENT = 1 };

/* NaN where there is nothing to tell. */
struct exp_ratio {
    double value, low, high;
    double by_median; /* the same ratio of sums of medians */
};

/* The rounds of one layer; base_ns is NULL where Base did not run: then the ratio is of 1 ns to the algorithm's sum. */
struct exp_pair {
    const uint64_t *base_ns, *algo_ns; /* [n_rounds]; the same index is the same round */
    size_t n_rounds;
};

/* Returns the ratio over n_layers layers; all NaN if there is none or one has no rounds. */
struct exp_ratio exp_ratio_of(const struct exp_pair *layer, size_t n_layers);

/* For cells of low and high that are empty though there is a value. */
#define EXP_RATIO_NO_INTERVAL "fewer than 4 rounds make no interval"

/* Returns a ratio that is not known: all NaN. */
struct exp_ratio exp_ratio_none(void);

bool exp_ratio_stands(const struct exp_ratio *r);

/*
 * Tells on which side of 1 the whole interval lies (the value, where there is no interval): 1 above, -1 below. 0: the
 * interval holds 1, or nothing is known.
 */
int exp_ratio_side(const struct exp_ratio *r);

/* Random numbers that are the same every time: of equal samples the same is drawn. */

/* Returns the next of a sequence that begins with any *state (SplitMix64). */
static inline uint64_t exp_random_next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/*
 * The measurement protocol: contenders take turns, so that whatever the machine does meanwhile (clock, neighbours,
 * heat) hits all of them alike.
 *
 *     warm-up      A B C, n_warmups times, prepared like the others but not timed
 *     round 0      A B C      each: prepare(), then run() between two readings of the clock
 *     round 1      B C A      a round starts one contender later than the one before, so that none always follows the
 * same round 2      C A B
 *
 * A turn that the watch finds disturbed is taken again, as often as it allows; the least disturbed one is kept.
 *
 * Only ratios within one such measurement mean anything. All samples are kept; aggregates are in stats.h.
 */

/* Holds what a ruler read around one timing (experiments/bench/time/ruler.h), in ns; all 0: there was none. */
struct exp_mark {
    uint32_t clock_ns, fma_ns;
    uint32_t loads_clock_ns, loads_ns;
    uint32_t n_again; /* how often the timing was taken again */
};

/* Watches each turn, and tells how much it was disturbed (exp_ruler_watch makes one). */
struct exp_watch {
    void (*before)(void *ctx);                    /* before prepare() */
    void (*begin)(void *ctx);                     /* between prepare() and run() */
    double (*end)(void *ctx, struct exp_mark *m); /* after run(): how far it was off; 0: undisturbed */
    bool (*goes_on)(void *ctx, unsigned n_again); /* whether a disturbed turn is taken again, after so many times */
    void (*keep)(void *ctx, const struct exp_mark *m); /* this turn is kept */
    void *ctx;
};

struct exp_contender {
    const char *name;
    int (*run)(void *ctx);     /* what is timed; 0 or -errno */
    int (*prepare)(void *ctx); /* before each run, not timed: sweeps the caches, say; may be NULL */
    void *ctx;
};

/* Says how many rounds there are to be. */
struct exp_rounds {
    size_t least;      /* >= 1; whatever the limit says */
    size_t most;       /* >= least; the same: so many, whatever comes of them */
    uint64_t limit_ns; /* after `least` rounds, none begins once this much time has gone; 0: no limit */
};

/* Says why there are no more rounds. */
enum exp_end { EXP_GOES_ON, EXP_END_STOOD, EXP_END_LIMIT, EXP_END_MOST, EXP_END_FIXED };

/* Says how the rounds ended, such as "the time limit ended them". */
const char *exp_end_text(enum exp_end end);

/*
 * Tells whether to end after n rounds, and why. stands (may be NULL) is asked whether what was sought is known well
 * enough.
 */
enum exp_end exp_rounds_end(const struct exp_rounds *r, size_t n, uint64_t elapsed_ns, bool (*stands)(void *ctx),
                            void *ctx);

struct exp_bench {
    size_t n_warmups;
    size_t first; /* which contender begins round 0 */
    struct exp_rounds rounds;
    bool (*stands)(void *ctx); /* as in exp_rounds_end */
    void *ctx;
    uint64_t (*now_ns)(void);                          /* the clock of the samples: monotonic, or the thread's own */
    uint64_t (*wall_ns)(void);                         /* that of the limit; NULL: the same */
    uint64_t (*took_ns)(void *contender, uint64_t ns); /* of ns, what the run itself took; NULL: all */
    bool (*interrupted)(void);                         /* asked between runs; may be NULL */
    const struct exp_watch *watch;                     /* NULL: none */
    struct exp_mark *mark; /* laid out as the samples; receives the marks of what is kept; may be NULL */
};

/* Says how the rounds went. */
struct exp_bench_result {
    size_t n_rounds;
    enum exp_end end;
    size_t failed; /* contender whose callback failed; n_contenders: none */
};

/*
 * Measures. sample_ns[i * rounds.most + r] receives the time of contender i in round r. Returns 0; -EINVAL if
 * rounds.most < rounds.least, that is 0 or there is no contender; -EINTR if interrupted; else what a callback returned.
 */
int exp_bench_run(const struct exp_bench *b, const struct exp_contender *contender, size_t n_contenders,
                  uint64_t *sample_ns, struct exp_bench_result *result);

#endif
