#include "experiments/choices/advice/gain.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"
#include "experiments/bench/case/cycles.h"

static const struct rec_field fields[] = {
    { { "machine", "", "whose cycles were simulated and taken", "" }, REC_AT(struct exp_gain, machine) },
    { { "from", "", "algorithm", "" }, REC_AT(struct exp_gain, from) },
    { { "to", "", "algorithm in its place", "" }, REC_AT(struct exp_gain, to) },
    { { "layers", "", "with simulated and taken cycles of both", "" }, REC_AT(struct exp_gain, layers) },
    { { "bound", "",
        "simulated cycles of `from` over those of `to`: of the layers with at least this ratio, 95 % gained", "" },
      REC_VALUE(struct exp_gain, bound) },
    { { "overstated_median", "",
        "that ratio, divided by the same ratio of taken cycles: the median of those layers, without a bound of all",
        "replay, perf_event or clock" },
      REC_AT(struct exp_gain, median) },
};

const struct rec_table exp_gains_table = REC_TABLE("gains.csv", fields, struct exp_gain);

double exp_gain_bound(const struct exp_gain *g)
{
    return g->bound.why ? (double)INFINITY : fmax(g->bound.number, EXP_CYCLES_TIE);
}

double exp_gain_expected(const struct exp_gain *g, const char *machine, double ratio)
{
    return ratio / (strcmp(g->machine, machine) ? fmax(g->median, 1) : g->median);
}

static int by_simulated(const void *a, const void *b)
{
    const struct exp_gain_pair *x = a, *y = b;

    return (x->simulated < y->simulated) - (x->simulated > y->simulated);
}

void exp_gain_fill(struct exp_gain *g, struct exp_gain_pair *layer, size_t n)
{
    double *error = exp_new(n, sizeof *error);
    size_t n_right = 0, n_bounded = 0;

    assert(g && layer && n);
    qsort(layer, n, sizeof *layer, by_simulated);
    for (size_t i = 0; i < n; i++) {
        n_right += layer[i].real >= 1;
        if (i + 1 < n && !(layer[i + 1].simulated < layer[i].simulated)) /* equal layers are on one side of a bound */
            continue;
        if (i + 1 >= EXP_GAIN_LEAST_LAYERS && 100 * n_right >= 95 * (i + 1))
            n_bounded = i + 1;
    }
    for (size_t i = 0; i < (n_bounded ? n_bounded : n); i++)
        error[i] = layer[i].simulated / layer[i].real;
    g->layers = n;
    g->bound = n_bounded ? value_of(layer[n_bounded - 1].simulated)
                         : value_none("no simulated gain was right in 95 % of at least 20 layers");
    g->median = exp_spread_of(error, n_bounded ? n_bounded : n).median;
    free(error);
}

int exp_gains_read(struct rec_rows *rows, const char *experiments_dir, struct exp_why *why)
{
    char *path = exp_format("%s/" EXP_GAINS_FILE, experiments_dir);
    const int err = rec_read(rows, &exp_gains_table, path, why);

    free(path);
    return err;
}

/* How near a row is to a change: 3 for machine and pair, 2 for the pair, 1 for `from`, 0. */
static int closeness(const struct exp_gain *g, const char *machine, const char *from, const char *to)
{
    if (strcmp(g->from, from) != 0)
        return 0;
    if (strcmp(g->to, to) != 0)
        return 1;
    return strcmp(g->machine, machine) ? 2 : 3;
}

const struct exp_gain *exp_gains_find(const struct rec_rows *rows, const char *machine, const char *from,
                                      const char *to)
{
    const struct exp_gain *best = NULL, *row = rows->row;
    int best_closeness = 0;

    assert(machine && from && to);
    for (const struct exp_gain *g = row; g < row + rows->n; g++) {
        const int is = closeness(g, machine, from, to);

        if (best && (is < best_closeness || (is == best_closeness && exp_gain_bound(g) <= exp_gain_bound(best))))
            continue;
        best = g;
        best_closeness = is;
    }
    return best;
}
