/*
 * Recorded times: what real computers took for whole layers, as results/reference/<machine>/times/times.csv has them.
 * The format is described there.
 */
#ifndef EXPERIMENTS_EXP_STUDY_TIMES_H
#define EXPERIMENTS_EXP_STUDY_TIMES_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_case.h"
#include "experiments/setup/exp_models.h"
#include "kernels/csa/csa2.h"

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

/* Sets the weights of points that were made otherwise. */
void exp_study_times_weigh(struct exp_study_times *t);

/* Returns the number of an algorithm of algos.def; it must be there. */
size_t exp_study_algo(const char *name);

/* Makes the tiling that ran. */
struct csa_tiling exp_study_tiling(const struct exp_study_point *point, size_t algo);

/* Tells whether both schedules of the paper's SConv were timed. */
bool exp_study_has_schedules(const struct exp_study_point *point);

#endif
