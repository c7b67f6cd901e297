/*
 * Operators fused and apart (PolyDL section 6.4, Figures 20 and 21): batch normalisation with ReLU, on a layer's
 * output, and the convolution itself with ReLU6. Each pair is run as two passes, as a single pass, and by oneDNN as a
 * single pass.
 *
 * The paper has 28 images, whose tensors no cache holds; of a single image the second pass finds the first pass's
 * output in a cache. The caller chooses the number of images. The fused convolution is sconv_tuned, whose epilogue
 * applies ReLU6 to a tile that is still in the first cache; PolyDL splits the last iteration of the reduction off the
 * nest.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_FUSED_FUSED_H
#define EXPERIMENTS_PAPERS_POLYDL_FUSED_FUSED_H

#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/papers/polydl/time/time.h"

/* Name in tables, meaning. */
#define EXP_EACH_FUSED_PAIR(X)                                                                                         \
    X(EXP_FUSED_BNORM, "bnorm_relu", "batch normalisation, then ReLU")                                                 \
    X(EXP_FUSED_CONV, "conv_relu6", "convolution (sconv_tuned), then ReLU6")

#define EXP_EACH_FUSED_WAY(X)                                                                                          \
    X(EXP_FUSED_APART, "apart", "two passes: the second reads and writes what the first wrote")                        \
    X(EXP_FUSED_TOGETHER, "fused", "one pass")                                                                         \
    X(EXP_FUSED_ONEDNN, "onednn", "oneDNN, fused, in its own layouts")

#define EXP_FUSED_NUMBER(number, name, meaning) number,
enum exp_fused_pair { EXP_EACH_FUSED_PAIR(EXP_FUSED_NUMBER) EXP_N_FUSED_PAIRS };
enum exp_fused_way { EXP_EACH_FUSED_WAY(EXP_FUSED_NUMBER) EXP_N_FUSED_WAYS };
#undef EXP_FUSED_NUMBER

extern const char *const exp_fused_pair_names[EXP_N_FUSED_PAIRS];

/* A layer, and its times and counts. */
struct exp_fused_layer {
    const struct exp_polydl_layer *of;
    struct conv_problem shape; /* of all images */
    double flops;              /* of the convolution, all images */
    uint64_t output_bytes;
    char why[160];       /* "": timed; else the reason for missing times */
    const char *verdict; /* of Algorithm 3, for both pairs: how the pairs are fused, or why not */
    struct exp_polydl_time time[EXP_N_FUSED_PAIRS][EXP_N_FUSED_WAYS];
    struct sim_cell simulated[EXP_N_FUSED_PAIRS][EXP_FUSED_ONEDNN]; /* through caches alone, cold; of our ways */
};

struct exp_fused {
    const struct sim_machine *machine;
    struct exp_fused_layer *layer;
    size_t n_layers, n_images;
};

/*
 * Lists the convolutions among the layers, with this number of images, and has Algorithm 3 decide. A layer with larger
 * tensors than most_bytes is not timed.
 */
void exp_fused_plan(struct exp_fused *f, const struct exp_polydl *p, size_t n_images, uint64_t most_bytes);

/* Returns the bytes that are allocated to time a layer: tensors of both pairs, and a copy to compare. */
uint64_t exp_fused_bytes(const struct exp_fused_layer *l);
void exp_fused_release(struct exp_fused *f);

/*
 * ---- tasks ----
 *
 * Fused operators timed and simulated, as tasks of the results store. Times belong to this computer, this program and
 * this budget; without a store they are taken again.
 */

/*
 * Times all layers, one after the other; t has the budget of each pair in each way. Returns as exp_tasks_run; a task
 * fails if two ways differ.
 */
int exp_fused_measure(struct exp_fused *f, const struct exp_polydl_timing *t, const struct exp_tasks_options *o,
                      struct exp_tasks_counts *counts, struct exp_why *why);

/* Simulates all layers in the plans of a setup, through the machine's caches alone. Returns as exp_tasks_run. */
int exp_fused_simulate(struct exp_fused *f, const struct exp_setup *setup, const struct exp_tasks_options *o,
                       struct exp_tasks_counts *counts, struct exp_why *why);

/* Return the time of measuring on a usual computer, on a single thread; t is NULL: of simulating. */
double exp_fused_seconds(const struct exp_fused *f, const struct exp_polydl_timing *t);

/* ---- results: fusion.csv, figure and answer ---- */

extern const struct rec_table exp_fused_table;

/* Returns how many times as fast as another way fusing is, geometric mean over the layers; NaN if none was timed. */
double exp_fused_speedup(const struct exp_fused *f, enum exp_fused_pair pair, enum exp_fused_way over);

/*
 * Writes fusion.csv into an open folder; `run` names the run, with its commit. Returns 0, or -errno with a line in why.
 */
int exp_fused_write(const struct exp_fused *f, const struct exp_outdir *dir, const char *run, const char *untimed,
                    struct exp_why *why);

/* Prints the gain by fusing, in time and in lines, beside PolyDL's Figures 20 and 21. */
int exp_fused_print(const struct exp_fused *f, const char *experiments_dir, FILE *out, struct exp_why *why);

#endif
