/*
 * The figures of one experiment, drawn from its CSV files alone (experiments/figures/README.md).
 */
#ifndef EXPERIMENTS_EXP_FIGURES_H
#define EXPERIMENTS_EXP_FIGURES_H

#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_plot.h"

struct exp_figures {
    const char *experiments_dir; /* holds figures/ and published/ */
    const char *dir;             /* has the CSV files, gets <figure>.png and <figure>.svg */
    char machine[512];           /* one line each, for the titles: the simulated machine; */
    char simulator[256];         /* what simulated it and how; */
    char host[512];              /* where and by what it was measured; */
    char observed[256];          /* by what streams were observed */
    char arch[16];               /* "x86" or "P10": whose published numbers to show; "" for none */
    char levels[64];             /* names of the levels that stand for L1, L2, L3 in the columns: "L1 L2 SLC" */
};

/*
 * Draws every figure, and keeps how (exp_plot.h). Reports and returns as exp_plot_figures, and -errno of reading
 * the CSV files.
 */
int exp_figures_draw(const struct exp_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why);

#endif
