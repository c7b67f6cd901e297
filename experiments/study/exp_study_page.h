/* The study's page: the answer, what was reached, and the tables. */
#ifndef EXPERIMENTS_EXP_STUDY_PAGE_H
#define EXPERIMENTS_EXP_STUDY_PAGE_H

#include <stdio.h>

#include "experiments/study/exp_study_work.h"

struct exp_study_page {
    const char *what; /* one line of provenance */
    const struct exp_study_work *work;
};

/* Prints the answer: whether the cost model deserves the credit, question by question, with numbers. */
void exp_study_answer_print(const struct exp_study_work *w, FILE *out);

/* Prints the page in Markdown. */
void exp_study_page_print(const struct exp_study_page *p, FILE *out);

/* Prints the answer and what was reached: for the terminal. */
void exp_study_page_summary(const struct exp_study_page *p, FILE *out);

#endif
