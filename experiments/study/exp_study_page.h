/* The study's page: the answer, what was reached, and the tables. */
#ifndef EXPERIMENTS_EXP_STUDY_PAGE_H
#define EXPERIMENTS_EXP_STUDY_PAGE_H

#include <stdio.h>

#include "experiments/study/exp_study_hybrid.h"
#include "experiments/study/exp_study_sensitivity.h"
#include "experiments/study/exp_study_terms.h"
#include "experiments/study/exp_study_tilings.h"

struct exp_study_page {
    const char *what; /* one line of provenance */
    const struct exp_study_source *source;
    const struct exp_study_base *base; /* of each source */
    size_t n_sources;
    const struct exp_study_terms *terms;
    size_t n_terms;
    const struct exp_study_tilings *tilings;
    size_t n_tilings;
    const struct exp_study_sensitivity *sensitivity; /* [EXP_STUDY_N_VARIANTS] */
    const char *varied;                              /* the machine whose caches they vary */
};

/* Prints the page in Markdown. */
void exp_study_page_print(const struct exp_study_page *p, FILE *out);

/* Prints the answer and what was reached: for the terminal. */
void exp_study_page_summary(const struct exp_study_page *p, FILE *out);

#endif
