/*
 * Holds what was found near by the clock after short patterns (results/reference/spr/prefetch/README.md has the
 * columns), and what a simulated machine has near after the same: each probe after a walk of its own, in memory that
 * nothing has touched. A line is near if its load misses not all levels; on the computer, if it was in half of the
 * rounds (column near_share), or took less than EXP_TIMED_NEAR cycles where a file does not say that.
 */
#ifndef EXPERIMENTS_EXP_TIMED_H
#define EXPERIMENTS_EXP_TIMED_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/calibrate/exp_pattern.h"
#include "sim/machine/machine.h"

#define EXP_TIMED_NEAR 130

struct exp_timed_row {
    char name[32];
    long start_line, accesses, gap_cycles, probed_line;
    bool was_accessed, was_near, is_near; /* near: recorded, simulated */
    double ticks, near_share;             /* recorded here: the median, and how many rounds found it near */
    struct exp_pattern pattern;
};

struct exp_timed {
    struct exp_timed_row *row;
    size_t n;
};

/* Reads a file of times. Returns 0, or -errno with one line in why and *t empty. */
int exp_timed_read(struct exp_timed *t, const char *path, struct exp_why *why);
void exp_timed_release(struct exp_timed *t);

/*
 * Finds the row's pattern by its name. Its numbers are those in the name, then how many accesses it makes. Returns 0 or
 * -ENOENT.
 */
int exp_timed_find_pattern(struct exp_timed_row *row);

/* Tells whether two rows look for lines after the same walk. */
bool exp_timed_is_same_walk(const struct exp_timed_row *a, const struct exp_timed_row *b);

/* Simulates every probe on m: fills is_near. Returns 0 or -ENOMEM. */
int exp_timed_simulate(struct exp_timed *t, const struct sim_machine *m);

/* The share of the lines that the patterns did not load which m has not as recorded. Returns 0 or -ENOMEM. */
int exp_timed_score(struct exp_timed *t, const struct sim_machine *m, double *score);

/* Counts, of the lines that the patterns did not load, how many were probed, and how many are as recorded. */
void exp_timed_count(const struct exp_timed_row *row, size_t n, size_t *n_probed, size_t *n_right);

#endif
