/*
 * Gives figures what they know of the algorithms, as variables of their scripts: nothing of it stands in a script.
 *
 *   algo_names, algo_titles, algo_colours   of all records, in their order; titles in quotes
 *   default_algos   what runs by default                   total_algos   what a model's totals are of: no members
 *   sconv_algos     every SConv                            member_algos  the schedules that CSA chooses from
 *   plain_algos     all but the SConvs whose plans have a schedule of their own
 */
#ifndef EXPERIMENTS_EXP_ALGO_PLOT_H
#define EXPERIMENTS_EXP_ALGO_PLOT_H

#include "experiments/base/exp_plot.h"
#include "experiments/setup/exp_algo.h"

enum { EXP_N_ALGO_VARIABLES = 8 };

/* The variables point into text: must stay where it is. */
struct exp_algo_plot {
    char text[EXP_N_ALGO_VARIABLES][EXP_N_ALGO_RECORDS * 64];
    struct exp_plot_variable variable[EXP_N_ALGO_VARIABLES];
};

void exp_algo_plot_init(struct exp_algo_plot *p);

#endif
