/*
 * What a result folder's figures are drawn with, kept beside its tables in figures.txt, so that they can be drawn again
 * from the folder alone:
 *
 *     # a comment
 *     figure: miss_rates_model
 *     machine: clx4208: Intel Xeon Silver 4208
 *
 * A line `figure` for each figure, and one for each variable of their scripts; titles and colours may be edited. The
 * variable `figures`, the folder of the scripts, is not kept: results that somebody sent must not bring scripts along.
 */
#ifndef EXPERIMENTS_EXP_PLOT_RECIPE_H
#define EXPERIMENTS_EXP_PLOT_RECIPE_H

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_plot.h"

#define EXP_PLOT_RECIPE_FILE "figures.txt"
#define EXP_PLOT_SCRIPTS_VARIABLE "figures"

struct exp_plot_recipe {
    struct exp_plot_figures figures; /* points into what follows */
    char *text;
    const char **figure;
    struct exp_plot_variable *variable;
};

/* Writes figures.txt into f->out_dir. Returns 0, or -errno with one line in why. */
int exp_plot_recipe_write(const struct exp_plot_figures *f, struct exp_why *why);

/*
 * Reads the figures.txt of a folder; scripts_dir becomes the variable `figures`. Both paths must outlive r. Returns 0,
 * or with one line in why: -errno of reading; -EFBIG for more than 1 MiB; -EINVAL for a line that is malformed; -ENOMEM.
 */
int exp_plot_recipe_read(struct exp_plot_recipe *r, const char *folder, const char *scripts_dir, struct exp_why *why);

void exp_plot_recipe_release(struct exp_plot_recipe *r); /* one that was not read is fine */

/* Keeps how the figures are drawn, then draws them. Returns as exp_plot_figures. */
int exp_plot_recipe_draw(const struct exp_plot_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why);

#endif
