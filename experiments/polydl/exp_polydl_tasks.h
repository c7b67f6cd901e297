/*
 * The work on layers and variants as tasks of the results store, so that nothing is done twice, and what was stopped
 * goes on. Layers with the same variants, of whatever model, are one.
 *
 * Times are kept, too: they are of this computer, this program and this budget. Without a store they are taken again.
 */
#ifndef EXPERIMENTS_EXP_POLYDL_TASKS_H
#define EXPERIMENTS_EXP_POLYDL_TASKS_H

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_polydl_time.h"
#include "experiments/store/exp_tasks.h"

/* Times all layers, one after the other. Returns as exp_tasks_run. */
int exp_polydl_measure(struct exp_polydl *p, const struct exp_polydl_timing *t, const struct exp_tasks_options *o,
                       struct exp_tasks_counts *counts, struct exp_why *why);

/* Simulates all variants, with the accesses of a micro-kernel. Returns as exp_tasks_run. */
int exp_polydl_simulate(struct exp_polydl *p, const struct conv_small *small, const struct exp_tasks_options *o,
                        struct exp_tasks_counts *counts, struct exp_why *why);

/* Tell how long these take on a usual computer, on one thread. */
double exp_polydl_measure_seconds(const struct exp_polydl *p, const struct exp_polydl_timing *t);
double exp_polydl_simulate_seconds(const struct exp_polydl *p);

#endif
