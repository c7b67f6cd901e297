/* Comparisons of two runs: the statistical tests, and the values of FAIL_IF=. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "experiments/compare/compare.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { MOST = 32 };

static bool is_near(double value, double expected)
{
    return fabs(value - expected) < 1e-9;
}

/* ---- Mann and Whitney ---- */

/* p values of scipy.stats.mannwhitneyu: exact where all samples differ, else asymptotic with continuity. */
static const struct {
    uint64_t a[MOST], b[MOST];
    size_t n_a, n_b;
    double p;
} known[] = {
    { { 1, 2, 3 }, { 4, 5, 6 }, 3, 3, 0.1 },
    { { 10, 12, 13, 15, 19, 30, 31 }, { 11, 14, 16, 17, 40, 41, 42, 43 }, 7, 8, 0.1892773892773893 },
    { { 100, 101, 101, 102, 105, 107, 108, 108, 110, 111, 115, 120 },
      { 103, 104, 106, 108, 109, 112, 113, 114, 116, 118, 119, 121 },
      12,
      12,
      0.0779282399517935 },
    { { 5, 5, 5 }, { 5, 5 }, 3, 2, 1 },
};

static void test_known(void)
{
    for (size_t i = 0; i < COUNT(known); i++) {
        double p = exp_rank_test(known[i].a, known[i].n_a, known[i].b, known[i].n_b);

        test_check(is_near(p, known[i].p), "case %zu: p is %.12f, not %.12f", i, p, known[i].p);
        p = exp_rank_test(known[i].b, known[i].n_b, known[i].a, known[i].n_a);
        test_check(is_near(p, known[i].p), "case %zu with its sides changed: p is %.12f, not %.12f", i, p, known[i].p);
    }
    CU_ASSERT(isnan(exp_rank_test(known[0].a, 3, known[0].b, 0)));
}

/* Draws n rounds of about 1000 ns, later by some. */
static void draw(uint64_t *ns, size_t n, uint64_t later)
{
    for (size_t i = 0; i < n; i++)
        ns[i] = 1000 + rng_below(200) + later;
}

/* Equal runs have a p below 0.05 about once in twenty; different runs, nearly always. */
static void test_rates(void)
{
    enum { RUNS = 400, ROUNDS = 15 };
    size_t same = 0, differing = 0;

    for (size_t i = 0; i < RUNS; i++) {
        uint64_t a[ROUNDS], b[ROUNDS], c[ROUNDS];

        draw(a, ROUNDS, 0);
        draw(b, ROUNDS, 0);
        draw(c, ROUNDS, 100);
        same += exp_rank_test(a, ROUNDS, b, ROUNDS) < 0.05;
        differing += exp_rank_test(a, ROUNDS, c, ROUNDS) < 0.05;
    }
    test_check(same > RUNS / 100 && same < RUNS / 8, "%zu of %d equal runs seem to differ", same, RUNS);
    test_check(differing > RUNS * 9 / 10, "%zu of %d different runs seem to", differing, RUNS);
}

/* ---- the model ---- */

static void test_sums(void)
{
    enum { LAYERS = 6, ROUNDS = 12, RUNS = 40 };
    size_t same = 0, differing = 0;

    for (size_t i = 0; i < RUNS; i++) {
        uint64_t a[LAYERS][ROUNDS], b[LAYERS][ROUNDS], c[LAYERS][ROUNDS];
        struct exp_rank_pair ab[LAYERS], ac[LAYERS];

        for (size_t l = 0; l < LAYERS; l++) {
            draw(a[l], ROUNDS, 0);
            draw(b[l], ROUNDS, 0);
            draw(c[l], ROUNDS, 60);
            ab[l] = (struct exp_rank_pair){ a[l], b[l], ROUNDS, ROUNDS };
            ac[l] = (struct exp_rank_pair){ a[l], c[l], ROUNDS, ROUNDS };
        }
        same += exp_rank_test_sum(ab, LAYERS) < 0.05;
        differing += exp_rank_test_sum(ac, LAYERS) < 0.05;
    }
    test_check(same < RUNS / 5, "%zu of %d equal runs seem to differ", same, RUNS);
    test_check(differing > RUNS * 9 / 10, "%zu of %d different runs seem to", differing, RUNS);
}

static void test_sums_at_the_edge(void)
{
    const uint64_t a[] = { 10, 11, 12, 13, 14, 15, 16, 17 }, b[] = { 110, 111, 112, 113, 114, 115, 116, 117 };
    const struct exp_rank_pair apart[] = { { a, b, 8, 8 }, { a, b, 8, 8 } }, equal = { a, a, 8, 8 },
                               none = { a, b, 8, 0 };

    CU_ASSERT(is_near(exp_rank_test_sum(apart, 2), 1.0 / (EXP_RANK_DRAWS + 1)));
    CU_ASSERT(is_near(exp_rank_test_sum(&equal, 1), 1));
    CU_ASSERT(isnan(exp_rank_test_sum(&none, 1)));
    CU_ASSERT(isnan(exp_rank_test_sum(NULL, 0)));
}

