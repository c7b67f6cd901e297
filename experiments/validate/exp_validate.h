/*
 * Recorded counts against replays of the same plans: each layer has the plan that ran, be it today's or not, what
 * cannot be planned any more is left out with the reason, and the rest is replayed twice, through the machine's caches
 * alone and through the machine.
 */
#ifndef EXPERIMENTS_EXP_VALIDATE_H
#define EXPERIMENTS_EXP_VALIDATE_H

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_progress.h"
#include "experiments/report/exp_agreement.h"
#include "experiments/report/exp_counts.h"

struct exp_validation {
    const struct exp_counts *counts;
    const struct exp_setup *setup;
    enum exp_cache_state cache;
    unsigned algos, n_threads;
    struct exp_points points;
    size_t n_differ; /* points whose plan cannot be made any more */
    size_t n_older;  /* points with the plan that was counted, which is another one today */
};

/*
 * Checks that the counts are of the model's layers, before any work; *seconds is what the model takes on a usual
 * computer (exp_replay_seconds). Returns 0, or -errno with one line in why.
 */
int exp_validate_check(const struct exp_validation *v, const struct exp_model *model, double *seconds,
                       struct exp_why *why);

/* Adds the points of a model. Returns 0, or -errno with one line in why. */
int exp_validate_model(struct exp_validation *v, const struct exp_model *model, struct exp_progress *progress,
                       struct exp_why *why);

#endif
