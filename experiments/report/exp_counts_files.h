/* The files of recorded counts, a module each. Internal to exp_counts.h. */
#ifndef EXPERIMENTS_EXP_COUNTS_FILES_H
#define EXPERIMENTS_EXP_COUNTS_FILES_H

#include "experiments/base/exp_error.h"
#include "experiments/report/exp_counts.h"

/* Columns of plans.csv and counts.csv, by their place. */
enum {
    EXP_COUNTS_PLAN_MODEL,
    EXP_COUNTS_PLAN_INDEX,
    EXP_COUNTS_PLAN_LAYER,
    EXP_COUNTS_PLAN_MACS,
    EXP_COUNTS_PLAN_ALGO,
    EXP_COUNTS_PLAN_PLAN,
    EXP_COUNTS_N_PLAN_COLUMNS,
};
enum {
    EXP_COUNTS_MODEL,
    EXP_COUNTS_CACHES,
    EXP_COUNTS_INDEX,
    EXP_COUNTS_ALGO,
    EXP_COUNTS_QUANTITY,
    EXP_COUNTS_COUNT,
    EXP_COUNTS_N_COUNT_COLUMNS,
};

extern const struct exp_csv_file exp_counts_plan_file, exp_counts_count_file;

/* Reads host.txt of c->folder. Returns 0, or -errno with one line in why. */
int exp_counts_read_host(struct exp_counts *c, struct exp_why *why);

#endif
