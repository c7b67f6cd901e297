/*
 * The common quantities (counters/group/ctr_quantity.h) as the replay counts them: equal definitions, so that a
 * simulated number may stand beside a measured number. A memory hierarchy does not count some quantities: branches,
 * instructions, cycles.
 */
#ifndef EXPERIMENTS_BENCH_REPLAY_QUANTITY_H
#define EXPERIMENTS_BENCH_REPLAY_QUANTITY_H

#include <stddef.h>

#include "experiments/base/store.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"

/*
 * Returns quantity q (an index of ctr_quantity_index) as counted by a replay on the machine; NaN if the replay does not
 * count the quantity.
 */
double exp_quantity_simulated(size_t q, const struct sim_machine *m, const struct sim_cell *sum);

/* Simulated counts as the result of a task, in the results store. */

#define EXP_MAC_INSTRUCTIONS "mac_instructions"

/*
 * Moves the non-zero counts of a cell, each under the name of sim_counts_each after a prefix such as "ukr/". Two cells
 * of one result have different prefixes.
 */
void exp_kept_counts_move(struct exp_result_moving *x, const struct sim_machine *m, const char *prefix,
                          struct sim_cell *cell);

/*
 * Writes the parts of a machine that decide counts, from malloc: the machine's file without names, latencies and
 * further values for estimates only.
 */
char *exp_kept_counts_setting(const struct sim_machine *m);

/*
 * Writes the machine without the parts that only a core's clock (sim/core/clock.h) reads: machines with equal texts
 * have equal counts.
 */
char *exp_kept_counts_alone(const struct sim_machine *m);

#endif
