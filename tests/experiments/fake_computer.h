/*
 * A computer made up for calibrations: a simulated machine whose lines take known times, with faults set by the test.
 */
#ifndef TESTS_EXPERIMENTS_FAKE_COMPUTER_H
#define TESTS_EXPERIMENTS_FAKE_COMPUTER_H

#include <stdbool.h>

#include "experiments/calibrate/calibrate.h"
#include "sim/hierarchy.h"

struct fake_computer {
    struct exp_computer computer;
    struct sim_machine machine;
    struct sim_hierarchy *h;
    uint64_t room; /* place of the next look: untouched memory */
    size_t n_looks;

    double noise_ticks;         /* every time is up to noise_ticks longer */
    unsigned disturbed_percent; /* of looks take ten times as long, or are seen as near */
    double clock_step;          /* times are multiples of the step; 0: exact times */
    bool is_dead;               /* the clock stands still */
    bool is_backwards;          /* inner levels take longer than outer levels */
};

/* Returns 0 or -ENOMEM. f must not move. */
int fake_computer_init(struct fake_computer *f, const struct sim_machine *m);
void fake_computer_release(struct fake_computer *f);

#endif
