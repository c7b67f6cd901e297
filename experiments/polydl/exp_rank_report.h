/*
 * The rankings as results:
 *
 *   best.csv       the best order and tiles of each layer (exp_best.h)
 *   rankings.csv   what each ranking is worth on each layer
 *   totals.csv     the same over many layers: the answer
 *   picks.csv      what was picked, and what it is held against, in GFLOP/s
 *   analyses.csv   what the analyses say of each variant
 *   learning.csv   the net's loss, epoch by epoch
 *   net_1.txt, net_2.txt   the nets for one and two threads (exp_rank_file.h)
 *   printed.csv    the numbers that PolyDL prints, and ours (exp_rank_printed.h)
 */
#ifndef EXPERIMENTS_EXP_RANK_REPORT_H
#define EXPERIMENTS_EXP_RANK_REPORT_H

#include <stdio.h>

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_fused.h"
#include "experiments/polydl/exp_rank_totals.h"

/* Holds what is written. */
struct exp_rank_results {
    const struct exp_rank *rank;
    const struct exp_fused *fused; /* printed.csv has numbers of these, too */
    const char *run;               /* what was run, with its commit: every table says it */
    const char *experiments_dir;
};

/* Writes the files into an open folder. Returns 0, or -errno with one line in why. */
int exp_rank_write(const struct exp_rank_results *x, const struct exp_outdir *dir, struct exp_why *why);

/* Says what their columns are. */
void exp_rank_document(FILE *out);

/* Prints tables: what each ranking is worth, on layers that the net has not seen before all of them. */
void exp_rank_print(const struct exp_rank *r, FILE *out);

/*
 * Prints which analysis picks best, a line for convolutions and GEMMs and each number of threads. There is no verdict
 * where the clock's own repeat is not clearly above the best analysis (exp_rank_lead_of): the times are too noisy for
 * one.
 */
void exp_rank_print_verdict(const struct exp_rank *r, FILE *out);

#endif
