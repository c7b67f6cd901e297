/*
 * The common quantities (counters/group/ctr_quantity.h) as the replay counts them: the same definitions, so that a
 * simulated number may stand beside a measured one. Some are no business of a memory hierarchy: branches,
 * instructions, cycles.
 */
#ifndef EXPERIMENTS_EXP_QUANTITY_H
#define EXPERIMENTS_EXP_QUANTITY_H

#include <stddef.h>

#include "sim/machine/machine.h"
#include "sim/stats.h"

/*
 * Returns what a replay on the machine counted of quantity q (an index as ctr_quantity_index gives it); NaN if it does
 * not count that.
 */
double exp_quantity_simulated(size_t q, const struct sim_machine *m, const struct sim_cell *sum);

#endif
