/*
 * Programs that are started outside of the project's folder. Layer tables, machines, figures' scripts and recorded
 * numbers are in that folder, or in PREFIX/share/convsim of an installed program, so the program goes there; the paths
 * that the user gave stay what they are.
 */
#ifndef EXPERIMENTS_EXP_ELSEWHERE_H
#define EXPERIMENTS_EXP_ELSEWHERE_H

#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_options.h"

/* The command line as it reads in the project's folder. */
struct exp_elsewhere {
    char **argv; /* NULL: the program was started there */
    int argc, n_given;
};

/*
 * Goes to the project's folder, which is found by where the program is, unless this is one. The options of the table
 * were read from argv. Returns 0; -ENOENT with one line in why if there is none; -ENOMEM; -errno of going there.
 */
int exp_elsewhere_enter(struct exp_elsewhere *e, const struct exp_option *table, const void *options, int argc,
                        char **argv, struct exp_why *why);

void exp_elsewhere_release(struct exp_elsewhere *e); /* a half-built one is fine */

#endif
