/* Formulas of metrics: values, refusals with their places, missing values. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "counters/group/ctr_expr.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* Formulas: a = 6, b = 4, zero = 0, gone is missing, nothing else exists. */
static int lookup(void *context, const char *name, size_t name_chars, double *value)
{
    static const struct {
        const char *name;
        double value;
    } names[] = { { "a", 6 }, { "b", 4 }, { "zero", 0 }, { "L1_MISS", 100 } };
    unsigned *n_lookups = context;

    if (n_lookups)
        ++*n_lookups;
    if (name_chars == 4 && !strncmp(name, "gone", 4))
        return -ENODATA;
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strlen(names[i].name) == name_chars && !strncmp(names[i].name, name, name_chars)) {
            *value = names[i].value;
            return 0;
        }
    }
    return -ENOENT;
}

static void test_formulas(void)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {
        { "a", 6 },
        { " a + b * 2 ", 14 },
        { "(a + b) * 2", 20 },
        { "a - b - 1", 1 },
        { "a / b / 2", 0.75 },
        { "-a + 1", -5 },
        { "a - -b", 10 },
        { "--a", 6 },
        { "64*L1_MISS", 6400 },
        { "0.125 * 8", 1 },
        { "2.50", 2.5 },
        { "a * (b - (1 + 1)) / 3", 4 },
        { "zero / a", 0 },
        { "((((((((a))))))))", 6 },
    };

    for (size_t i = 0; i < COUNT(good); i++) {
        double value = NAN;
        int err = ctr_expr_eval(good[i].text, lookup, NULL, &value, NULL);

        test_check(!err && value == good[i].value, "%s: error %d, value %g, expected %g", good[i].text, err, value,
                   good[i].value);
    }
}

static void test_bad_formulas(void)
{
    static const struct {
        const char *text;
        int err;
        size_t at;
    } bad[] = {
        { "", -EINVAL, 0 },         { "   ", -EINVAL, 3 },         { "a +", -EINVAL, 3 },
        { "a b", -EINVAL, 2 },      { "(a", -EINVAL, 2 },          { "a)", -EINVAL, 1 },
        { "()", -EINVAL, 1 },       { "a * / b", -EINVAL, 4 },     { "1.", -EINVAL, 0 },
        { ".5", -EINVAL, 0 },       { "1.2.3", -EINVAL, 0 },       { "2a", -EINVAL, 0 },
        { "a % b", -EINVAL, 2 },    { "c", -ENOENT, 0 },           { "a + ab", -ENOENT, 4 },
        { "gone + c", -ENOENT, 7 }, { "1 / zero +", -EINVAL, 10 }, { "gone )", -EINVAL, 5 },
        { "1e3", -EINVAL, 0 },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        double value = 42;
        size_t at = 999;
        int err = ctr_expr_eval(bad[i].text, lookup, NULL, &value, &at);

        test_check(err == bad[i].err && at == bad[i].at && value == 42, "'%s': error %d at %zu, expected %d at %zu",
                   bad[i].text, err, at, bad[i].err, bad[i].at);
    }
}

static void test_missing(void)
{
    static const char *const texts[] = { "gone",        "a + gone", "gone * 0",     "1 / zero",      "a / (b - 4)",
                                         "zero / zero", "-gone",    "1 / zero * 0", "1 / (1 / zero)" };

    for (size_t i = 0; i < COUNT(texts); i++) {
        double value = 42;
        int err = ctr_expr_eval(texts[i], lookup, NULL, &value, NULL);

        test_check(err == -ENODATA && value == 42, "%s: error %d, value %g", texts[i], err, value);
    }
}

static void test_overflow(void)
{
    char text[1000];
    double value = 42;

    memset(text, '9', sizeof text - 1); /* 10^999 */
    text[sizeof text - 1] = '\0';
    CU_ASSERT(ctr_expr_eval(text, lookup, NULL, &value, NULL) == -ENODATA && value == 42);
}

/* 32 levels are allowed; thousands must not be tried. */
static void test_deep_formula(void)
{
    static const size_t depths[] = { 1, 32, 33, 10000 };
    static char text[20002];

    for (size_t i = 0; i < COUNT(depths); i++) {
        size_t n = depths[i];
        int expected = n <= 32 ? 0 : -EINVAL;
        double value = 0;

        memset(text, '(', n);
        text[n] = 'a';
        memset(text + n + 1, ')', n);
        text[2 * n + 1] = '\0';
        test_check(ctr_expr_eval(text, lookup, NULL, &value, NULL) == expected, "%zu parentheses", n);
        memset(text, '-', n);
        text[n + 1] = '\0';
        test_check(ctr_expr_eval(text, lookup, NULL, &value, NULL) == expected, "%zu minuses", n);
    }
}

/* Returns a random formula's text and value, from small integers: both are exact. */
static double random_formula(char *text, size_t bytes, unsigned depth)
{
    static const char operators[] = "+-*";
    char left[512], right[512], op = operators[rng_below(3)];
    double x, y;

    if (!depth || !rng_below(4)) {
        x = (double)rng_below(10);
        snprintf(text, bytes, "%.0f", x);
        return x;
    }
    x = random_formula(left, sizeof left, depth - 1);
    y = random_formula(right, sizeof right, depth - 1);
    snprintf(text, bytes, rng_below(2) ? "(%s) %c (%s)" : "((%s)%c(%s))", left, op, right);
    return op == '+' ? x + y : op == '-' ? x - y : x * y;
}

static void test_random_formulas(void)
{
    for (unsigned i = test_rounds(500); i; i--) {
        char text[1200];
        double expected = random_formula(text, sizeof text, 4), value = NAN;
        int err = ctr_expr_eval(text, lookup, NULL, &value, NULL);

        if (!test_check(!err && value == expected, "%s = %g, not %g (%d)", text, expected, value, err))
            return;
    }
}

static const struct test_case cases[] = {
    { "formulas have the usual precedence", test_formulas },
    { "bad formulas are refused at the right place", test_bad_formulas },
    { "missing values and divisions by zero make a formula missing", test_missing },
    { "a value too large for a double is missing", test_overflow },
    { "a formula cannot exhaust the stack", test_deep_formula },
    { "random formulas have the right value", test_random_formulas },
    { NULL, NULL },
};

const struct test_suite suite_formulas = { "formulas", cases };
