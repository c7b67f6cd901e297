/*
 * CSA's equations beside replays through caches that differ in what the equations do not know (left_out.def): how much
 * each of it matters.
 */
#ifndef EXPERIMENTS_EXP_STUDY_ABLATION_H
#define EXPERIMENTS_EXP_STUDY_ABLATION_H

#include "experiments/base/exp_error.h"
#include "experiments/study/exp_study_terms.h"
#include "experiments/study/exp_study_variant.h"

/*
 * CSA's plans of a sample on a machine, replayed through each of the caches; without layers where there are none such.
 */
struct exp_study_ablation {
    struct exp_study_terms terms[EXP_STUDY_N_LEFT_OUT];
};

/* Returns what Eq. 6 makes of the counts, of those through the caches as they are; NaN where there are none. */
double exp_study_ablation_cycles(const struct exp_study_ablation *a, size_t left_out, enum csa_schedule schedule);

void exp_study_ablation_release(struct exp_study_ablation *a);

/* Writes left_out.csv of n machines. Returns 0, or -errno with one line in why. */
int exp_study_ablation_write(const struct exp_study_ablation *a, size_t n, const struct exp_outdir *dir,
                             const char *what, struct exp_why *why);
void exp_study_ablation_print(const struct exp_study_ablation *a, size_t n, FILE *out);
void exp_study_ablation_document(FILE *out);

#endif
