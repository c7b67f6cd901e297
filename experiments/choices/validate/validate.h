/* Targets of the simulation on recorded counts, and results. Internal to the folder. */
#ifndef EXPERIMENTS_VALIDATE_VALIDATE_H
#define EXPERIMENTS_VALIDATE_VALIDATE_H

#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/show/agreement.h"

/*
 * Print the table, both simulations beside each other, and write targets.csv. The worst algorithm judges the error of a
 * sum: in a sum over algorithms, too many misses of an algorithm would hide missing misses. Writing returns 0, or
 * -errno with a line in why.
 */
void exp_validate_targets_print(const struct exp_agreement_report *r, FILE *out);
int exp_validate_targets_write(const struct exp_agreement_report *r, const struct exp_outdir *dir, struct exp_why *why);

/* The simulated machine and state of the caches. */
struct exp_validate_machine {
    const struct exp_setup *setup;
    enum exp_cache_state cache;
    bool is_by_clock; /* beside times instead of counted cycles */
    double cost_percent;
    size_t n_cost; /* replays behind the cost; 0: not known */
};

/*
 * Returns the CPU time of replays with the core's clock, in % of the CPU time without the clock, summed over all
 * algorithms of the smallest layer; *n is the number of algorithms. NaN: no algorithm, or no memory.
 */
double exp_validate_cost_percent(const struct exp_experiment *e, size_t *n);

/*
 * Print and write the targets of simulated cycles, of the machine as it is, row by row: cycles.csv. Schedules that
 * simulated cycles choose stand beside the choices of CSA and csa2.
 */
void exp_validate_cycles_print(const struct exp_agreement_report *r, const struct exp_validate_machine *of, FILE *out);
int exp_validate_cycles_write(const struct exp_agreement_report *r, const struct exp_validate_machine *of,
                              const struct exp_outdir *dir, struct exp_why *why);

extern const struct rec_table exp_validate_targets_table, exp_validate_cycles_table;

/* Says in a sentence how many targets the results in a folder reached. */
void exp_validate_found(const char *folder, char *text, size_t bytes);

#endif
