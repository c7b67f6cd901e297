/*
 * Evidence of a machine's prefetchers is counts of patterns or times of lines. It is read from a file, compared with
 * what a simulated machine does, and fitted.
 */
#ifndef EXPERIMENTS_EXP_EVIDENCE_H
#define EXPERIMENTS_EXP_EVIDENCE_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/calibrate/exp_recorded.h"
#include "experiments/calibrate/exp_timed.h"
#include "sim/machine/machine.h"

struct exp_evidence {
    bool is_timed;
    struct exp_recorded counts;
    struct exp_timed times;
    struct exp_comparison *comparison; /* [counts.n] */
};

/* Reads a file of either kind. Returns 0, or -errno with one line in why and *e empty. */
int exp_evidence_read(struct exp_evidence *e, const char *path, struct exp_why *why);

void exp_evidence_release(struct exp_evidence *e); /* one that is all zeros is fine */

/*
 * Fits m's prefetchers: begins with those, of m and of every machine file in a folder (NULL: of m alone), that are the
 * nearest as they are, and goes on from there by max_sweeps sweeps. Writes a line for every step to log. Returns 0,
 * -EINTR if interrupted (may be NULL) says so, else -errno, with one line in why.
 */
int exp_evidence_fit(struct exp_evidence *e, struct sim_machine *m, const char *machines, unsigned max_sweeps,
                     bool (*interrupted)(void), FILE *log, struct exp_why *why);

/*
 * Simulates m and prints how near that is: with a row for every pattern if shows_rows, then a summary with the targets
 * and whether they are reached. Returns 0 or -ENOMEM.
 */
int exp_evidence_print(struct exp_evidence *e, const struct sim_machine *m, bool shows_rows, FILE *out);

#endif
