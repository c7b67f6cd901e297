/*
 * Rivals of the simulated cycles: predictions without caches. A fit does not know the shapes of the foretold rows:
 * shapes are dealt into folds, and each fold is foretold by a fit to the remaining folds.
 */
#include "experiments/choices/targets.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"

enum { ROUNDS = 5, SWEEPS = 50, FOLDS = 20 };

/* ---- shapes ---- */

static int by_shape(const void *a, const void *b)
{
    const struct exp_taken *x = *(struct exp_taken *const *)a, *y = *(struct exp_taken *const *)b;
    const int order = memcmp(x->problem, y->problem, sizeof *x->problem);

    if (order || x->algo == y->algo)
        return order ? order : (x > y) - (x < y);
    return x->algo < y->algo ? -1 : 1;
}

void exp_taken_number(struct exp_taken *row, size_t n)
{
    struct exp_taken **sorted = exp_new(n + 1, sizeof *sorted);
    size_t shape = 0;

    for (size_t i = 0; i < n; i++)
        sorted[i] = &row[i];
    qsort(sorted, n, sizeof(struct exp_taken *), by_shape);
    for (size_t i = 0; i < n; i++) {
        const bool is_known = i && conv_problem_equal(sorted[i]->problem, sorted[i - 1]->problem);

        shape += i && !is_known;
        sorted[i]->shape = shape;
        sorted[i]->same =
            is_known && sorted[i]->algo == sorted[i - 1]->algo ? sorted[i - 1]->same : (size_t)(sorted[i] - row);
    }
    free(sorted);
}

/* ---- fits ---- */

/* Tells whether a row teaches a fit for an algorithm (NULL: any) in a fold. */
static bool teaches(const struct exp_taken *r, const struct exp_algo *algo, size_t fold)
{
    return r->taken > 0 && r->simulated > 0 && r->shape % FOLDS != fold && (!algo || r->algo == algo);
}

/*
 * Fits costs to all rows that teach. Rounds of least squares, with the error of the round before as weight, come near
 * the least absolute errors. Returns the number of rows.
 */
static size_t fit(const struct exp_taken *row, size_t n, const struct exp_algo *algo, size_t fold, size_t n_amounts,
                  double cost[EXP_N_AMOUNTS])
{
    size_t n_taught = 0;

    for (size_t i = 0; i < EXP_N_AMOUNTS; i++)
        cost[i] = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct exp_costs costs = { .n = n_amounts };

        n_taught = 0;
        for (size_t i = 0; i < n; i++) {
            const struct exp_taken *r = &row[i];

            if (!teaches(r, algo, fold))
                continue;
            exp_costs_add(&costs, r->amount, r->taken, r->taken,
                          1 / fmax(fabs(exp_costs_sum(n_amounts, r->amount, cost) / r->taken - 1), 0.01));
            n_taught++;
        }
        exp_costs_solve(&costs, SWEEPS, cost);
    }
    return n_taught;
}

/* Foretells the rows of an algorithm (NULL: any) by fits of n_amounts, fold by fold. */
static void foretell_by_fits(const struct exp_taken *row, size_t n, const struct exp_algo *algo, size_t n_amounts,
                             double *cycles)
{
    for (size_t fold = 0; fold < FOLDS; fold++) {
        double cost[EXP_N_AMOUNTS];
        const size_t n_taught = fit(row, n, algo, fold, n_amounts, cost);

        for (size_t i = 0; i < n; i++) {
            if (row[i].shape % FOLDS == fold && (!algo || row[i].algo == algo) && n_taught)
                cycles[i] = exp_costs_sum(n_amounts, row[i].amount, cost);
        }
    }
}

/* Foretells each algorithm's rows, once for each algorithm. */
static void foretell_by_algorithm(const struct exp_taken *row, size_t n, double *cycles)
{
    for (size_t a = 0; a < exp_algo_count(); a++) {
        size_t i = 0;

        while (i < n && row[i].algo != exp_algo_at(a))
            i++;
        if (i < n)
            foretell_by_fits(row, n, exp_algo_at(a), EXP_N_AMOUNTS, cycles);
    }
}

/* ---- equals ---- */

static int by_same(const void *a, const void *b)
{
    const struct exp_taken *x = *(const struct exp_taken *const *)a, *y = *(const struct exp_taken *const *)b;

    return x->same == y->same ? (x > y) - (x < y) : x->same < y->same ? -1 : 1;
}

/* Foretells the rows of a shape and algorithm, each row by the median of the further rows. */
static void foretell_group(const struct exp_taken *row, const struct exp_taken *const *of, size_t n, double *cycles)
{
    double *taken = exp_new(n, sizeof *taken);

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            taken[j] = j == i ? (double)NAN : of[j]->taken;
        cycles[of[i] - row] = exp_spread_of(taken, n).median;
    }
    free(taken);
}

static void foretell_by_equals(const struct exp_taken *row, size_t n, double *cycles)
{
    const struct exp_taken **sorted = exp_new(n + 1, sizeof *sorted);

    for (size_t i = 0; i < n; i++)
        sorted[i] = &row[i];
    qsort(sorted, n, sizeof(struct exp_taken *), by_same);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && sorted[end]->same == sorted[i]->same;)
            end++;
        foretell_group(row, sorted + i, end - i, cycles);
    }
    free(sorted);
}

/* ---- contenders ---- */

static const struct {
    const char *words, *algo; /* algo: of a constant, what is always chosen */
} contenders[EXP_N_FORETELLERS] = {
    [EXP_BY_SIMULATION] = { "the simulation", NULL },       [EXP_BY_FIT] = { "fit without caches", NULL },
    [EXP_BY_CONSTANT] = { "cost of a multiply-add", NULL }, [EXP_BY_EQUALS] = { "equal convolutions", NULL },
    [EXP_ALWAYS_BASE] = { "always Base", "base" },          [EXP_NEVER_BASE] = { "never Base", "base" },
    [EXP_ALWAYS_WS] = { "always WS", "sconv_ws" },          [EXP_ALWAYS_IS] = { "always IS", "sconv_is" },
    [EXP_ALWAYS_TUNED] = { "always tuned", "sconv_tuned" },
};

const char *exp_foreteller_words(enum exp_foreteller c)
{
    assert(c < EXP_N_FORETELLERS);
    return contenders[c].words;
}

void exp_foretell(const struct exp_taken *row, size_t n, enum exp_foreteller c, double *cycles)
{
    const char *always = contenders[c].algo;

    assert((row || !n) && cycles);
    for (size_t i = 0; i < n; i++) {
        cycles[i] = c == EXP_BY_SIMULATION ? row[i].simulated : (double)NAN;
        if (always)
            cycles[i] = !strcmp(row[i].algo->name, always) == (c == EXP_NEVER_BASE);
    }
    if (c == EXP_BY_FIT)
        foretell_by_algorithm(row, n, cycles);
    if (c == EXP_BY_CONSTANT)
        foretell_by_fits(row, n, NULL, 1, cycles);
    if (c == EXP_BY_EQUALS)
        foretell_by_equals(row, n, cycles);
}
