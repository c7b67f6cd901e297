/* variants.csv and baselines.csv: what was measured and simulated of layers' variants. */
#ifndef EXPERIMENTS_EXP_POLYDL_REPORT_H
#define EXPERIMENTS_EXP_POLYDL_REPORT_H

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_polydl.h"

extern const struct exp_csv_file exp_polydl_variants_file, exp_polydl_baselines_file;

/*
 * Writes both files; what is not known says why_no_times. Returns 0, or -errno with one line in why.
 */
int exp_polydl_report_write(const struct exp_polydl *p, const struct exp_outdir *dir, const char *what,
                            const char *why_no_times, struct exp_why *why);

#endif
