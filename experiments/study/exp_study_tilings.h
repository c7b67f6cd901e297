/*
 * Finds how good tilings are: those of each method beside the best of an exhaustive search, by the replay and by the
 * clock; and whether the models order the tilings of a layer as the clock does.
 */
#ifndef EXPERIMENTS_EXP_STUDY_TILINGS_H
#define EXPERIMENTS_EXP_STUDY_TILINGS_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/study/exp_study_choices.h"
#include "experiments/study/exp_study_runs.h"
#include "experiments/study/exp_study_source.h"

/* Says what runs are compared by. */
enum exp_study_measure { EXP_STUDY_BY_CLOCK, EXP_STUDY_BY_REPLAY };

/* The runs of a sample on a machine. */
struct exp_study_tilings {
    const char *name; /* of the machine, or "here" */
    enum exp_study_measure measure;
    struct sim_machine machine;
    struct csa2_machine model;
    const struct conv_ukr *ukr; /* that all methods plan for */
    struct exp_study_runs runs;
};

/*
 * Fits csa2's costs to the timed runs of the training layers, all tilings and micro-kernels, and predicts all runs with
 * them. Returns 0 or -ENOMEM with one line in why.
 */
int exp_study_tilings_fit(struct exp_study_tilings *t, struct exp_why *why);

/*
 * Makes a source of the timed schedules of CSA's plans, as if they had been recorded, with what their replay says
 * beside them: those of the micro-kernel that all methods plan for (NULL), or of another one, of which there may be
 * none.
 */
int exp_study_tilings_source(const struct exp_study_tilings *t, const struct conv_ukr *other,
                             struct exp_study_source *s, struct exp_why *why);

/* Sums up, over the layers of a part, the speed of a method's tilings, of that of the best ones found. */
struct exp_study_speed {
    size_t n;
    double percent, p10_percent; /* geometric mean; what nine layers of ten exceed */
};

struct exp_study_speed exp_study_method_speed(const struct exp_study_tilings *t, size_t method,
                                              enum exp_study_part part);

/* Returns the rank correlation over the tilings of one layer with a cost of runs (by offset): median of the layers. */
double exp_study_rank(const struct exp_study_tilings *t, size_t predicted, enum exp_study_part part);

/* Returns what the clock allows: the speed of the tilings that are the best ones by their median rounds. */
struct exp_study_speed exp_study_other_speed(const struct exp_study_tilings *t, enum exp_study_part part);

extern const struct rec_table exp_study_tilings_table, exp_study_methods_table;

/* Writes tilings.csv and methods.csv. Returns 0, or -errno with one line in why. */
int exp_study_tilings_write(const struct exp_study_tilings *t, size_t n, const struct exp_outdir *dir, const char *what,
                            struct exp_why *why);
void exp_study_tilings_print(const struct exp_study_tilings *t, size_t n, FILE *out);
void exp_study_tilings_document(FILE *out);

#endif
