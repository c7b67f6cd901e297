/*
 * Rivals of the simulated cycles: predictions without caches. A rival is fitted to the counted cycles of
 * further shapes, so that no row helps to foretell the cycles of the row.
 */
#include "experiments/choices/validate/validate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/bench/case/cycles.h"

enum { ROUNDS = 5, SWEEPS = 50 };

enum amount { MULTIPLY_ADDS, LOADS, STORES, N_AMOUNTS };

struct row {
    const struct exp_point *point;
    struct exp_cycles_pair cycles;
    double amount[N_AMOUNTS];
};

struct exp_cycles_pair exp_validate_cycles_of_point(const struct exp_point *p)
{
    const size_t q = ctr_quantity_index("cycles");

    return !p || *p->why_not ? (struct exp_cycles_pair){ (double)NAN, (double)NAN }
                             : (struct exp_cycles_pair){ p->measured[q].number, p->simulated[EXP_AS_MACHINE][q] };
}

static struct row row_of(const struct exp_point *p)
{
    const double *simulated = p->simulated[EXP_AS_MACHINE];

    return (struct row){ .point = p,
                         .cycles = exp_validate_cycles_of_point(p),
                         .amount = { (double)conv_macs(&p->layer->problem), simulated[ctr_quantity_index("loads")],
                                     simulated[ctr_quantity_index("stores")] } };
}

/* Tells whether a row may teach the costs of another row. */
static bool teaches(const struct row *row, const struct row *of, enum exp_validate_rival rival)
{
    return !conv_problem_equal(&row->point->layer->problem, &of->point->layer->problem) &&
           (rival == EXP_VALIDATE_CONSTANT || row->point->algo == of->point->algo);
}

/*
 * Predicts the cycles of a row; NaN: no row teaches. Rounds of least squares, with the error of the round before as
 * weight, come near the least absolute errors.
 */
static double predict(const struct row *rows, size_t n, const struct row *of, enum exp_validate_rival rival)
{
    const size_t n_amounts = rival == EXP_VALIDATE_CONSTANT ? 1 : N_AMOUNTS;
    double cost[N_AMOUNTS] = { 0 };
    size_t n_samples = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct exp_costs costs = { .n = n_amounts };

        for (size_t i = 0; i < n; i++) {
            const double taken = rows[i].cycles.taken;
            const double error = fabs(exp_costs_sum(n_amounts, rows[i].amount, cost) / taken - 1);

            if (!teaches(&rows[i], of, rival))
                continue;
            exp_costs_add(&costs, rows[i].amount, taken, taken, 1 / fmax(error, 0.01));
            n_samples++;
        }
        exp_costs_solve(&costs, SWEEPS, cost);
    }
    return n_samples ? exp_costs_sum(n_amounts, of->amount, cost) : (double)NAN;
}

double exp_validate_rival_percent(const struct exp_points *points, enum exp_validate_rival rival)
{
    struct row *rows = exp_new(points->n + 1, sizeof *rows);
    struct exp_cycles_pair *pair = exp_new(points->n + 1, sizeof *pair);
    double median;
    size_t n = 0;

    for (size_t i = 0; i < points->n; i++) {
        rows[n] = row_of(&points->point[i]);
        n += rows[n].cycles.taken > 0 && rows[n].cycles.simulated > 0;
    }
    for (size_t i = 0; i < n; i++)
        pair[i] = (struct exp_cycles_pair){ rows[i].cycles.taken, predict(rows, n, &rows[i], rival) };
    median = exp_cycles_errors(pair, n).median;
    free(rows);
    free(pair);
    return median;
}
