/*
 * Targets of simulated cycles beside cycles taken, and baselines beside each target. A contender foretells the cycles of
 * each row (a layer by an algorithm): the simulation; fits without caches, taught by further shapes; constants such as
 * "always WS". A trial is a row, a pair of rows or a layer, and a contender has a score in each trial, 0 being best.
 *
 * A target is reached only if the bound holds and the best baseline is beaten by more than chance: a sign test over the
 * trials, where equal shapes vote together. Cycles foretold from equal convolutions are no baseline: no simulation can
 * be better than the repetition of a measurement.
 */
#ifndef EXPERIMENTS_CHOICES_TARGETS_H
#define EXPERIMENTS_CHOICES_TARGETS_H

#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/base/record.h"
#include "experiments/base/value.h"
#include "experiments/bench/case/algo.h"
#include "kernels/shape/problem.h"

/* ---- rivals.c: rows, and predictions ---- */

/* What a fit knows of a row. */
enum exp_amount { EXP_MACS, EXP_LOADS_DONE, EXP_STORES_DONE, EXP_ONE, EXP_N_AMOUNTS };

struct exp_taken {
    const struct conv_problem *problem;
    const struct exp_algo *algo;
    size_t layer;            /* rows of a layer are neighbours of equal number */
    double taken, simulated; /* cycles; NaN: not known */
    double amount[EXP_N_AMOUNTS];
    size_t shape, same; /* exp_taken_number: the number of the shape; the first row of equal shape and algorithm */
};

/* Numbers the shapes of n rows. */
void exp_taken_number(struct exp_taken *row, size_t n);

/* A row's kinds of prediction. */
enum exp_foreteller {
    EXP_BY_SIMULATION,
    EXP_BY_FIT, /* multiply-adds, loads, stores and a constant, a fit for each algorithm; taught by further shapes */
    EXP_BY_CONSTANT, /* a constant for each multiply-add, taught by further shapes */
    EXP_BY_EQUALS,   /* the median of the cycles of further layers of equal shape */
    EXP_ALWAYS_BASE,
    EXP_NEVER_BASE,
    EXP_ALWAYS_WS,
    EXP_ALWAYS_IS,
    EXP_ALWAYS_TUNED,
    EXP_N_FORETELLERS
};

const char *exp_foreteller_words(enum exp_foreteller c);

/*
 * Foretells cycles[n] of numbered rows; NaN: the contender cannot. A constant gives the chosen algorithm 0 and any further
 * algorithm 1.
 */
void exp_foretell(const struct exp_taken *row, size_t n, enum exp_foreteller c, double *cycles);

/* ---- targets.c ---- */

enum exp_target {
    EXP_TARGET_MEDIAN,
    EXP_TARGET_P90,
    EXP_TARGET_SIDE,
    EXP_TARGET_SCHEDULE,
    EXP_TARGET_REGRET,     /* of the layers, each of equal weight */
    EXP_TARGET_REGRET_SUM, /* of the sum of all cycles */
    EXP_N_TARGETS
};

/* The bounds of a target, in percent; 0: no bound. */
struct exp_bound {
    double at_least, aim;
    double over, over_aim; /* of a share: the wanted lead over the best baseline, in points */
};

struct exp_target_result {
    const char *name, *words, *reached;
    struct value at_least, aim, is;
    uint64_t n;                  /* trials */
    const char *rival;           /* the best baseline; NULL: none can foretell */
    struct value rival_is;       /* over the trials of both */
    uint64_t n_better, n_worse;  /* votes of shapes: the simulation beside the best baseline */
    struct value p;              /* how likely so many better votes are by chance */
    struct value equals, beside; /* by equals; and the simulation on the trials of equals */
    uint64_t n_equals;
};

/* Tables of struct exp_target_result: targets.csv, and the name of the table beside another targets.csv. */
#define EXP_BASELINES_FILE "baselines.csv"
extern const struct rec_table exp_target_table, exp_baselines_table;

/* Judges numbered rows. */
void exp_targets_judge(const struct exp_taken *row, size_t n, const struct exp_bound bound[EXP_N_TARGETS],
                       struct exp_target_result result[EXP_N_TARGETS]);

/* Returns the probability of at least n_better heads in n_better + n_worse throws of a coin. */
double exp_sign_test(uint64_t n_better, uint64_t n_worse);

/* Prints the results, a line for each target, and a line about equals. */
void exp_targets_print(const struct exp_target_result result[EXP_N_TARGETS], FILE *out);

#endif
