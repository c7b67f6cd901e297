/*
 * Parameters of prefetchers, fitted to what was recorded, counts or times: a hill climb from the machine as it is, one
 * parameter after the other, to the next smaller and the next larger value of a fixed list (all words, of a word), kept
 * when the score falls, until a whole sweep changes nothing. Deterministic.
 */
#ifndef EXPERIMENTS_EXP_FIT_H
#define EXPERIMENTS_EXP_FIT_H

#include <stdio.h>

#include "sim/machine/machine.h"

struct exp_fit {
    /* How far m is from what was recorded, 0 to 1. Returns 0 or -ENOMEM. */
    int (*score)(void *recorded, const struct sim_machine *m, double *score);
    void *recorded;
    unsigned params; /* which are fitted: bits as in struct sim_prefetcher's takes */
    unsigned max_sweeps;
    FILE *log; /* a line for every step taken; NULL: none */
};

/* Changes m's prefetchers. Returns 0 with the score reached, or what f->score returned. */
int exp_fit_run(const struct exp_fit *f, struct sim_machine *m, double *score);

#endif
