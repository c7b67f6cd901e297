/* Fused operators as results: fusion.csv, its figure and the answer. */
#ifndef EXPERIMENTS_EXP_FUSED_REPORT_H
#define EXPERIMENTS_EXP_FUSED_REPORT_H

#include <stdio.h>

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_fused.h"

extern const struct exp_csv_file exp_fused_file;

/* Returns how many times as fast as another way fusing is, geometric mean over the layers; NaN if none was timed. */
double exp_fused_speedup(const struct exp_fused *f, enum exp_fused_pair pair, enum exp_fused_way over);

/*
 * Writes fusion.csv into an open folder; `run` says what was run, with its commit. Returns 0, or -errno with one line
 * in why.
 */
int exp_fused_write(const struct exp_fused *f, const struct exp_outdir *dir, const char *run, const char *why_no_times,
                    struct exp_why *why);

/* Prints what fusing brings, in time and in lines, beside what PolyDL prints in Figures 20 and 21. */
int exp_fused_print(const struct exp_fused *f, const char *experiments_dir, FILE *out, struct exp_why *why);

#endif
