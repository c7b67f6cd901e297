/*
 * Runs of SConv that are compared: of each layer of a sample, the tilings of all methods (methods.def) and those of an
 * exhaustive search, each once.
 */
#ifndef EXPERIMENTS_EXP_STUDY_RUNS_H
#define EXPERIMENTS_EXP_STUDY_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/setup/exp_algo.h"
#include "experiments/setup/exp_models.h"
#include "kernels/csa2.h"

enum exp_study_method {
#define METHOD(upper, ...) EXP_STUDY_##upper,
#include "experiments/study/methods.def"
#undef METHOD
    EXP_STUDY_N_METHODS
};

const char *exp_study_method_name(size_t method);
const char *exp_study_method_title(size_t method);

struct exp_study_run {
    const struct exp_layer *layer;
    struct csa_tiling tiling;
    const struct conv_ukr *ukr;
    double csa2_cycles;  /* predicted, cold */
    double csa_cycles;   /* Eq. 6 with the lines that CSA predicts for this tiling */
    double sim_cycles;   /* Eq. 6 with simulated counts; NaN: not replayed */
    double ns, other_ns; /* timed: fastest run; second fastest. NaN: not timed */
};

struct exp_study_runs_layer {
    const struct exp_model *model;
    const struct exp_layer *layer;
    bool is_training;
    size_t first, n;                       /* runs */
    size_t of_method[EXP_STUDY_N_METHODS]; /* which run is what the method plans */
};

struct exp_study_runs {
    struct exp_study_runs_layer *layer;
    size_t n_layers;
    struct exp_study_run *run;
    size_t n;
};

/*
 * Samples n different shapes, 0: all, spread evenly over the models' shapes by multiply-adds, and plans their runs for
 * a machine. Shapes of more than most_macs are left out. With other_ukrs, CSA's plans for all micro-kernels of ukr's
 * instruction set that pack windows are runs, too. Returns 0 or -ENOMEM with one line in why.
 */
int exp_study_runs_make(struct exp_study_runs *r, const struct exp_models *models, size_t n, double most_macs,
                        const struct sim_machine *m, const struct conv_ukr *ukr, bool other_ukrs, char *why,
                        size_t why_bytes);
void exp_study_runs_release(struct exp_study_runs *r);

/* Returns the run of a layer with the lowest cost; runs whose cost is NaN are left out. Returns SIZE_MAX if all are. */
size_t exp_study_runs_best(const struct exp_study_runs *r, size_t layer,
                           double (*cost)(const struct exp_study_run *run));

/* Returns the run that csa2 chooses: CSA's schedules unless another is faster by more than a tie. */
size_t exp_study_runs_csa2(const struct exp_study_runs *r, size_t layer);

/*
 * Replays all runs through a machine's caches alone: sim_cycles. Returns 0, or -EINTR, -ENOMEM with one line in why.
 * setup must be of that machine and plain.
 */
int exp_study_runs_replay(struct exp_study_runs *r, const struct exp_setup *setup, unsigned n_threads, char *why,
                          size_t why_bytes);

#endif
