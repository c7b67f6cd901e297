/*
 * The numbers of the other papers (experiments/published/others.csv): checked where that can be, else with the reason.
 */
#ifndef EXPERIMENTS_EXP_PAPER_OTHER_PAPERS_H
#define EXPERIMENTS_EXP_PAPER_OTHER_PAPERS_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_table.h"

struct exp_paper_others {
    struct exp_table table;
    size_t paper, figure, workload, metric, value; /* columns */
    size_t n_checked, n_agree, n_unused;           /* unused: no line of other_papers.def fits */
};

/* Reads the table. Returns 0 or -errno with one line in why. */
int exp_paper_others_read(struct exp_paper_others *o, const char *experiments_dir, struct exp_why *why);
void exp_paper_others_release(struct exp_paper_others *o);

/* Prints them in Markdown: what was checked, then per paper what was not and why. Counts. */
int exp_paper_others_print(struct exp_paper_others *o, const char *experiments_dir, FILE *out, struct exp_why *why);

#endif
