/* The work of the study: recorded times are read, plans replayed, a sample timed, and the models fitted. */
#ifndef EXPERIMENTS_EXP_STUDY_WORK_H
#define EXPERIMENTS_EXP_STUDY_WORK_H

#include "experiments/base/exp_error.h"
#include "experiments/study/exp_study_base.h"
#include "experiments/study/exp_study_terms.h"
#include "experiments/study/exp_study_tilings.h"

enum { EXP_STUDY_MAX_SOURCES = 16, EXP_STUDY_MAX_TILINGS = 3, EXP_STUDY_N_PLANNED = 4 };

/* The machine whose caches are varied. */
extern const char exp_study_varied[];

/* Holds what the user asked for. */
struct exp_study_options {
    const char *model, *layers, *results, *commit;
    unsigned sample, timing, limit, ruler, jobs;
};

/* Starts as { 0 } but for the first four. Must stay where it is. */
struct exp_study_work {
    const struct exp_study_options *options;
    const struct exp_models *models;
    struct exp_why *why; /* one line, of what failed */
    struct exp_study_source source[EXP_STUDY_MAX_SOURCES];
    struct exp_study_base base[EXP_STUDY_MAX_SOURCES]; /* of each source */
    size_t n_sources;
    struct exp_study_tilings tilings[EXP_STUDY_MAX_TILINGS];
    size_t n_tilings;
    struct exp_setup setup[EXP_STUDY_MAX_TILINGS]; /* of those */
    struct exp_setup spare;                        /* of the machine whose plans are being replayed */
    struct exp_study_terms terms[EXP_STUDY_N_PLANNED];
    size_t n_terms;
    struct exp_study_ablation ablation[EXP_STUDY_N_PLANNED];
    struct exp_study_micro micro[EXP_STUDY_N_RATES];
    struct exp_study_sensitivity sensitivity[EXP_STUDY_N_VARIANTS];
};

/* Does it all. Returns 0, or -errno with one line in why. */
int exp_study_work(struct exp_study_work *w);
void exp_study_work_release(struct exp_study_work *w);

#endif
