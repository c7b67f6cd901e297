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
    { { "overstated_median", "",
        "simulated cycles of `from` over those of `to`, divided by the same ratio of taken cycles: the median layer",
        "replay, perf_event or clock" },
      REC_AT(struct exp_gain, median) },
    { { "overstated_p95", "", "the same: 95th percentile of the layers; what a simulated ratio must exceed", "" },
      REC_AT(struct exp_gain, p95) },
};

const struct rec_table exp_gains_table = REC_TABLE("gains.csv", fields, struct exp_gain);

double exp_gain_bound(const struct exp_gain *g)
{
    return fmax(g->p95, EXP_CYCLES_TIE);
}

double exp_gain_expected(const struct exp_gain *g, const char *machine, double ratio)
{
    return ratio / (strcmp(g->machine, machine) ? fmax(g->median, 1) : g->median);
}

/* Returns a quantile of sorted numbers; between two numbers, interpolated. */
static double quantile(const double *sorted, size_t n, double share)
{
    const double at = share * (double)(n - 1);
    const size_t i = (size_t)at;

    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

void exp_gain_fill(struct exp_gain *g, double *ratio, size_t n)
{
    assert(g && ratio && n);
    exp_stats_sort_up(ratio, n);
    g->layers = n;
    g->median = quantile(ratio, n, 0.5);
    g->p95 = quantile(ratio, n, 0.95);
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

        if (best && (is < best_closeness || (is == best_closeness && g->p95 <= best->p95)))
            continue;
        best = g;
        best_closeness = is;
    }
    return best;
}
