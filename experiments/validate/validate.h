/* Says what the simulation is to reach on recorded counts, and whether it does. Internal to the folder. */
#ifndef EXPERIMENTS_VALIDATE_VALIDATE_H
#define EXPERIMENTS_VALIDATE_VALIDATE_H

#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/show/agreement.h"

/*
 * Print the table, both simulations beside each other, and write targets.csv. The worst algorithm judges the error of a
 * sum: in a sum over algorithms, too many misses of an algorithm would hide too few of another. Writing returns 0, or
 * -errno with one line in why.
 */
void exp_validate_targets_print(const struct exp_agreement_report *r, FILE *out);
int exp_validate_targets_write(const struct exp_agreement_report *r, const struct exp_outdir *dir, struct exp_why *why);

/* What was simulated, in which state of the caches. */
struct exp_validate_machine {
    const struct exp_setup *setup;
    enum exp_cache_state cache;
    bool is_by_clock; /* beside times instead of counted cycles */
    double cost_percent;
    size_t n_cost; /* replays that this is of; 0: it is not known */
};

/*
 * Returns the CPU time of replays with the core's clock, in % of the CPU time without the clock, summed over all
 * algorithms of the smallest layer; *n is the number of algorithms. NaN: no algorithm, or no memory.
 */
double exp_validate_cost_percent(const struct exp_experiment *e, size_t *n);

/*
 * Do the same for simulated cycles, of the machine as it is, row by row: cycles.csv. Beside the schedules that these
 * choose stand those of CSA and csa2.
 */
void exp_validate_cycles_print(const struct exp_agreement_report *r, const struct exp_validate_machine *of, FILE *out);
int exp_validate_cycles_write(const struct exp_agreement_report *r, const struct exp_validate_machine *of,
                              const struct exp_outdir *dir, struct exp_why *why);

extern const struct rec_table exp_validate_targets_table, exp_validate_cycles_table;

/* Says in a sentence how many targets a folder of such results reached. */
void exp_validate_found(const char *folder, char *text, size_t bytes);

#endif
