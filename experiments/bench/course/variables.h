/* Variables of the figures' scripts, which they are drawn with beside tables (base/plot.h). */
#ifndef EXPERIMENTS_BENCH_COURSE_VARIABLES_H
#define EXPERIMENTS_BENCH_COURSE_VARIABLES_H

#include <stddef.h>

#include "experiments/base/plot.h"

enum { EXP_MOST_VARIABLES = 48 };

/* Starts as { 0 }. */
struct exp_variables {
    struct exp_plot_variable variable[EXP_MOST_VARIABLES]; /* their values are from malloc */
    size_t n;
};

/* Sets a variable. The name must outlive v. */
void exp_variables_set(struct exp_variables *v, const char *name, const char *value);

/* Appends a word to a variable that is a list, between quotes ("" or "\""); the first one begins it. */
void exp_variables_add(struct exp_variables *v, const char *name, const char *quote, const char *word);

/*
 * Sets what scripts know of the algorithms, so that nothing of it stands in a script:
 *
 *   algo_names, algo_titles, algo_colours   of all records, in their order; titles in quotes
 *   default_algos   what runs by default                   total_algos   what a model's totals are of: no members
 *   sconv_algos     every SConv                            member_algos  the schedules that CSA chooses from
 *   plain_algos     all but the SConvs whose plans have a schedule of their own
 */
void exp_variables_of_algos(struct exp_variables *v);

void exp_variables_release(struct exp_variables *v); /* leaves { 0 } */

#endif
