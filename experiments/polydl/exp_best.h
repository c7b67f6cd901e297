/*
 * The answer to PolyDL's question, layer by layer: the order and the tiles of the fastest variant, and of those that
 * the clock cannot tell from it. best.csv has it of all numbers of threads; the terminal has one thread's.
 */
#ifndef EXPERIMENTS_EXP_BEST_H
#define EXPERIMENTS_EXP_BEST_H

#include <stdio.h>

#include "experiments/record/record.h"
#include "experiments/base/exp_csv.h"
#include "experiments/polydl/exp_rank.h"

/* The fastest variant of a layer. */
struct exp_best {
    bool is_timed;  /* else all else is 0 */
    size_t variant; /* its number */
    size_t n_timed; /* variants */
    size_t
        n_equals; /* other variants that the clock cannot tell from it: a half of their rounds was not slower than the
                        slower half of the best one's */
};

struct exp_best exp_best_of(const struct exp_polydl_layer *l, enum exp_polydl_threads threads);

extern const struct rec_table exp_best_table;

/* Writes a row for each layer that has variants, and each number of threads. */
void exp_best_write(struct exp_csv *csv, const struct exp_rank *r);

/* Prints a line for each layer. Without times it has what PolyDL's analysis puts first. */
void exp_best_print(const struct exp_rank *r, FILE *out);

#endif
