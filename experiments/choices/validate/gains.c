/* Simulated gains beside real gains: the quantiles of each pair of algorithms, over the layers with both. */
#include "experiments/choices/validate/validate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/choices/advice/gain.h"

/* Returns the point of the algorithm in p's layer, or NULL; points of a layer follow each other. */
static const struct exp_point *of_layer(const struct exp_points *points, const struct exp_point *p,
                                        const struct exp_algo *algo)
{
    const struct exp_point *first = p;

    while (first > points->point && first[-1].layer == p->layer && first[-1].model == p->model)
        first--;
    for (; first < points->point + points->n && first->layer == p->layer && first->model == p->model; first++) {
        if (first->algo == algo)
            return first;
    }
    return NULL;
}

/* Fills ratio[] with simulated over real ratios of cycles, from over to. Returns their number. */
static size_t find_ratios(const struct exp_points *points, const struct exp_algo *from, const struct exp_algo *to,
                          double *ratio)
{
    size_t n = 0;

    for (const struct exp_point *p = points->point; p < points->point + points->n; p++) {
        const struct exp_cycles_pair a = exp_validate_cycles_of_point(p),
                                     b = exp_validate_cycles_of_point(p->algo == from ? of_layer(points, p, to) : NULL);

        ratio[n] = a.simulated / b.simulated / (a.taken / b.taken);
        n += isfinite(ratio[n]);
    }
    return n;
}

static void put(struct exp_csv *csv, const void *of)
{
    const struct exp_validate_gains *g = of;
    double *ratio = exp_new(g->points->n + 1, sizeof *ratio);

    for (size_t a = 0; a < exp_algo_count(); a++) {
        for (size_t b = 0; b < exp_algo_count(); b++) {
            struct exp_gain row = { .machine = g->machine, .from = exp_algo_at(a)->name, .to = exp_algo_at(b)->name };
            const size_t n = a == b ? 0 : find_ratios(g->points, exp_algo_at(a), exp_algo_at(b), ratio);

            if (!n)
                continue;
            exp_gain_fill(&row, ratio, n);
            rec_put(csv, &exp_gains_table, &row);
        }
    }
    free(ratio);
}

int exp_validate_gains_write(const struct exp_validate_gains *g, const char *what, const struct exp_outdir *dir,
                             struct exp_why *why)
{
    const struct rec_file file = { &exp_gains_table, put, NULL };

    assert(g && g->points && g->machine);
    return rec_write_files(&file, 1, g, dir, what, why);
}
