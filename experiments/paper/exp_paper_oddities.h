/* The paper's numbers against each other: what its other numbers make of a printed one (oddities.def). */
#ifndef EXPERIMENTS_EXP_PAPER_ODDITIES_H
#define EXPERIMENTS_EXP_PAPER_ODDITIES_H

#include <stdio.h>

#include "experiments/setup/exp_published.h"

/* Prints them as a Markdown list, the arithmetic shown; then Table 2's whole models against Amdahl's law. */
void exp_paper_oddities_print(const struct exp_published *p, FILE *out);

/* A published number; NaN if there is none. */
double exp_paper_published(const struct exp_published *p, const char *figure, const char *model, const char *arch,
                           const char *metric);

#endif
