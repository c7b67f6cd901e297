/* Gives the figures of a sweep what they need to know, as variables of their scripts. */
#ifndef EXPERIMENTS_EXP_SWEEP_PLOT_H
#define EXPERIMENTS_EXP_SWEEP_PLOT_H

#include "experiments/base/exp_plot.h"
#include "experiments/sweep/exp_sweep_report.h"

enum { EXP_N_SWEEP_VARIABLES = 7 };

/*
 * machine, cost_label; x_key, y_key: the first two keys with more than one value, or ""; x_values, y_values: these,
 * each in quotes; shown_algos. The variables point into text: must stay where it is.
 */
struct exp_sweep_plot {
    char text[EXP_N_SWEEP_VARIABLES][2048];
    struct exp_plot_variable variable[EXP_N_SWEEP_VARIABLES];
};

void exp_sweep_plot_init(struct exp_sweep_plot *p, const struct exp_sweep_report *r);

#endif
