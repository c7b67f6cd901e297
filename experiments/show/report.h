/* An experiment's results as CSV files, and as a table on the terminal. */
#ifndef EXPERIMENTS_SHOW_REPORT_H
#define EXPERIMENTS_SHOW_REPORT_H

#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/time/measure.h"
#include "experiments/base/outdir.h"
#include "experiments/base/record.h"
#include "experiments/bench/case/estimate.h"

struct exp_report {
    const struct exp_experiment *e;
    const struct exp_measure_info *info;
    const char *experiments_dir; /* for the published numbers */
    const char *commit;          /* of this project, "-dirty" if changed; "" if unknown */
    enum exp_cache_state cache;
    bool is_timed;
    const char *clock; /* the name of the one that timed */
    const char
        *why_elsewhere;   /* why the times are not the simulated machine's (bench/case/machine.h); NULL: they are */
    const char *observed; /* what was observed under emulation, in a sentence or two; "": nothing */
};

/*
 * Writes into the directory:
 *   layers.csv   one row per layer and algorithm
 *   model.csv    one row per algorithm, and one for SConv in the schedules that CSA chose
 *   levels.csv   one row per algorithm and level of the machine
 *   traffic.csv  one row per layer, algorithm, level, tensor and phase that saw any traffic
 *   classes.csv  one row per layer (and one for the model), algorithm, level and tensor with misses, by their class
 *   samples.csv  one row per timed repetition
 * Returns 0, or -errno with one line in why.
 */
int exp_report_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why);

/* Begins a file of a report with the header that all of them have (exp_csv_begin); row says what one row is. */
struct exp_csv *exp_report_open(const struct exp_report *r, const struct exp_outdir *dir,
                                const struct exp_csv_file *file, const char *row);

/* A row of model.csv. A why is NULL where there is a number; of a percentage, it is said where that is NaN. */
struct exp_model_row {
    const char *model;
    struct exp_total total;
    const char *why_no_speedup;
    uint64_t n_rounds;
    const char *end;
    /* These are of L1, L2, L3. */
    double measured_percent[EXP_N_NAMED_LEVELS], simulated_percent[EXP_N_NAMED_LEVELS];
    double alone_percent[EXP_N_NAMED_LEVELS], misses_per_1000_macs[EXP_N_NAMED_LEVELS];
    const char *why_no_measured_percent, *why_no_simulated_percent;
    double estimated_issue_speedup, estimated_speedup, paper_speedup;
    const char *why_no_estimated_speedup;
    double simulated_speedup;
    const char *why_no_simulated_speedup;
};

/* A row of levels.csv: of every level of the simulated machine, where other tables have those that CSA plans for. */
struct exp_levels_view {
    double misses, percent, per_1000_macs;
};

struct exp_levels_row {
    const char *model, *algo, *level, *stands_for;
    struct exp_levels_view as_it_is, alone;
    const char *why_not; /* of what is NaN */
};

/* A row of traffic.csv: what of one layer and algorithm reached a level. */
struct exp_traffic_row {
    size_t layer_index;
    const char *layer, *algo, *level, *tensor, *phase;
    struct sim_level_counts count;
    const char *why_no_classes, *why_no_prefetches; /* which only some machine files ask for */
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

extern const struct rec_table exp_model_table, exp_levels_table, exp_traffic_table, exp_classes_table,
    exp_samples_table;

/* clang-format off */

/* Three fields of L1, L2 and L3, whose values are an array; `last` says what the third one is. */
#define EXP_FIELDS_LEVELS(kind, row, before, behind, unit, what, last, source, member, why)                            \
    { { before "_l1_" behind, unit, what, source }, kind(row, member[0], why) },                                       \
    { { before "_l2_" behind, unit, "the same for L2", source }, kind(row, member[1], why) },                          \
    { { before "_l3_" behind, unit, "the same for " last, source }, kind(row, member[2], why) }
#define EXP_LAST_LEVEL "CSA's L3, the last level"
#define EXP_ALONE                                                                                                      \
    "by caches alone: LRU, the machine's sizes, nothing prefetched; simulated_ itself if the machine is that"

/* clang-format on */

/* Prints the closing table. */
void exp_report_print(const struct exp_report *r, FILE *out);

#endif
