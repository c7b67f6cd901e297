/* The numbers that PolyDL prints, and ours, on one thread of another computer. */
#ifndef EXPERIMENTS_EXP_RANK_PRINTED_H
#define EXPERIMENTS_EXP_RANK_PRINTED_H

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_rank_report.h"

extern const struct exp_csv_file exp_rank_printed_file;

/* Writes printed.csv from <experiments_dir>/published/others.csv. Returns 0, or -errno with one line in why. */
int exp_rank_printed_write(const struct exp_rank_results *x, const struct exp_outdir *dir, struct exp_why *why);

#endif
