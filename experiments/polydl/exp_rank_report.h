/*
 * The rankings as results:
 *
 *   rankings.csv   what each ranking is worth on each layer
 *   totals.csv     the same over many layers: the answer
 *   picks.csv     what was picked, and what it is held against, in GFLOP/s
 *   analyses.csv   what the analyses say of each variant
 *   learning.csv   the net's loss, epoch by epoch
 *   net_1.txt, net_2.txt   the nets for one and two threads (exp_rank_file.h)
 *   printed.csv    the numbers that PolyDL prints, and ours (exp_rank_printed.h)
 */
#ifndef EXPERIMENTS_EXP_RANK_REPORT_H
#define EXPERIMENTS_EXP_RANK_REPORT_H

#include <stdio.h>

#include "experiments/base/exp_csv.h"
#include "experiments/polydl/exp_rank_totals.h"

/* Writes the files into an open folder. Returns 0, or -errno with one line in why. */
int exp_rank_write(const struct exp_rank *r, const char *experiments_dir, const struct exp_outdir *dir, char *why,
                   size_t why_bytes);

/* Says what their columns are. */
void exp_rank_document(FILE *out);

/* Prints the answer: which analysis picks best, at what cost? */
void exp_rank_print(const struct exp_rank *r, FILE *out);

#endif