static void test_holm(void)
{
    double p[] = { 0.04, 0.01, (double)NAN, 0.03, 0.9 };

    exp_rank_adjust(p, 5);
    CU_ASSERT(is_near(p[1], 0.04)); /* 4 * 0.01 */
    CU_ASSERT(is_near(p[3], 0.09)); /* 3 * 0.03 */
    CU_ASSERT(is_near(p[0], 0.09)); /* 2 * 0.04 is below the p before */
    CU_ASSERT(is_near(p[4], 0.9));
    CU_ASSERT(isnan(p[2]));
}

/* ---- FAIL_IF ---- */

static void test_bad_conditions(void)
{
    static const struct {
        const char *list, *words;
    } bad[] = {
        { "spedup<-3%", "unknown metric 'spedup', did you mean speedup?" },
        { "speedup=3", "there must be < or >" },
        { "speedup<", "a number must follow" },
        { "speedup<x%", "a number must follow" },
        { "speedup<3%%", "behind the number: '%'" },
        { "speedup<inf", "a number must follow" },
        { "layers.speedup<1", "unknown scope 'layers', did you mean layer?" },
        { "sconv_is.<1", "unknown metric ''" },
        { "speedup<1,,gain<1", "there must be < or >" },
        { "<1", "unknown metric ''" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct exp_compare_conditions c;
        struct exp_why why = { "" };

        test_check(exp_compare_conditions_read(&c, bad[i].list, &why) == -EINVAL, "'%s' is taken", bad[i].list);
        test_check(strstr(why.text, bad[i].words) != NULL, "'%s': '%s' is not in '%s'", bad[i].list, bad[i].words,
                   why.text);
        test_check(!strncmp(why.text, "FAIL_IF: ", 9), "'%s' is not named in '%s'", "FAIL_IF", why.text);
    }
}

static const struct exp_compare_metric *metric_of(const char *name)
{
    for (size_t i = 0; i < EXP_COMPARE_N_METRICS; i++) {
        if (!strcmp(exp_compare_metrics[i].name, name))
            return &exp_compare_metrics[i];
    }
    return NULL;
}

static bool meets(const char *list, struct exp_compare_cell cell, const char *metric)
{
    struct exp_compare_conditions c;
    struct exp_why why;
    bool any = false;

    cell.metric = metric_of(metric);
    CU_ASSERT_PTR_NOT_NULL_FATAL(cell.metric);
    CU_ASSERT_EQUAL_FATAL(exp_compare_conditions_read(&c, list, &why), 0);
    for (size_t i = 0; i < c.n; i++)
        any = any || exp_compare_meets(&c.condition[i], &cell);
    return any;
}

static void test_conditions(void)
{
    const struct exp_compare_cell model = {
        .layer = "all", .algo = "sconv_ws", .a = 100, .b = 104, .change_percent = -4, .is_certain = true
    };
    struct exp_compare_cell layer = model, open = model, base = model;

    layer.index = 3;
    open.is_certain = false;
    base.algo = "base";
    CU_ASSERT(meets("speedup<-3%", model, "speedup"));
    CU_ASSERT(meets(" speedup < -3 % ", model, "speedup"));
    CU_ASSERT(meets("gain<-9%,model.speedup<-3%", model, "speedup"));
    CU_ASSERT_FALSE(meets("speedup<-4%", model, "speedup"));
    CU_ASSERT_FALSE(meets("speedup<-3%", model, "gain"));
    CU_ASSERT_FALSE(meets("speedup<-3%", layer, "speedup"));
    CU_ASSERT(meets("layer.speedup<-3%", layer, "speedup"));
    CU_ASSERT_FALSE(meets("layer.speedup<-3%", model, "speedup"));
    CU_ASSERT_FALSE(meets("speedup<-3%", open, "speedup"));
    CU_ASSERT_FALSE(meets("speedup<-3%", base, "speedup"));
    CU_ASSERT(meets("base.speedup<-3%", base, "speedup"));
    CU_ASSERT(meets("sconv_ws.speedup<-3%", model, "speedup"));
    CU_ASSERT_FALSE(meets("sconv_is.speedup<-3%", model, "speedup"));
    CU_ASSERT(meets("l1_misses>3", model, "l1_misses"));
    CU_ASSERT_FALSE(meets("l1_misses>4", model, "l1_misses"));
    CU_ASSERT_FALSE(meets("", model, "speedup"));
}

static const struct test_case cases[] = {
    { "ranks: p values are those that others find", test_known },
    { "ranks: equal runs differ in one case of twenty, different ones in nearly all", test_rates },
    { "sums of layers: likewise", test_sums },
    { "sums of layers: all rounds apart, none apart, none there", test_sums_at_the_edge },
    { "many tests at once are adjusted by Holm's method", test_holm },
    { "FAIL_IF: what is wrong is said", test_bad_conditions },
    { "FAIL_IF: conditions hold for what they name, if it is certain", test_conditions },
    { NULL, NULL },
};

const struct test_suite suite_compare = { "compare", cases };
