/* The files of recorded counts, a module each. Internal to exp_counts.h. */
#ifndef EXPERIMENTS_EXP_COUNTS_FILES_H
#define EXPERIMENTS_EXP_COUNTS_FILES_H

#include "experiments/base/exp_error.h"
#include "experiments/report/exp_counts.h"

/* Says what was planned, and so what ran. */
struct exp_plans_row {
    const char *model;
    uint64_t layer_index;
    const char *layer;
    double macs;
    const char *algo, *plan;
};

struct exp_counts_row {
    const char *model, *caches;
    uint64_t layer_index;
    const char *algo, *quantity;
    uint64_t count;
    const char *why_no_count;
};

extern const struct rec_table exp_plans_table, exp_counts_table;

/* Reads host.txt of c->folder. Returns 0, or -errno with one line in why. */
int exp_counts_read_host(struct exp_counts *c, struct exp_why *why);

#endif
