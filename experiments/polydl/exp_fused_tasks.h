/*
 * Fused operators timed and simulated, as tasks of the results store. Times are of this computer, this program and this
 * budget, and without a store they are taken again.
 */
#ifndef EXPERIMENTS_EXP_FUSED_TASKS_H
#define EXPERIMENTS_EXP_FUSED_TASKS_H

#include "experiments/base/exp_error.h"
#include "experiments/measure/exp_dnnl.h"
#include "experiments/polydl/exp_fused.h"
#include "experiments/setup/exp_algo.h"
#include "experiments/store/exp_tasks.h"

struct exp_fused_timing {
    const struct exp_setup *setup; /* of what runs on this computer */
    const struct exp_dnnl *dnnl;   /* NULL: it is not there */
    uint64_t budget_ns;            /* of each pair in each way */
    struct exp_ruler *ruler;       /* beside each timing; or NULL */
};

/* Times one layer: fills time of *l. Returns 0; -EINTR; -ENOMEM; -EILSEQ if ways differ; with one line in why. */
int exp_fused_time(struct exp_fused_layer *l, const struct exp_fused_timing *t, struct exp_why *why);

/* Times all layers, one after the other. Returns as exp_tasks_run. */
int exp_fused_measure(struct exp_fused *f, const struct exp_fused_timing *t, const struct exp_tasks_options *o,
                      struct exp_tasks_counts *counts, struct exp_why *why);

/* Simulates all layers as a setup plans them, through its machine's caches alone. Returns as exp_tasks_run. */
int exp_fused_simulate(struct exp_fused *f, const struct exp_setup *setup, const struct exp_tasks_options *o,
                       struct exp_tasks_counts *counts, struct exp_why *why);

/* Tell how long these take on a usual computer, on one thread. */
double exp_fused_measure_seconds(const struct exp_fused *f, const struct exp_fused_timing *t);
double exp_fused_simulate_seconds(const struct exp_fused *f);

#endif
