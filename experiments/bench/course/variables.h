/* Variables of the figures' scripts, beside the tables (base/plot.h). */
#ifndef EXPERIMENTS_BENCH_COURSE_VARIABLES_H
#define EXPERIMENTS_BENCH_COURSE_VARIABLES_H

#include <stddef.h>

#include "experiments/base/plot.h"

enum { EXP_MOST_VARIABLES = 48 };

/* Starts as { 0 }. */
struct exp_variables {
    struct exp_plot_variable variable[EXP_MOST_VARIABLES]; /* the values are from malloc */
    size_t n;
};

/* Sets a variable. The name must outlive v. */
void exp_variables_set(struct exp_variables *v, const char *name, const char *value);

/* Appends a word to a variable with a list, between quotes ("" or "\""); the first word begins the list. */
void exp_variables_add(struct exp_variables *v, const char *name, const char *quote, const char *word);

/*
 * Sets the variables about algorithms, so that no script names an algorithm:
 *
 *   algo_names, algo_titles, algo_colours   of all records, in order; titles in quotes
 *   default_algos   algorithms that run by default         total_algos   algorithms of a model's totals: no members
 *   sconv_algos     every SConv                            member_algos  the schedules that CSA chooses from
 *   plain_algos     all but the SConvs whose plans have a schedule of their own
 */
void exp_variables_of_algos(struct exp_variables *v);

void exp_variables_release(struct exp_variables *v); /* leaves { 0 } */

#endif
