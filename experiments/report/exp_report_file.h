/* A CSV file of an experiment's report, with the header that all of them have. Internal to the report. */
#ifndef EXPERIMENTS_EXP_REPORT_FILE_H
#define EXPERIMENTS_EXP_REPORT_FILE_H

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/report/exp_report.h"

/*
 * Creates the file in dir; row says what one row is. Returns 0, or -errno with one line in why and nothing to close.
 * To be closed by exp_csv_close.
 */
int exp_report_open(struct exp_csv **csv, const struct exp_report *r, const struct exp_outdir *dir,
                    const struct exp_csv_file *file, const char *row, struct exp_why *why);

#endif
