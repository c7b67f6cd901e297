/*
 * Fits costs to times: sums of amounts of work times costs, none of them negative, that come closest to the times by
 * ratio. An outlier counts less: beyond 4 % its weight falls with the error.
 */
#ifndef EXPERIMENTS_EXP_STUDY_FIT_H
#define EXPERIMENTS_EXP_STUDY_FIT_H

#include <stddef.h>

enum { EXP_STUDY_MAX_TERMS = 16 };

struct exp_study_sample {
    double amount[EXP_STUDY_MAX_TERMS];
    double cycles; /* > 0 */
    double weight;
};

/* Fits cost[n_terms], n_terms <= EXP_STUDY_MAX_TERMS. */
void exp_study_fit(const struct exp_study_sample *sample, size_t n, size_t n_terms, double *cost);

/* Returns the sum of amounts times costs. */
double exp_study_sum(const struct exp_study_sample *sample, size_t n_terms, const double *cost);

#endif
