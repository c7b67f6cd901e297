/*
 * Writes what `make sweep` leaves:
 *
 *   sweep.csv    a row for each layer, algorithm and configuration
 *   configs.csv  the same summed over the layers of a model, with what is best and the Pareto front of cost against
 *                size
 *   best.csv     the best configuration of each layer and algorithm
 *
 * Cost is estimated cycles; where the machine's file lacks what those need, lines from and to memory.
 */
#ifndef EXPERIMENTS_EXP_SWEEP_REPORT_H
#define EXPERIMENTS_EXP_SWEEP_REPORT_H

#include <stdio.h>

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/sweep/exp_sweep.h"

/* Holds what a case, or a sum of cases, comes to. */
struct exp_sweep_value {
    double macs, loads, load_misses[3], memory_read_lines, memory_written_lines;
    double issue_cycles, memory_cycles; /* NaN: not estimated */
    double cost;
};

struct exp_sweep_sum {
    const struct exp_model *model;
    const struct exp_algo *algo;
    size_t config;
    const char *why_not; /* NULL: every layer was replayed */
    struct exp_sweep_value value;
    double cache_bytes;
    double percent; /* of the best configuration's cost, of this model and algorithm */
    bool is_best, is_pareto;
    bool is_own; /* CSA's own tiles in every layer */
};

struct exp_sweep_report {
    const struct exp_sweep *sweep;
    const char *why_no_estimate;
    struct exp_csv_column *column[3]; /* of the files; their keys are columns */
    struct exp_sweep_sum *sum;        /* [n_sums] by model, algorithm, configuration */
    size_t n_sums;
};

/* Writes the files, from counts that are complete. Returns 0 or -errno with one line in why. */
int exp_sweep_report_write(struct exp_sweep_report *r, const struct exp_sweep *s, const struct exp_outdir *dir,
                           const char *what, struct exp_why *why);

/* Prints the answer: for the terminal's last lines, and for verdict.txt. */
int exp_sweep_report_answer(const struct exp_sweep_report *r, FILE *out);

void exp_sweep_report_document(FILE *out);
void exp_sweep_report_release(struct exp_sweep_report *r);

/* Writes the keys of a configuration: "L1.size=16K L2.ways=4". */
void exp_sweep_say_config(const struct exp_sweep *s, size_t config, char *text, size_t bytes);

#endif
