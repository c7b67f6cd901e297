/*
 * Columns that files of several programs have: what they mean, and how they are filled. A file's table of columns takes
 * the lines from here, and its rows the functions.
 */
#ifndef EXPERIMENTS_EXP_CELLS_H
#define EXPERIMENTS_EXP_CELLS_H

#include "experiments/base/exp_bench.h"
#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_ratio.h"
#include "experiments/base/exp_stats.h"

/* clang-format off */

/* A layer. */
#define EXP_COLUMN_MODEL       { "model", "", "name of the layer table", "" }
#define EXP_COLUMN_LAYER_INDEX { "layer_index", "", "position in the table, from 1", "" }
#define EXP_COLUMN_LAYER       { "layer", "", "name of the layer", "" }
#define EXP_COLUMN_ALGO        { "algo", "", "algorithm", "" }
#define EXP_COLUMN_POINTWISE   { "pointwise", "", "1 for 1x1, unit stride, no padding", "" }
#define EXP_COLUMN_MACS        { "macs", "multiply-adds", "nominal, taps on padding included", "" }

/* Its timed rounds. */
#define EXP_COLUMN_TIME                                                                                                \
    { "measured_time_ns", "ns", "mean of the fastest quarter of the rounds: what speed-ups are made of", "clock" }
#define EXP_COLUMN_TIME_MEDIAN { "measured_time_median_ns", "ns", "median over the rounds", "clock" }
#define EXP_COLUMN_TIME_MIN    { "measured_time_min_ns", "ns", "fastest round", "clock" }
#define EXP_COLUMN_REPS        { "measured_reps", "", "timed rounds", "" }
#define EXP_COLUMN_GFLOPS      { "measured_gflops", "GFLOP/s", "2 * macs / measured_time_ns", "clock" }
#define EXP_COLUMN_SPEEDUP(where)                                                                                      \
    { "measured_speedup_vs_base", "", "base's measured_time_ns / this one" where, "clock" }

/* One of them. */
#define EXP_COLUMN_REPETITION  { "repetition", "", "from 1, in the order of time", "" }
#define EXP_COLUMN_SAMPLE                                                                                              \
    { "time_ns", "ns", "of one run; by the thread's own clock, or the wall's with CLOCK=wall", "clock" }

/* What the ruler read beside a timing: exp_cells_mark. */
#define EXP_COLUMNS_MARK                                                                                               \
    { "ruler_clock_ns", "ns",                                                                                          \
      "the slower of the ruler's readings before and after: divisions that wait for each other, which tell the core's " \
      "frequency",                                                                                                     \
      "clock" },                                                                                                       \
        { "ruler_fma_ns", "ns", "multiply-adds, which a neighbour on the core's other thread slows down", "clock" },   \
        { "ruler_loads_clock_ns", "ns", "the divisions beside the loads", "clock" },                                   \
        { "ruler_loads_ns", "ns", "reading 128 KiB again and again", "clock" },                                        \
    {                                                                                                                  \
        "taken_again", "", "how often this timing was disturbed and taken again", ""                                   \
    }

/* Sums over the layers of a model: exp_cells_sums. */
#define EXP_COLUMNS_SUMS                                                                                               \
    { "measured_time_ns", "ns", "sum over the layers of the means of the fastest quarters of the rounds", "clock" },   \
    { "measured_time_min_ns", "ns", "sum over the layers of the fastest rounds", "clock" },                            \
    { "measured_time_median_ns", "ns", "sum over the layers of the medians", "clock" }

/* How sure a speed-up is: exp_cells_interval. */
#define EXP_COLUMN_SPEEDUP_LOW                                                                                         \
    { "measured_speedup_low", "", "the same ratio in random halves of the rounds: 2.5th percentile", "clock" }
#define EXP_COLUMN_SPEEDUP_HIGH { "measured_speedup_high", "", "likewise: 97.5th percentile", "clock" }
#define EXP_COLUMNS_INTERVAL                                                                                           \
    EXP_COLUMN_SPEEDUP_LOW,                                                                                            \
    EXP_COLUMN_SPEEDUP_HIGH,                                                                                           \
    { "measured_speedup_by_median", "", "base's sum of the medians / this sum, to compare", "clock" }

/* What ended the rounds: exp_cells_rounds; `of` and `what` say more about them, or are "". */
#define EXP_COLUMNS_ROUNDS(of, what)                                                                                   \
    { "measured_rounds", "", "timed rounds" of, "" },                                                                  \
    { "measured_end", "",                                                                                              \
      "why there were no more" what ": the ratios stand, REPS, the time limit or the most there may be", "" }

/* clang-format on */

/* Fill such columns; numbers that are NaN are missing for the reason why. */
void exp_cells_sums(struct exp_csv *csv, const struct exp_times *sums, const char *why);
void exp_cells_interval(struct exp_csv *csv, const struct exp_ratio *speedup, const char *why);

/* Fills these columns; m may be NULL or all 0: there was no ruler. */
void exp_cells_mark(struct exp_csv *csv, const struct exp_mark *m);

/* Fills these columns. why NULL: there were rounds; otherwise they are missing for that reason. */
void exp_cells_rounds(struct exp_csv *csv, size_t n_rounds, enum exp_end end, const char *why);

#endif
