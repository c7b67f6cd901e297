/*
 * classes.csv: which tensor's lines miss, and why (compulsory, capacity, conflict), per level and algorithm, for each
 * layer and for the whole model. Sums of what traffic.csv has by phase.
 */
#ifndef EXPERIMENTS_EXP_CLASSES_H
#define EXPERIMENTS_EXP_CLASSES_H

#include "experiments/base/exp_error.h"
#include "experiments/record/record.h"
#include "experiments/report/exp_report.h"

extern const struct rec_table exp_classes_table;

/* Writes <dir>/classes.csv. Returns 0, or -errno with one line in why. */
int exp_classes_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why);

#endif
