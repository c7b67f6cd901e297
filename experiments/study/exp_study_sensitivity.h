/*
 * Finds how CSA's choice of schedule depends on what the caches are like: the two schedules replayed on variants of a
 * machine (variants.def), CSA planning for each.
 */
#ifndef EXPERIMENTS_EXP_STUDY_SENSITIVITY_H
#define EXPERIMENTS_EXP_STUDY_SENSITIVITY_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/study/exp_study_runs.h"
#include "experiments/study/exp_study_variant.h"

/* Sums over the layers of the sample, in cycles of Eq. 6 with simulated counts. */
struct exp_study_sensitivity {
    size_t n, n_chosen_is, n_right; /* CSA chose IS; its choice has the fewer cycles */
    double is, ws, chosen, best;
};

/* Sums up replayed runs of scope EXP_STUDY_SCHEDULES. */
struct exp_study_sensitivity exp_study_sensitivity_of(const struct exp_study_runs *r);

/* Writes sensitivity.csv of all variants of a machine. Returns 0, or -errno with one line in why. */
int exp_study_sensitivity_write(const struct exp_study_sensitivity s[EXP_STUDY_N_VARIANTS], const char *machine,
                                const struct exp_outdir *dir, const char *what, struct exp_why *why);
void exp_study_sensitivity_print(const struct exp_study_sensitivity s[EXP_STUDY_N_VARIANTS], const char *machine,
                                 FILE *out);
void exp_study_sensitivity_document(FILE *out);

#endif
