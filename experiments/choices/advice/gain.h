/*
 * Known errors of simulated gains. By simulated cycles, a layer takes s times as long by the algorithm `from` as by the
 * algorithm `to`; on a real machine the layer takes t times as long. For each pair of algorithms, the table has a bound
 * from recorded layers: of all layers with s at or above the bound, 95 % gained (t is at least 1). `make validate`
 * writes the rows of one machine, and experiments/estimates/gains.csv keeps the rows of all machines.
 *
 * A change is advised if the simulated ratio is above the bound. A ratio within EXP_CYCLES_TIE (bench/case/cycles.h) is
 * no gain.
 */
#ifndef EXPERIMENTS_CHOICES_ADVICE_GAIN_H
#define EXPERIMENTS_CHOICES_ADVICE_GAIN_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/base/record.h"
#include "experiments/base/value.h"

#define EXP_GAINS_FILE "estimates/gains.csv"

/* A row: the quantiles of a pair of algorithms on a machine. */
struct exp_gain {
    const char *machine, *from, *to;
    uint64_t layers;
    struct value bound; /* missing: no simulated gain was right in 95 % of the layers */
    double median;      /* of s / t, over the layers at or above the bound; over all layers without a bound */
};

/* The simulated and the real ratio of a layer. */
struct exp_gain_pair {
    double simulated, real;
};

extern const struct rec_table exp_gains_table;

/* Returns the bound of the simulated ratio of a change, at least a tie; infinite without a bound. */
double exp_gain_bound(const struct exp_gain *g);

/*
 * Returns the expected ratio of a simulated ratio on a machine: divided by the median of the known errors. Errors of
 * another machine only lower the ratio.
 */
double exp_gain_expected(const struct exp_gain *g, const char *machine, double ratio);

/* Layers at or above a bound: fewer say nothing about 95 %. */
enum { EXP_GAIN_LEAST_LAYERS = 20 };

/* Fills bound and median from n >= 1 layers, and sorts the layers. */
void exp_gain_fill(struct exp_gain *g, struct exp_gain_pair *layer, size_t n);

/* Reads the rows of all machines. Returns 0, or -errno with a line in why. */
int exp_gains_read(struct rec_rows *rows, const char *experiments_dir, struct exp_why *why);

/*
 * Returns the row for a change on a machine: the machine's own row of the pair; else, of the pair's rows on all
 * machines, the row with the largest bound; else the row with the largest bound of all pairs with this `from`; else of all
 * rows. NULL without rows.
 */
const struct exp_gain *exp_gains_find(const struct rec_rows *rows, const char *machine, const char *from,
                                      const char *to);

#endif
