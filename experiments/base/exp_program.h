/* What the programs of this folder do alike when they end. Other modules never print. */
#ifndef EXPERIMENTS_EXP_PROGRAM_H
#define EXPERIMENTS_EXP_PROGRAM_H

#include <stddef.h>

#include "experiments/base/exp_error.h"

enum { EXP_EXIT_BAD_INPUT = 2 };

/* Who draws figures, and the folder where the user will find them. */
struct exp_program_figures {
    const char *program, *dir;
};

/*
 * Lists a figure on standard output, and one that is missing with its reason. The reason goes to standard error as
 * well, unless it is that there is no data for the figure. An exp_plot_report_fn whose ctx is a struct
 * exp_program_figures.
 */
void exp_program_report_figure(void *figures, const char *file, int err, const char *why);

/*
 * Says how a program ends whose tables are in place: returns 0, or what drawing returned, with a line in why that says
 * what is missing.
 */
int exp_program_drawn(int drawn, struct exp_why *why);

/*
 * Writes standard output through; says on standard error what went wrong, if anything; ends by the signal that
 * interrupted the program, if one did, or by SIGPIPE if nobody reads its output any more. Returns the exit status. To
 * be called after everything has been released.
 */
int exp_program_end(const char *program, int err, struct exp_why *why);

#endif
