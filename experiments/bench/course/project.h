/*
 * Programs that are started outside of the project's folder. Layer tables, machines, figures' scripts and recorded
 * numbers are in the project's folder, or in PREFIX/share/convsim of an installed program, so the program changes to
 * this folder; the user's relative paths become absolute.
 */
#ifndef EXPERIMENTS_BENCH_COURSE_PROJECT_H
#define EXPERIMENTS_BENCH_COURSE_PROJECT_H

#include "experiments/base/error.h"
#include "experiments/bench/course/options.h"

/* The command line as the project's folder needs it. */
struct exp_command_line {
    char **argv; /* NULL: the program was started in the project's folder */
    int argc, n_given;
};

/*
 * Changes to the project's folder, found from the program's path, unless the program runs there. The options of the
 * table were read from argv. Returns 0; -ENOENT with one line in why without a folder; -errno of changing the folder.
 */
int exp_project_enter(struct exp_command_line *e, const struct exp_option *table, const void *options, int argc,
                      char **argv, struct exp_why *why);

void exp_command_line_release(struct exp_command_line *e); /* a half-built command line is fine */

#endif
