/*
 * Choices of a schedule, held against the clock: how often a rule chooses the faster one, and what its choices cost.
 */
#ifndef EXPERIMENTS_EXP_STUDY_CHOICES_H
#define EXPERIMENTS_EXP_STUDY_CHOICES_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/base/exp_stats.h"
#include "experiments/record/record.h"
#include "experiments/study/exp_study_source.h"

enum exp_study_rule {
#define RULE(upper, ...) EXP_STUDY_##upper,
#include "experiments/study/rules.def"
#undef RULE
    EXP_STUDY_N_RULES
};

const char *exp_study_rule_title(enum exp_study_rule rule);

/* Says which points are summed up. */
enum exp_study_part { EXP_STUDY_ALL, EXP_STUDY_TRAINING, EXP_STUDY_OTHERS, EXP_STUDY_N_PARTS };

const char *exp_study_part_name(enum exp_study_part part);
extern const char *const exp_study_state_names[CSA2_N_STATES];

struct exp_study_tally {
    size_t n;                          /* layers where the rule chooses and both schedules were timed */
    size_t n_right;                    /* the faster one was chosen */
    size_t n_decided, n_decided_right; /* of those where the recording's two measures agree */
    size_t n_is;                       /* input stationary was chosen */
    double chosen, best;               /* cycles */
    double right_percent, decided_right_percent, regret_percent; /* of the best */
};

/* Sums up what a rule chooses. */
struct exp_study_tally exp_study_tally_of(const struct exp_study_source *s, enum exp_study_rule rule,
                                          enum csa2_state state, enum exp_study_part part);

enum { EXP_STUDY_MOST_TIE_PERCENT = 20 };

/*
 * Fits csa2's tie (csa2_costs.def) to the training layers: of 0, 1, ... percent, the one whose choices cost least time,
 * the largest of equals. NaN: there are no such layers.
 */
double exp_study_tie_of(const struct exp_study_source *s, enum csa2_state state);

/* Says how far csa2's cycles are from the clock, both schedules; and the rank correlation of log(IS / WS). */
struct exp_study_accuracy {
    struct exp_spread spread;
    double rank;
};

struct exp_study_accuracy exp_study_accuracy_of(const struct exp_study_source *s, enum csa2_state state,
                                                enum exp_study_part part);

/*
 * Returns how far the recording is from itself: times of layers, both schedules, over the median of the layers of the
 * same shape, where there are three of them at least.
 */
struct exp_spread exp_study_repeats_of(const struct exp_study_source *s, enum csa2_state state);

/* What one of a term of csa2 costs: a row of costs.csv. */
struct exp_study_cost {
    const char *machine;
    struct csa2_term_record term;
    double cycles, fitted;
};

extern const struct rec_table exp_study_choices_table, exp_study_predictions_table, exp_study_costs_table;

/* Write choices.csv, predictions.csv and costs.csv. Return 0, or -errno with one line in why. */
int exp_study_choices_write(const struct exp_study_source *source, size_t n, const struct exp_outdir *dir,
                            const char *what, struct exp_why *why);

/* Prints the tables of the page. */
void exp_study_choices_print(const struct exp_study_source *source, size_t n, FILE *out);

void exp_study_choices_document(FILE *out);

#endif
