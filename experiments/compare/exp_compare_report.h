/* Writes what a comparison leaves: compare.csv, compare.html and compare.md. */
#ifndef EXPERIMENTS_EXP_COMPARE_REPORT_H
#define EXPERIMENTS_EXP_COMPARE_REPORT_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/compare/exp_compare.h"
#include "experiments/record/record.h"

/*
 * Conditions on a comparison, for automatic checks: FAIL_IF='speedup<-3%,layer.l1_misses>0%'.
 *
 *     condition   [scope.]metric, < or >, number, maybe %       several, comma-separated: any of them
 *     scope       model (default): sums over the layers; layer: every single one; or the name of an algorithm
 *     number      of %: the change from A to B; else the difference, in the metric's unit
 *
 * A change of times counts only if it is certain (exp_compare.h). Base is compared only where it is named: it is there
 * to be compared with.
 */

enum { EXP_COMPARE_CONDITIONS = 16 };

struct exp_compare_condition {
    const struct exp_compare_metric *metric;
    const char *algo; /* NULL: all but Base */
    bool is_about_layers, is_above, is_percent;
    double limit;
    char text[80]; /* as it was given */
};

struct exp_compare_conditions {
    struct exp_compare_condition condition[EXP_COMPARE_CONDITIONS];
    size_t n;
};

/* Reads a list; "" has none. Returns 0, or -EINVAL with one line in why. */
int exp_compare_conditions_read(struct exp_compare_conditions *c, const char *list, struct exp_why *why);

/*
 * Checks that every condition is about something that both runs have: a check of nothing must not pass. Returns 0, or
 * -ENODATA with one line in why.
 */
int exp_compare_conditions_check(const struct exp_compare_conditions *c, const struct exp_two_runs *runs,
                                 struct exp_why *why);

/* Tells whether a cell meets a condition. */
bool exp_compare_meets(const struct exp_compare_condition *c, const struct exp_compare_cell *x);

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
