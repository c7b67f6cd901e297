/*
 * The verdict of an experiment (exp_verdict.h): every algorithm that ran against base, SConv's two schedules as the one
 * that CSA chose.
 */
#ifndef EXPERIMENTS_EXP_ANSWER_H
#define EXPERIMENTS_EXP_ANSWER_H

#include "experiments/base/exp_error.h"
#include "experiments/report/exp_report.h"

/* Writes verdict.txt, with all its rows. Returns 0, or -errno with one line in why. */
int exp_answer_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why);

/*
 * Does the same for the terminal, where a long table is left to the file and the answer comes last. Returns 0, or
 * -ENOMEM with a line in why.
 */
int exp_answer_print(const struct exp_report *r, FILE *out, struct exp_why *why);

#endif
