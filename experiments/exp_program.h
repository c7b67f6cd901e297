/* What the programs of this folder do alike when they end. Other modules never print. */
#ifndef EXPERIMENTS_EXP_PROGRAM_H
#define EXPERIMENTS_EXP_PROGRAM_H

#include <stddef.h>

enum { EXP_EXIT_BAD_INPUT = 2 };

/* Says on standard error that a figure is missing, and why: an exp_plot_report_fn whose ctx is the program's name. */
void exp_program_report_figure(void *program, const char *file, int err, const char *why);

/*
 * Writes standard output through; says on standard error what went wrong, if anything; ends by the signal that
 * interrupted the program, if one did. Returns the exit status. To be called after everything has been released.
 */
int exp_program_end(const char *program, int err, char *why, size_t why_bytes);

#endif
