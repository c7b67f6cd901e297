/*
 * levels.csv: load misses of every level of the simulated machine, for the whole model. Other tables have three levels,
 * those that CSA plans for (exp_totals.h).
 */
#ifndef EXPERIMENTS_EXP_LEVELS_H
#define EXPERIMENTS_EXP_LEVELS_H

#include "experiments/base/exp_error.h"
#include "experiments/record/record.h"
#include "experiments/report/exp_report.h"

/* A simulation's misses. */
struct exp_levels_view {
    double misses, percent, per_1000_macs;
};

struct exp_levels_row {
    const char *model, *algo, *level, *stands_for;
    struct exp_levels_view as_it_is, alone;
    const char *why_not; /* of what is NaN */
};

extern const struct rec_table exp_levels_table;

/* Returns 0, or -errno with one line in why. */
int exp_levels_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why);

#endif
