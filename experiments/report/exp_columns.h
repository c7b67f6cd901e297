/* The columns of layers.csv, as a table: what each is, and how it is filled. Internal to the report. */
#ifndef EXPERIMENTS_EXP_COLUMNS_H
#define EXPERIMENTS_EXP_COLUMNS_H

#include "experiments/base/exp_csv.h"
#include "experiments/report/exp_report.h"

struct exp_row {
    const struct exp_report *r;
    const struct exp_case *c;
    struct sim_cell sum, tiles; /* of the simulation: everything, and everything but the output tensor */
};

struct exp_layer_column {
    struct exp_csv_column column;
    void (*put)(struct exp_csv *csv, const char *name, const struct exp_row *row, size_t arg);
    size_t arg; /* what the function makes of it: an offset, an index */
};

/* All columns in order. */
const struct exp_layer_column *exp_layer_columns(size_t *n);

#endif
