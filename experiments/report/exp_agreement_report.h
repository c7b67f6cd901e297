/*
 * Simulated beside measured as tables, in every experiment with counters and in validations:
 * simulated_vs_measured.csv, a row per layer, algorithm and quantity; agreement.csv, how far apart they are.
 */
#ifndef EXPERIMENTS_EXP_AGREEMENT_REPORT_H
#define EXPERIMENTS_EXP_AGREEMENT_REPORT_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/record/record.h"
#include "experiments/report/exp_agreement.h"

struct exp_agreement_report {
    const struct exp_points *points;
    const char *const *model; /* [n_models], in the order of the points */
    size_t n_models;
    const char *what; /* one line: what was counted, what replayed */
};

/* Returns 0, or -errno with one line in why. */
int exp_agreement_write(const struct exp_agreement_report *r, const struct exp_outdir *dir, struct exp_why *why);

/* Prints the table for people: all models, each algorithm, as the machine is. Returns 0 or -ENOMEM. */
int exp_agreement_print(const struct exp_agreement_report *r, FILE *out);

extern const struct rec_table exp_points_table, exp_agreement_table;

void exp_agreement_document(FILE *out);

#endif
