/*
 * The figures of `make polydl`, and what their scripts know beside `figures` and `what`, as variables:
 *
 *   ranking_names, ranking_titles   in the order of EXP_EACH_RANKING; titles in quotes
 */
#ifndef EXPERIMENTS_EXP_RANK_PLOT_H
#define EXPERIMENTS_EXP_RANK_PLOT_H

#include <stddef.h>

#include "experiments/base/exp_plot.h"

enum { EXP_N_RANK_VARIABLES = 2 };

/* The variables point into the texts: must stay where it is. */
struct exp_rank_plot {
    char names[256], titles[256];
    struct exp_plot_variable variable[EXP_N_RANK_VARIABLES];
};

void exp_rank_plot_init(struct exp_rank_plot *p);

#endif
