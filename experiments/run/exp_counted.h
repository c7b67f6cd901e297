/*
 * Writes what an experiment with counters leaves beside its other tables: a folder of recorded counts that can be sent
 * (report/exp_counts.h), and simulated beside measured (report/exp_agreement_report.h).
 */
#ifndef EXPERIMENTS_EXP_COUNTED_H
#define EXPERIMENTS_EXP_COUNTED_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/report/exp_counts.h"

/*
 * Writes the tables, and prints the table for people, if anything was counted. host is the computer, one line. Returns
 * 0, or -errno with one line in why.
 */
int exp_counted_write(const struct exp_counts_source *s, const char *host, const struct exp_outdir *dir, FILE *out,
                      struct exp_why *why);

/* Returns the names of what it writes; the list ends with NULL. */
const char *const *exp_counted_files(void);

#endif
