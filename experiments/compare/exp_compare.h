/*
 * Two experiments side by side: layer by layer, algorithm by algorithm, metric by metric.
 *
 * Layers are paired by name (the second of a name with the second), and must have the same shape. Simulated numbers
 * are compared exactly. Times are tested on the recorded rounds of both runs: each layer by Mann and Whitney's test,
 * the model by a permutation test of what its speed-up is made of, each family of tests (a metric, an algorithm) by
 * Holm's method. A small p says that two runs differ, not why: on a computer that others use, the same program differs
 * from itself. That is what `gain` is for.
 */
#ifndef EXPERIMENTS_EXP_COMPARE_H
#define EXPERIMENTS_EXP_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/page/exp_page_data.h"

/* ---- Two runs, and the metrics that are compared of them ---- */

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

/* Says what a difference means for B: 1 it is better, -1 worse, 0 equal or not certain. */
int exp_compare_side_of(const struct exp_compare_cell *c);

/*
 * Compares the results in two folders. Returns 0; -errno with one line in why: a folder without an experiment's
 * results, a table that cannot be read, no layer in common.
 */
int exp_two_runs_compare(struct exp_two_runs *c, const char *a, const char *b, struct exp_why *why);
void exp_two_runs_release(struct exp_two_runs *c);

#endif
