/*
 * Writes what was observed, beside the replay: CSV files and a table.
 *
 *   observed.csv               one row per layer, algorithm, level, tensor and phase, and sums over tensors and phases
 *   observed_instructions.csv  instructions executed, by class
 *   observed_outside.csv       accesses outside the tensors, by the function that made them; none of them is simulated
 */
#ifndef EXPERIMENTS_EXP_OBSERVE_REPORT_H
#define EXPERIMENTS_EXP_OBSERVE_REPORT_H

#include <stdio.h>

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/observe/exp_observe.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/report/exp_report.h"

/* Writes the three files; none if nothing was to be observed. Returns 0, or -errno with one line in why. */
int exp_observe_write(const struct exp_observed *o, const struct exp_report *r, const struct exp_outdir *dir,
                      struct exp_why *why);

/*
 * The tables on the terminal: layer by layer, without what was left out, and algorithm by algorithm beside what e
 * simulated; nothing if nothing was to be observed.
 */
void exp_observe_print(const struct exp_observed *o, const struct exp_experiment *e, FILE *out);

/*
 * Says in a sentence or two how much was observed, and how far from the replay it is at most. "" if nothing was to be
 * observed.
 */
void exp_observe_sum_up(const struct exp_observed *o, char *text, size_t bytes);

/* One line: by what, and which kernels, it was observed. */
void exp_observe_describe(const struct exp_observed *o, char *text, size_t bytes);

/* Says why observed and replayed streams must differ, or NULL. */
const char *exp_observe_known_difference(const struct exp_observation *x);

/* The files, until row is NULL. */
struct exp_observe_file {
    struct exp_csv_file file;
    const char *row; /* what one row is */
};

const struct exp_observe_file *exp_observe_files(void);

/* The same as Markdown tables. */
void exp_observe_document(FILE *out);

#endif
