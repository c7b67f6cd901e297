/*
 * A model of Base, as csa2 is one of SConv: few terms (base_terms.def), costs fitted to a source's training layers.
 */
#ifndef EXPERIMENTS_EXP_STUDY_BASE_H
#define EXPERIMENTS_EXP_STUDY_BASE_H

#include "experiments/base/exp_error.h"
#include "experiments/study/exp_study_source.h"

enum exp_study_base_term {
#define BASE_TERM(upper, ...) EXP_STUDY_BASE_##upper,
#include "experiments/study/base_terms.def"
#undef BASE_TERM
    EXP_STUDY_N_BASE_TERMS
};

struct exp_study_base {
    double cost[EXP_STUDY_N_BASE_TERMS];
};

/* Counts Base's work on a layer of a source, for a micro-kernel of m's speed; amount[EXP_STUDY_N_BASE_TERMS]. */
void exp_study_base_count(const struct exp_study_source *s, const struct csa2_machine *m, const struct conv_problem *p,
                          enum csa2_state state, double *amount);

/* Fits the costs. Returns 0 or -ENOMEM with one line in why. */
int exp_study_base_fit(struct exp_study_base *b, const struct exp_study_source *s, struct exp_why *why);

/* Returns the cycles of such work. */
double exp_study_base_cycles(const struct exp_study_base *b, const double *amount);

/* Floats of a machine's vectors. */
double exp_study_lanes(const struct exp_study_source *s);

#endif
