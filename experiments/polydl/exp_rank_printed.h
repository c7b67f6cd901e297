/* The numbers that PolyDL prints about speeds and rankings, and ours, on one thread of another computer. */
#ifndef EXPERIMENTS_EXP_RANK_PRINTED_H
#define EXPERIMENTS_EXP_RANK_PRINTED_H

#include "experiments/base/exp_csv.h"
#include "experiments/polydl/exp_rank.h"

extern const struct exp_csv_file exp_rank_printed_file;

/* Writes printed.csv from <experiments_dir>/published/others.csv. Returns 0, or -errno with one line in why. */
int exp_rank_printed_write(const struct exp_rank *r, const char *experiments_dir, const struct exp_outdir *dir,
                           char *why, size_t why_bytes);

#endif
