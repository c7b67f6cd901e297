/*
 * The result files:
 *
 *   variants.csv, baselines.csv   what was measured and simulated of layers' variants
 *   best.csv       the best order and tiles of each layer
 *   rankings.csv   what each ranking is worth on each layer
 *   totals.csv     the same over many layers: the answer
 *   picks.csv      what was picked, and what it is held against, in GFLOP/s
 *   analyses.csv   what the analyses say of each variant
 *   learning.csv   the net's loss, epoch by epoch
 *   net_1.txt, net_2.txt   the nets for one and two threads (learn/rank_net.h)
 *   printed.csv    the numbers that PolyDL prints, and ours, on a single thread of another computer
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_REPORT_H
#define EXPERIMENTS_PAPERS_POLYDL_REPORT_H

#include <stdio.h>

#include "experiments/base/csv.h"
#include "experiments/base/record.h"
#include "experiments/papers/polydl/fused/fused.h"
#include "experiments/papers/polydl/rank.h"

/* Holds what is written. */
struct exp_rank_results {
    const struct exp_rank *rank;
    const struct exp_fused *fused; /* printed.csv has numbers of these, too */
    const char *run;               /* what was run, with its commit: every table says it */
    const char *experiments_dir;
    const char *untimed; /* says why what was not timed was not */
};

extern const struct rec_table exp_polydl_variants_table, exp_polydl_baselines_table, exp_best_table,
    exp_rank_layers_table, exp_rank_totals_table, exp_rank_picks_table, exp_rank_analyses_table,
    exp_rank_learning_table, exp_rank_printed_table;

/* Writes the files into an open folder. Returns 0, or -errno with a line in why. */
int exp_rank_write(const struct exp_rank_results *x, const struct exp_outdir *dir, struct exp_why *why);

/* Writes the one of them that is made of <experiments_dir>/published/others.csv. Returns likewise. */
int exp_rank_printed_write(const struct exp_rank_results *x, const struct exp_outdir *dir, struct exp_why *why);

/* Prints tables: what each ranking is worth, on layers that the net has not seen before all of them. */
void exp_rank_print(const struct exp_rank *r, FILE *out);

/*
 * Prints which analysis picks best, a line for convolutions and GEMMs and each number of threads. There is no verdict
 * where the clock's own repeat is not clearly above the best analysis (exp_rank_lead_of): the times are too noisy for
 * one.
 */
void exp_rank_print_verdict(const struct exp_rank *r, FILE *out);

/* Prints a line for each layer: its best variant. Without times it has what PolyDL's analysis puts first. */
void exp_best_print(const struct exp_rank *r, FILE *out);

/* The fastest variant of a layer. */
struct exp_best {
    bool is_timed;   /* else all else is 0 */
    size_t variant;  /* its number */
    size_t n_timed;  /* variants */
    size_t n_equals; /* other variants that the clock cannot tell from it: a half of their rounds was not slower than
                        the slower half of the best one's */
};

struct exp_best exp_best_of(const struct exp_polydl_layer *l, enum exp_polydl_threads threads);

/* A row of best.csv. The layer has variants. */
struct exp_best_row {
    const char *model, *layer, *best_variant, *polydl_variant, *first_variant;
    uint64_t threads;
    struct exp_best best;
    double best_time_min_ns, best_gflops, worst_share, clock_share, polydl_share, first_share;
};

struct exp_best_row exp_best_row(const struct exp_rank *r, size_t layer, enum exp_polydl_threads threads);

#endif
