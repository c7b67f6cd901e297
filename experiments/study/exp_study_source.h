/*
 * Sources of times: computers that were recorded, as results/reference/<machine>/times/times.csv has them (the format
 * is described there), or this one. Beside each recorded layer stands what the cost models say of it. Costs are fitted
 * to times: sums of amounts of work times costs, none of them negative, that come closest to the times by ratio. An
 * outlier counts less: beyond 4 % its weight falls with the error.
 */
#ifndef EXPERIMENTS_EXP_STUDY_SOURCE_H
#define EXPERIMENTS_EXP_STUDY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/record/record.h"
#include "experiments/setup/exp_case.h"
#include "experiments/setup/exp_model.h"
#include "kernels/csa/csa2.h"
#include "sim/machine/machine.h"

/* ---- times ---- */

/* One algorithm's run of a layer. */
struct exp_study_time {
    double cycles;              /* NaN: not recorded */
    double other_cycles;        /* the same by the recording's second measure; NaN: there is none */
    const struct conv_ukr *ukr; /* SConv's; NULL: not SConv, or not in this build's table */
    size_t n_c, k2, k3;         /* of an SConv plan */
};

/* A layer in a state of the caches. */
struct exp_study_point {
    const struct exp_model *model;
    const struct exp_layer *layer;
    enum csa2_state state;
    bool is_training;                        /* models may be fitted to it */
    double weight;                           /* all points of the same shape and state weigh as much as one */
    struct exp_study_time time[EXP_N_ALGOS]; /* by number in algos.def */
};

struct exp_study_times {
    const char *path;
    struct exp_study_point *point;
    size_t n;
};

/* Tells whether models may be fitted to layers of this shape: a hash of its fields is even. */
bool exp_study_is_training(const struct conv_problem *p);

/*
 * Reads a table of times for those layers of the models that it has; path must outlive t. clock_ghz turns nanoseconds
 * into cycles where a row has no counted cycles. Returns 0, or -errno with one line in why.
 */
int exp_study_times_read(struct exp_study_times *t, const char *path, const struct exp_models *models, double clock_ghz,
                         struct exp_why *why);
void exp_study_times_release(struct exp_study_times *t);

extern const struct rec_table exp_study_times_table;

/* Returns the number of an algorithm of algos.def; it must be there. */
size_t exp_study_algo(const char *name);

/* Tells whether both schedules of the paper's SConv were timed. */
bool exp_study_has_schedules(const struct exp_study_point *point);

/* ---- costs ---- */

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

/* ---- sources ---- */

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
