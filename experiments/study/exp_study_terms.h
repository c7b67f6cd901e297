/*
 * CSA term by term: the lines of each equation beside those that the replay counts, caches alone, over all layers; what
 * becomes of the difference when something that the equations do not know is left out of the counts; and CSA's plans
 * replayed through caches that differ in such a thing (left_out.def): how much each matters.
 */
#ifndef EXPERIMENTS_EXP_STUDY_TERMS_H
#define EXPERIMENTS_EXP_STUDY_TERMS_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/base/exp_stats.h"
#include "experiments/record/record.h"
#include "experiments/study/exp_study_runs.h"
#include "experiments/study/exp_study_source.h"
#include "experiments/study/exp_study_variants.h"

/* CSA's plans of both schedules on a machine, replayed. */
struct exp_study_terms {
    const char *name;
    struct sim_machine machine;
    struct csa_caches caches;
    struct exp_study_runs runs; /* EXP_STUDY_SCHEDULES */
};

/* An equation over the layers. */
struct exp_study_agreement {
    size_t n;                    /* layers */
    double predicted, simulated; /* sums */
    struct exp_spread spread;    /* predicted / simulated, where the latter is not 0 */
    double rank;                 /* correlation over the layers */
    size_t n_neither, n_one;     /* layers where both are 0; where one is */
};

enum exp_study_equation {
#define EQUATION(upper, ...) EXP_STUDY_##upper,
#include "experiments/study/equations.def"
#undef EQUATION
    EXP_STUDY_N_EQUATIONS
};

extern const struct rec_table exp_study_terms_table, exp_study_ablation_table;

/* Compares an equation with the replay over all layers, in one schedule. */
struct exp_study_agreement exp_study_agreement_of(const struct exp_study_terms *t, enum exp_study_equation equation,
                                                  enum csa_schedule schedule, enum exp_study_without without);

/* Gives a source's cold points what the replay of the same machine says of them. */
void exp_study_terms_tell(const struct exp_study_terms *t, struct exp_study_source *s);

/* Writes terms.csv. Returns 0, or -errno with one line in why. */
int exp_study_terms_write(const struct exp_study_terms *t, size_t n, const struct exp_outdir *dir, const char *what,
                          struct exp_why *why);
void exp_study_terms_print(const struct exp_study_terms *t, size_t n, FILE *out);
void exp_study_terms_document(FILE *out);

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
