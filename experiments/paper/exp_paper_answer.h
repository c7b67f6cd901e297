/*
 * The answer: whether the paper's claim holds, that SConv is faster than Base because it misses the caches less. Only
 * what was timed, counted or replayed through the paper's own caches has a say; estimates have none.
 */
#ifndef EXPERIMENTS_EXP_PAPER_ANSWER_H
#define EXPERIMENTS_EXP_PAPER_ANSWER_H

#include <stdio.h>

#include "experiments/paper/exp_paper_report.h"

/* Prints one sentence, and a line for each number that it follows from. */
void exp_paper_answer_print(const struct exp_paper_findings *f, FILE *out);

/* The same with lines that are no longer than a terminal's, of a struct exp_paper_findings. Returns 0 or -ENOMEM. */
int exp_paper_verdict_print(const void *findings, FILE *out);

#endif
