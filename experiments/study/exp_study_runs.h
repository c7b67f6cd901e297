/*
 * Runs of SConv that are compared: of each layer of a sample, the tilings of all methods (methods.def) and those of an
 * exhaustive search, each once.
 */
#ifndef EXPERIMENTS_EXP_STUDY_RUNS_H
#define EXPERIMENTS_EXP_STUDY_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_algo.h"
#include "experiments/setup/exp_model.h"
#include "kernels/csa/csa2.h"

enum exp_study_method {
#define METHOD(upper, ...) EXP_STUDY_##upper,
#include "experiments/study/methods.def"
#undef METHOD
    EXP_STUDY_N_METHODS,
    EXP_STUDY_CSA2S = EXP_STUDY_N_METHODS /* beside them: the tiling with the fewest cycles that csa2 predicts */
};

/* Return how a method is called, or csa2. */
const char *exp_study_method_name(size_t method);
const char *exp_study_method_title(size_t method);

/* Says what is left out of a replay's counts: what CSA's equations do not know. */
enum exp_study_without {
    EXP_STUDY_WITHOUT_NOTHING,
    EXP_STUDY_WITHOUT_PACKING, /* what packing reads */
    EXP_STUDY_WITHOUT_OUTPUT,  /* what is read of the output to add to it */
    EXP_STUDY_WITHOUT_BOTH,
    EXP_STUDY_N_WITHOUT,
};

/* A replay's counts, caches alone, cold. */
struct exp_study_counts {
    double served[EXP_STUDY_N_WITHOUT][3]; /* loads that L2, L3 and memory served */
    double lines_in;                       /* lines that loads and stores brought into L1 */
};

struct exp_study_run {
    const struct exp_layer *layer;
    struct csa_tiling tiling;
    const struct conv_ukr *ukr;
    double csa2_cycles;             /* predicted, cold */
    double csa_cycles;              /* Eq. 6 with the lines that CSA predicts for this tiling */
    struct exp_study_counts counts; /* if replayed */
    double sim_cycles;              /* Eq. 6 with simulated counts; NaN: not replayed */
    double ns, other_ns;            /* timed: fastest run; second fastest. NaN: not timed */
};

struct exp_study_runs_layer {
    const struct exp_model *model;
    const struct exp_layer *layer;
    bool is_training;
    size_t n_same;                         /* layers of this shape in all models */
    size_t first, n;                       /* runs */
    size_t of_method[EXP_STUDY_N_METHODS]; /* which run is what the method plans */
};

/* Must stay where they are: runs may point to the square micro-kernel. */
struct exp_study_runs {
    struct exp_study_runs_layer *layer;
    size_t n_layers;
    struct exp_study_run *run;
    size_t n;
    struct conv_ukr square; /* without a name where there is none */
    char square_name[64];
};

/* Says which runs there are of a layer. */
enum exp_study_scope {
    EXP_STUDY_SCHEDULES, /* CSA's plans of both schedules */
    EXP_STUDY_SEARCH,    /* those of all methods, and an exhaustive search */
    /* and CSA's plans for all micro-kernels of the instruction set that pack windows, and a square one */
    EXP_STUDY_SEARCH_UKRS,
};

struct exp_study_sampling {
    size_t n;         /* different shapes, spread evenly over those of the models by multiply-adds; 0: all */
    double most_macs; /* larger shapes are left out */
    enum exp_study_scope scope;
};

/* Samples layers and plans their runs for a machine. Returns 0 or -ENOMEM with one line in why. */
int exp_study_runs_make(struct exp_study_runs *r, const struct exp_models *models,
                        const struct exp_study_sampling *sampling, const struct sim_machine *m,
                        const struct conv_ukr *ukr, struct exp_why *why);
void exp_study_runs_release(struct exp_study_runs *r);

/* Returns a cost of a run: the double at this offset. */
double exp_study_run_cost(const struct exp_study_run *run, size_t member);

/* Returns the run of a layer where it is lowest; runs where it is NaN are left out. Returns SIZE_MAX if all are. */
size_t exp_study_runs_best(const struct exp_study_runs *r, size_t layer, size_t member);

/* Returns the run of a layer of this shape in a schedule that CSA planned; NULL if there is none. */
const struct exp_study_run *exp_study_runs_find(const struct exp_study_runs *r, const struct conv_problem *p,
                                                enum csa_schedule schedule);

/*
 * Returns a layer's run with CSA's plan of a schedule for a micro-kernel, its own or another one; NULL if there is
 * none.
 */
const struct exp_study_run *exp_study_runs_planned(const struct exp_study_runs *r, size_t layer,
                                                   const struct conv_ukr *ukr, enum csa_schedule schedule);

/* Returns the micro-kernels of the runs, by number; NULL past the last. */
const struct conv_ukr *exp_study_runs_ukr(const struct exp_study_runs *r, size_t i);

/* Returns the run of a layer that a method plans, or that csa2 chooses. */
size_t exp_study_runs_of(const struct exp_study_runs *r, size_t layer, size_t method);

/*
 * Replays all runs through a machine's caches alone: counts, sim_cycles. Returns 0, or -EINTR, -ENOMEM with one line in
 * why. setup must be of that machine and plain.
 */
int exp_study_runs_replay(struct exp_study_runs *r, const struct exp_setup *setup, unsigned n_threads,
                          struct exp_why *why);

#endif
