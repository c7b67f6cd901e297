/*
 * Gives the figures of a judgement what they know, as variables of their scripts:
 *
 *   machine, first_level, figure_letter   of the simulated machine, and of the paper's figures about it
 *   variant_names, variant_titles, variant_labels   exp_judge_variants.h; labels in quotes
 *   yardstick_names, yardstick_labels, yardstick_colours   exp_judge_yardsticks.h; labels in quotes
 */
#ifndef EXPERIMENTS_EXP_JUDGE_PLOT_H
#define EXPERIMENTS_EXP_JUDGE_PLOT_H

#include "experiments/base/exp_plot.h"
#include "experiments/judge/exp_judge.h"

enum { EXP_N_JUDGE_LISTS = 6, EXP_N_JUDGE_VARIABLES = 3 + EXP_N_JUDGE_LISTS };

/* The variables point into text: must stay where it is. */
struct exp_judge_plot {
    char text[EXP_N_JUDGE_LISTS][(EXP_N_VARIANTS + EXP_N_YARDSTICKS) * 64];
    struct exp_plot_variable variable[EXP_N_JUDGE_VARIABLES];
};

/*
 * Fills the variables. m, whose names are pointed to, must outlive p; arch is the paper's machine ("P10") or another.
 */
void exp_judge_plot_init(struct exp_judge_plot *p, const struct sim_machine *m, const char *arch);

#endif
