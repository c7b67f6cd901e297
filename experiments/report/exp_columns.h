/* The columns of layers.csv, as a table: what each is, and how it is filled. Internal to the report. */
#ifndef EXPERIMENTS_EXP_COLUMNS_H
#define EXPERIMENTS_EXP_COLUMNS_H

#include "experiments/base/exp_csv.h"
#include "experiments/report/exp_report.h"

struct exp_row {
    const struct exp_report *r;
    const struct exp_case *c;
    struct sim_cell sum, tiles; /* of the simulation: everything, and everything but the output tensor */
    struct sim_cell alone;      /* of the one of caches alone: everything */
};

extern const struct exp_csv_file exp_layers_file;

void exp_layers_put(struct exp_csv *csv, const struct exp_row *row);

#endif
