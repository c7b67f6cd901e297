/* Two runs, and the metrics that are compared of them. */
#ifndef EXPERIMENTS_EXP_COMPARE_RUNS_H
#define EXPERIMENTS_EXP_COMPARE_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/page/exp_page_data.h"

#define EXP_COMPARE_MODEL "all" /* the layer of sums */

enum exp_compare_kind { EXP_COMPARE_TIME, EXP_COMPARE_RATIO, EXP_COMPARE_EXACT };

struct exp_compare_metric {
    const char *name;
    size_t member; /* of struct exp_layers_row; model.csv has it under the same name */
    enum exp_compare_kind kind;
    bool is_more_better;
    const char *what;
};

size_t exp_compare_n_metrics(void);
const struct exp_compare_metric *exp_compare_metric_at(size_t i);
const struct rec_field *exp_compare_field(const struct exp_compare_metric *m);

/* A run. */
struct exp_compare_side {
    const char *path;
    struct exp_page_csv layers, model, samples; /* with rows (exp_layers.h, exp_report.h) */
};

/* One metric of one layer and algorithm in both. */
struct exp_compare_cell {
    uint64_t index; /* A's layer_index, 0 for the model */
    const char *layer, *algo;
    const struct exp_compare_metric *metric;
    double a, b;
    double change_percent; /* of TIME: of the speed, above 0 is faster; else of the number. NaN if A has 0 */
    double p, p_adjusted;  /* of TIME; NaN without rounds */
    bool is_certain;       /* EXACT: always; TIME: p_adjusted below 0.05; RATIO: the intervals do not meet */
};

struct exp_two_runs {
    struct exp_compare_side a, b;
    struct exp_compare_cell *cell; /* the model's first, then layers; [n] */
    size_t n;
    char **note; /* [n_notes] what is not compared, and what differs beside the numbers: a line each */
    size_t n_notes;
    size_t n_pairs; /* rows of layers.csv that have a partner */
};

#endif
