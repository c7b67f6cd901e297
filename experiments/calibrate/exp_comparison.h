/*
 * Recorded patterns replayed on a simulated machine, and how far apart the two are.
 *
 * The walk's own reads of its list of offsets, four bytes for each access, are replayed as another instruction; so is
 * what brought the buffer to its place. Dependent loads leave prefetches all the time they need, so that `late` does
 * not count here.
 *
 * The error of a quantity is |simulated - counted| / counted. Where less than EXP_COMPARISON_FLOOR lines an access were
 * counted, which is what the counts wander by, there is none; nor for lines into L2 of a buffer that was in L2: what was
 * counted there is what other programs had thrown out.
 */
#ifndef EXPERIMENTS_EXP_COMPARISON_H
#define EXPERIMENTS_EXP_COMPARISON_H

#include <stddef.h>

#include "experiments/calibrate/exp_recorded.h"
#include "sim/machine/machine.h"

#define EXP_COMPARISON_FLOOR 0.05

struct exp_comparison {
    double simulated[EXP_N_RECORDED]; /* per access */
    double error[EXP_N_RECORDED];     /* NAN: none */
};

/* Replays all rows, each cut to max_accesses, on m with at least two levels, into c[r->n]. Returns 0 or -ENOMEM. */
int exp_compare(struct exp_comparison *c, const struct exp_recorded *r, const struct sim_machine *m,
                size_t max_accesses);

/* The error of a quantity that a share of rows stays below (0.5: the median), and how many rows have one. */
double exp_comparison_quantile(const struct exp_comparison *c, size_t n, enum exp_recorded_quantity q, double share,
                               size_t *n_compared);

/* The mean of all errors of all quantities, each at most 1. */
double exp_comparison_score(const struct exp_comparison *c, size_t n);

#endif
