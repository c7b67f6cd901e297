/* Aggregates of samples, and speed-ups with their intervals. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"
#include "tests/rng.h"
#include "tests/suites.h"

static void test_known_aggregates(void)
{
    static const uint64_t quarters[] = { 3, 9, 7, 2, 8, 5, 6, 3 };
    static const uint64_t odd[] = { 9, 1, 5 }, even[] = { 4, 1, 10, 3 }, equal[] = { 7, 7, 7, 7, 2 };
    static const uint64_t large[] = { UINT64_MAX, 0 };
    static const double ratios[] = { 2.0, 0.5, 4.0, 0.25 }, one[] = { 1.3 };

    CU_ASSERT_EQUAL(exp_stats_median(odd, 3), 5.0);
    CU_ASSERT_EQUAL(exp_stats_median(odd, 1), 9.0);
    CU_ASSERT_EQUAL(exp_stats_median(even, 4), 3.5);
    CU_ASSERT_EQUAL(exp_stats_median(equal, 5), 7.0);
    CU_ASSERT_EQUAL(exp_stats_median(large, 2), 0x1p63);
    CU_ASSERT_EQUAL(exp_stats_low_mean(odd, 1), 9.0);
    CU_ASSERT_EQUAL(exp_stats_low_mean(quarters, 8), 2.5);
    CU_ASSERT_EQUAL(exp_stats_low_mean(quarters, 5), 2.5); /* two of five */
    CU_ASSERT_EQUAL(exp_stats_min(even, 4), 1);
    CU_ASSERT_EQUAL(exp_stats_max(even, 4), 10);
    CU_ASSERT(fabs(exp_stats_geomean(ratios, 4) - 1.0) < 1e-15);
    CU_ASSERT(fabs(exp_stats_geomean(one, 1) - 1.3) < 1e-15);
}

/* An untimed layer makes a sum unknown, rather than smaller. */
static void test_times(void)
{
    static const uint64_t first[] = { 3, 9, 7, 2, 8, 5, 6, 3 }, second[] = { 10 };
    const struct exp_times one = exp_times_of(second, 1), none = exp_times_of(NULL, 0);
    struct exp_times sum = exp_times_of(first, 8);

    CU_ASSERT(sum.low_mean == 2.5 && sum.fastest == 2 && sum.median == 5.5);
    CU_ASSERT(one.low_mean == 10 && one.fastest == 10 && one.median == 10);
    CU_ASSERT(isnan(none.low_mean) && isnan(none.fastest) && isnan(none.median));
    exp_times_add(&sum, &one);
    CU_ASSERT(sum.low_mean == 12.5 && sum.fastest == 12 && sum.median == 15.5);
    CU_ASSERT_DOUBLE_EQUAL(exp_times_median_percent(&sum), 100 * 3.5 / 12, 1e-12);
    exp_times_add(&sum, &none);
    CU_ASSERT(isnan(sum.low_mean) && isnan(exp_times_median_percent(&sum)));
}

static void test_sorting(void)
{
    double x[] = { 2, -1, 0.5, 2, 7 };

    exp_stats_sort_up(x, 5);
    CU_ASSERT(x[0] == -1 && x[1] == 0.5 && x[2] == 2 && x[3] == 2 && x[4] == 7);
}

static void test_rank(void)
{
    const double x[] = { 1, 2, 3, 4 }, up[] = { 10, 20, 30, 1000 }, down[] = { 4, 3, 2, 1 }, flat[] = { 1, 1, 1, 1 };
    const double gap[] = { 1, (double)NAN, 3, 4 }, tied[] = { 1, 1, 2, 3 };

    CU_ASSERT_DOUBLE_EQUAL(exp_stats_spearman(x, up, 4), 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_stats_spearman(x, down, 4), -1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_stats_spearman(gap, down, 4), -1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_stats_spearman(x, tied, 4), 4.5 / sqrt(5 * 4.5), 1e-12);
    CU_ASSERT(isnan(exp_stats_spearman(x, flat, 4)) && isnan(exp_stats_spearman(x, up, 2)));
    CU_ASSERT_DOUBLE_EQUAL(exp_stats_kendall(x, up, 4), 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_stats_kendall(gap, down, 4), -1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_stats_kendall(x, tied, 4), 5 / sqrt(6 * 5), 1e-12);
    CU_ASSERT(isnan(exp_stats_kendall(x, flat, 4)));
}

