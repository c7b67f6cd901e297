/*
 * The result files:
 *
 *   variants.csv, baselines.csv   times and counts of layers' variants
 *   best.csv       the best order and tiles of each layer
 *   rankings.csv   the worth of each ranking on each layer
 *   totals.csv     the worth over many layers: the answer
 *   picks.csv      picks and baselines, in GFLOP/s
 *   analyses.csv   the analyses of each variant
 *   learning.csv   the net's loss, epoch by epoch
 *   net_1.txt, net_2.txt   the nets for one and two threads (learn/rank_net.h)
 *   printed.csv    PolyDL's printed numbers, and ours, on a single thread of another computer
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_REPORT_H
#define EXPERIMENTS_PAPERS_POLYDL_REPORT_H

#include <stdio.h>

#include "experiments/base/csv.h"
#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/papers/polydl/fused/fused.h"
#include "experiments/papers/polydl/rank.h"

/* The contents of the files. */
struct exp_rank_results {
    const struct exp_rank *rank;
    const struct exp_fused *fused; /* printed.csv has numbers of fused operators, too */
    const char *run;               /* names the run, with its commit, in every table */
    const char *experiments_dir;
    const char *untimed; /* why there are no times */
};

extern const struct rec_table exp_polydl_variants_table, exp_polydl_baselines_table, exp_best_table,
    exp_rank_layers_table, exp_rank_totals_table, exp_rank_picks_table, exp_rank_analyses_table,
    exp_rank_learning_table, exp_rank_printed_table;

/* Writes the files into an open folder. Returns 0, or -errno with a line in why. */
int exp_rank_write(const struct exp_rank_results *x, const struct exp_outdir *dir, struct exp_why *why);

/* Writes printed.csv, from <experiments_dir>/published/others.csv. Returns likewise. */
int exp_rank_printed_write(const struct exp_rank_results *x, const struct exp_outdir *dir, struct exp_why *why);

/* Prints tables: the worth of each ranking, on layers that the net has not seen before all layers. */
void exp_rank_print(const struct exp_rank *r, FILE *out);

/*
 * Prints the analysis with the best picks, a line for convolutions and GEMMs and each number of threads. There is no
 * verdict where the clock's own repeat is not clearly above the best analysis (exp_rank_lead_of): the times are too
 * noisy.
 */
void exp_rank_print_verdict(const struct exp_rank *r, FILE *out);

/* Returns the verdict of convolutions on a single thread, a line from malloc; without convolutions, of GEMMs. */
char *exp_rank_verdict(const struct exp_rank *r);

/* Prints a line for each layer: the best variant. Without times the line has the first variant of PolyDL's analysis. */
void exp_best_print(const struct exp_rank *r, FILE *out);

/* The fastest variant of a layer. */
struct exp_best {
    bool is_timed;   /* else all else is 0 */
    size_t variant;  /* number of the variant */
    size_t n_timed;  /* variants */
    size_t n_equals; /* variants that the clock cannot tell from the best: a half of their rounds was not slower than
                        the slower half of the best variant's */
};

struct exp_best exp_best_of(const struct exp_polydl_layer *l, enum exp_polydl_threads threads);

/* A row of best.csv. The layer has variants. */
struct exp_best_row {
    const char *model, *layer, *best_variant, *why_no_best, *polydl_variant, *first_variant;
    uint64_t threads;
    struct exp_best best;
    double best_time_min_ns, best_gflops, worst_share, clock_share, polydl_share, first_share;
};

struct exp_best_row exp_best_row(const struct exp_rank *r, size_t layer, enum exp_polydl_threads threads);

/*
 * Returns how many times as fast as a baseline the best variant is, on a single thread: the geometric mean of the n layers
 * with both times.
 */
double exp_best_over(const struct exp_rank *r, enum exp_polydl_baseline baseline, size_t *n);

/* ---- the screen (screen.c) ---- */

/* Says how fast the best variants are. untimed: the reason for missing times; "" with times. */
void exp_best_headline(const struct exp_rank *r, const char *untimed, char *text, size_t bytes);

/* Fills the screen except its last lines. */
void exp_best_screen(const struct exp_rank *r, const char *untimed, struct exp_screen *screen);

#endif
