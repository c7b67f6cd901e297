/*
 * Parameters of prefetchers, fitted to recorded counts: a hill climb from the machine as it is, one parameter after the
 * other, to the next smaller and the next larger value of a fixed list (all words, of a word), kept when the score
 * falls, until a whole sweep changes nothing. Deterministic.
 */
#ifndef EXPERIMENTS_EXP_FIT_H
#define EXPERIMENTS_EXP_FIT_H

#include <stdio.h>

#include "experiments/calibrate/exp_comparison.h"

struct exp_fit {
    size_t max_accesses; /* of every pattern: fewer are faster */
    unsigned max_sweeps;
    FILE *log; /* a line for every step taken; NULL: none */
};

/* The mean of all errors of all quantities, each at most 1. */
double exp_fit_score(const struct exp_comparison *c, size_t n);

/* Changes m's prefetchers. Returns 0 with the score reached, or -ENOMEM. */
int exp_fit_run(const struct exp_fit *f, struct sim_machine *m, const struct exp_recorded *r, double *score);

#endif
