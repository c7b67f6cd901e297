/*
 * Says what the simulation is to reach on recorded counts, and whether it does. Errors of sums are judged by the worst
 * algorithm: over all algorithms together, one's excess would pay for another's lack.
 */
#ifndef EXPERIMENTS_EXP_VALIDATE_TARGETS_H
#define EXPERIMENTS_EXP_VALIDATE_TARGETS_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/report/exp_agreement_report.h"

/* Prints the table, both simulations beside each other. Returns 0 or -ENOMEM. */
int exp_validate_targets_print(const struct exp_agreement_report *r, FILE *out);

/* Writes targets.csv. Returns 0, or -errno with one line in why. */
int exp_validate_targets_write(const struct exp_agreement_report *r, const struct exp_outdir *dir, struct exp_why *why);

void exp_validate_targets_document(FILE *out);

#endif
