/* Writes what a comparison leaves: compare.csv, compare.html and compare.md. */
#ifndef EXPERIMENTS_EXP_COMPARE_REPORT_H
#define EXPERIMENTS_EXP_COMPARE_REPORT_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/compare/exp_compare.h"
#include "experiments/compare/exp_compare_condition.h"
#include "experiments/record/record.h"

extern const struct rec_table exp_compare_table;

#define EXP_COMPARE_FILE "compare.csv"

/* Writes the table. Returns 0 or -errno with one line in why. */
int exp_compare_write_table(const struct exp_two_runs *c, const struct exp_outdir *dir, const char *commit,
                            struct exp_why *why);

/* Writes the page, after the table and the figure. Returns likewise. */
int exp_compare_write_page(const struct exp_two_runs *c, const struct exp_compare_conditions *q,
                           const struct exp_outdir *dir, struct exp_why *why);

/* Prints the answer: a line for each algorithm, the notes, and the conditions that are met. Returns how many are. */
size_t exp_compare_print(const struct exp_two_runs *c, const struct exp_compare_conditions *q, FILE *out);

void exp_compare_document(FILE *out);

#endif
