/*
 * A source of times: a computer that was recorded, or this one. Beside each recorded layer stands what the cost models
 * say of it.
 */
#ifndef EXPERIMENTS_EXP_STUDY_SOURCE_H
#define EXPERIMENTS_EXP_STUDY_SOURCE_H

#include "experiments/base/exp_error.h"
#include "experiments/study/exp_study_fit.h"
#include "experiments/study/exp_study_times.h"
#include "sim/machine/machine.h"

/* Holds what is known of a point's schedule beside its time. */
struct exp_study_view {
    double csa_cycles;  /* Eq. 6, predicted */
    double csa2_cycles; /* with the committed costs */
    double lines;       /* simulated: lines that its loads and stores bring into L1; NaN: not replayed */
    double sim_cycles;  /* Eq. 6 with simulated counts; NaN: not replayed */
};

/* Must stay where it is. */
struct exp_study_source {
    const char *name; /* "zen3", "spr", "here"; of other tiles "here 16x16": windows x filters */
    char tile_name[64];
    bool is_other_tile; /* of the same computer's source: another micro-kernel than it would use */
    const char *other;  /* what the second measure is */
    struct sim_machine machine;
    struct csa_caches caches; /* as CSA sees them */
    struct csa2_machine model;
    struct exp_study_times times;
    struct exp_study_view (*view)[CSA_N_SCHEDULES]; /* [times.n] */
    double fitted[CSA2_N_TERMS];                    /* costs, fitted anew to the training points */
};

/* The recorded computers, by number; NULL past the last. */
const char *exp_study_recorded(size_t i);

/* Reads a recorded source. Returns 0, or -errno with one line in why. */
int exp_study_source_read(struct exp_study_source *s, const char *name, const struct exp_models *models,
                          struct exp_why *why);

/*
 * Fills the views of points that are there, and fits; machine and model are set. Returns 0 or -ENOMEM with one line in
 * why.
 */
int exp_study_source_finish(struct exp_study_source *s, struct exp_why *why);
void exp_study_source_release(struct exp_study_source *s);

/* Returns the time of a schedule. */
const struct exp_study_time *exp_study_schedule_time(const struct exp_study_point *p, enum csa_schedule schedule);

/* Makes the tiling that ran, of a schedule. */
struct csa_tiling exp_study_schedule_tiling(const struct exp_study_point *p, enum csa_schedule schedule);

/* Tells whether both measures of the recording say that the same schedule is faster. */
bool exp_study_decides(const struct exp_study_point *p);

#endif
