/*
 * Which lines are looked for on a computer, after which patterns: the table in exp_probes.c, written out as the rows
 * that a file of times has.
 */
#ifndef EXPERIMENTS_EXP_PROBES_H
#define EXPERIMENTS_EXP_PROBES_H

#include "experiments/calibrate/exp_timed.h"

/* Returns 0 with rows that have no times yet, or -ENOMEM with *t empty. exp_timed_release frees them. */
int exp_probes_list(struct exp_timed *t);

#endif
