/*
 * The common quantities (counters/group/ctr_quantity.h) as the replay counts them: the same definitions, so that a
 * simulated number may stand beside a measured one. Some are no business of a memory hierarchy: branches,
 * instructions, cycles.
 */
#ifndef EXPERIMENTS_BENCH_REPLAY_QUANTITY_H
#define EXPERIMENTS_BENCH_REPLAY_QUANTITY_H

#include <stddef.h>

#include "experiments/base/store.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"

/*
 * Returns what a replay on the machine counted of quantity q (an index as ctr_quantity_index gives it); NaN if it does
 * not count that.
 */
double exp_quantity_simulated(size_t q, const struct sim_machine *m, const struct sim_cell *sum);

/* Simulated counts as the result of a task, in the results store. */

#define EXP_MAC_INSTRUCTIONS "mac_instructions"

/*
 * Moves the counts of a cell that are not 0, each under the name of sim_counts_each after a prefix such as "ukr/". Two
 * cells of one result have different prefixes.
 */
void exp_kept_counts_move(struct exp_result_moving *x, const struct sim_machine *m, const char *prefix,
                          struct sim_cell *cell);

/*
 * Writes what of a machine decides counts, from malloc: its file without names, latencies and
 * what else serves estimates only.
 */
char *exp_kept_counts_setting(const struct sim_machine *m);

/* The same without what a core's clock (sim/core/clock.h) looks at: machines that have it in common count the same. */
char *exp_kept_counts_alone(const struct sim_machine *m);

#endif
