/* An experiment's results as CSV files, and as a table on the terminal. */
#ifndef EXPERIMENTS_SHOW_REPORT_H
#define EXPERIMENTS_SHOW_REPORT_H

#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/base/record.h"
#include "experiments/bench/measure/measure.h"

/*
 * Writes into the directory:
 *   layers.csv   one row per layer and algorithm
 *   model.csv    one row per algorithm, and one for SConv in the schedules that CSA chose
 *   levels.csv   one row per algorithm and level of the machine
 *   traffic.csv  one row per layer, algorithm, level, tensor and phase that saw any traffic
 *   classes.csv  one row per layer (and one for the model), algorithm, level and tensor with misses, by their class
 *   samples.csv  one row per timed repetition
 *   facts.csv    one row per layer, algorithm and known number: layers.csv in long form
 * Returns 0, or -errno with one line in why.
 */
int exp_report_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why);

/* Begins a file of a report with the common header (exp_csv_begin); row says what one row is. */
struct exp_csv *exp_report_open(const struct exp_report *r, const struct exp_outdir *dir,
                                const struct exp_csv_file *file, const char *row);

/* A row of model.csv: sums over the layers. */
struct exp_model_row {
    const char *model, *algo;
    struct value of[N_MEASURES], paper_speedup;
    uint64_t n_rounds;
    const char *end;
};

/* A row of levels.csv: every level of the simulated machine; further tables have the levels that CSA plans for. */
struct exp_levels_view {
    struct value misses, percent, per_1000_macs;
};

struct exp_levels_row {
    const char *model, *algo, *level, *stands_for;
    struct exp_levels_view as_it_is, alone;
};

/* A row of traffic.csv: the requests of one layer and algorithm that reached a level. */
struct exp_traffic_row {
    size_t layer_index;
    const char *layer, *algo, *level, *tensor, *phase;
    struct sim_level_counts count;
    const char *why_no_classes, *why_no_prefetches; /* only some machine files ask for classes or prefetches */
};

/* A row of samples.csv: one timed round. */
struct exp_sample_row {
    size_t layer_index;
    const char *layer, *algo;
    size_t repetition;
    uint64_t time_ns;
    struct exp_mark mark;
    const char *why_no_mark;
};

/* A row of facts.csv: a number of layers.csv. */
struct exp_fact_row {
    const char *model;
    uint64_t layer_index;
    const char *layer, *algo, *measure;
    double value;
    const char *unit;
};

extern const struct rec_table exp_model_table, exp_levels_table, exp_traffic_table, exp_classes_table,
    exp_samples_table, exp_facts_table;

/* Prints the closing table. */
void exp_report_print(const struct exp_report *r, FILE *out);

#endif