static void test_spread(void)
{
    double ratio[] = { 5, 1, 3, 2, 4, (double)NAN };
    struct exp_spread s = exp_spread_of(ratio, 6);

    CU_ASSERT(s.n == 5);
    CU_ASSERT_DOUBLE_EQUAL(s.p10, 1.4, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(s.median, 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(s.p90, 4.6, 1e-12);
    CU_ASSERT_EQUAL(exp_spread_of(ratio, 4).median, 2.5); /* of the sorted ratios, 1 to 4 */
    CU_ASSERT(!exp_spread_of(ratio, 0).n);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void test_random_aggregates(void)
{
    for (unsigned round = 0; round < test_rounds(200); round++) {
        uint64_t sample[40], sorted[40];
        size_t n = 1 + rng_below(40);
        double median;

        for (size_t i = 0; i < n; i++)
            sorted[i] = sample[i] = rng_below(30);
        qsort(sorted, n, sizeof *sorted, compare);
        median = n % 2 ? (double)sorted[n / 2] : (double)(sorted[n / 2 - 1] + sorted[n / 2]) / 2.0;
        test_check(exp_stats_median(sample, n) == median && exp_stats_min(sample, n) == sorted[0] &&
                       exp_stats_max(sample, n) == sorted[n - 1],
                   "round %u, %zu samples", round, n);
    }
}

/* ---- speed-ups ---- */

enum { N_ROUNDS = 24 };

/* Fills two layers: Base takes 300 and 100 ns, the algorithm 150 and 100, without disturbances. */
static void fill_rounds(uint64_t ns[4][N_ROUNDS])
{
    static const uint64_t quiet[4] = { 300, 150, 100, 100 };

    for (size_t i = 0; i < 4; i++) {
        for (size_t r = 0; r < N_ROUNDS; r++)
            ns[i][r] = quiet[i];
    }
}

static struct exp_ratio ratio_of(uint64_t ns[4][N_ROUNDS], size_t n_rounds)
{
    const struct exp_pair pair[2] = { { ns[0], ns[1], n_rounds, 0 }, { ns[2], ns[3], n_rounds, 0 } };

    return exp_ratio_of(pair, 2);
}

static void test_ratio(void)
{
    uint64_t ns[4][N_ROUNDS];
    struct exp_ratio r, again;

    fill_rounds(ns);
    r = ratio_of(ns, N_ROUNDS);
    CU_ASSERT(r.value == 1.6 && r.low == 1.6 && r.high == 1.6 && r.by_median == 1.6); /* 400 / 250 */
    CU_ASSERT(exp_ratio_stands(&r));
    for (size_t i = 0; i < N_ROUNDS; i++) /* most rounds are disturbed, Base's more */
        ns[0][i] += i % 3 ? 100 : 0;
    r = ratio_of(ns, N_ROUNDS);
    CU_ASSERT(r.value == 1.6 && r.by_median == 2); /* a third is more than a quarter */
    CU_ASSERT(r.low == 1.6 && r.high < 1.8);       /* some halves have less than a quarter */
    CU_ASSERT_FALSE(exp_ratio_stands(&r));
    again = ratio_of(ns, N_ROUNDS);
    CU_ASSERT_EQUAL(memcmp(&r, &again, sizeof r), 0);
    ns[0][5] = 100; /* one lucky round is no speed-up */
    r = ratio_of(ns, N_ROUNDS);
    CU_ASSERT(fabs(r.value - (300 - 200 / 6.0 + 100) / 250) < 1e-12);
    CU_ASSERT(r.low < r.value && r.high > r.value);
}

/*
 * Returns the upper end of the interval if some of Base's rounds are fast: a half without any fast round has the
 * highest ratio, 1.6.
 */
static double high_with(size_t n_fast)
{
    uint64_t ns[4][N_ROUNDS];

    fill_rounds(ns);
    for (size_t r = 0; r < n_fast; r++)
        ns[0][r] = 100;
    return ratio_of(ns, N_ROUNDS).high;
}

/*
 * Of the halves of 24 rounds, 4.7 % have none of four, 1.9 % none of five: the interval leaves out 2.5 % on each side.
 */
static void test_ratio_tails(void)
{
    CU_ASSERT(high_with(4) == 1.6);
    CU_ASSERT(high_with(5) < 1.6);
}

static void test_ratio_of_little(void)
{
    uint64_t ns[4][N_ROUNDS];
    struct exp_pair alone = { NULL, ns[1], N_ROUNDS, 0 };
    struct exp_ratio r;

    fill_rounds(ns);
    r = ratio_of(ns, EXP_RATIO_LEAST_ROUNDS - 1);
    CU_ASSERT(r.value == 1.6 && isnan(r.low) && isnan(r.high) && !exp_ratio_stands(&r));
    r = ratio_of(ns, EXP_RATIO_LEAST_ROUNDS);
    CU_ASSERT(r.value == 1.6 && r.low == 1.6);
    r = ratio_of(ns, 0);
    CU_ASSERT(isnan(r.value) && !exp_ratio_stands(&r));
    r = exp_ratio_of(&alone, 1);
    CU_ASSERT(r.value == 1 / 150.0 && exp_ratio_stands(&r));
    ns[1][3] = 90;
    r = exp_ratio_of(&alone, 1);
    CU_ASSERT(r.value == 1 / 140.0 && !exp_ratio_stands(&r)); /* one of six is 60 faster */
}

static const struct test_case cases[] = {
    { "aggregates of known samples", test_known_aggregates },
    { "aggregates agree with sorting", test_random_aggregates },
    { "times of rounds add up, unknown ones to nothing", test_times },
    { "numbers are sorted up and down", test_sorting },
    { "ranks are compared, ties and gaps included", test_rank },
    { "quantiles of what is finite", test_spread },
    { "a speed-up is of the fastest quarters, its interval of halves of the rounds", test_ratio },
    { "a speed-up's interval leaves out 2.5 % on each side", test_ratio_tails },
    { "a speed-up of few rounds, or without Base", test_ratio_of_little },
    { NULL, NULL },
};

const struct test_suite suite_exp_stats = { "exp_stats", cases };
