/* layers.csv: all numbers of one layer and algorithm. */
#ifndef EXPERIMENTS_SHOW_LAYERS_H
#define EXPERIMENTS_SHOW_LAYERS_H

#include "experiments/base/record.h"
#include "experiments/show/report.h"

struct exp_layers_row {
    const char *model;
    uint64_t layer_index;
    const char *layer, *algo;
    bool is_chosen;
    struct conv_problem problem;
    struct value of[N_MEASURES];

    /* Words. */
    const char *machine, *caches;
    const char *type;
    const char *ukr, *core, *windows; /* the plan's; core: OpenBLAS's, "" for SConv */
    char fits[64];
    char source[256];
    const char *observed_source;
};

extern const struct rec_table exp_layers_table;

void exp_layers_fill(struct exp_layers_row *row, const struct exp_report *r, const struct exp_case *c);

/*
 * COLUMNS=layer,algo,simulated_cycles: columns of layers.csv by name, as a table, a line for each layer and algorithm.
 * Checking returns 0, or -EINVAL with one line in why for an unknown name. Printing takes a checked list.
 */
int exp_columns_check(const char *list, struct exp_why *why);
void exp_columns_print(const char *list, const struct exp_report *r, FILE *out);

#endif
