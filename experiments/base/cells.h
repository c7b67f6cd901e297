/*
 * Columns that files of several programs have: meaning, and place in a row. A file's table of fields takes its lines
 * from here.
 */
#ifndef EXPERIMENTS_BASE_CELLS_H
#define EXPERIMENTS_BASE_CELLS_H

#include "experiments/base/stats.h"
#include "experiments/base/csv.h"
#include "experiments/base/record.h"

/* clang-format off */

/* A layer. */
#define EXP_COLUMN_MODEL       { "model", "", "name of the layer table", "" }
#define EXP_COLUMN_LAYER_INDEX { "layer_index", "", "position in the table, from 1", "" }
#define EXP_COLUMN_LAYER       { "layer", "", "name of the layer", "" }
#define EXP_COLUMN_ALGO        { "algo", "", "algorithm", "" }
#define EXP_COLUMN_POINTWISE   { "pointwise", "", "1 for 1x1, unit stride, no padding", "" }
#define EXP_COLUMN_MACS        { "macs", "multiply-adds", "nominal, taps on padding included", "" }

/* The layer's timed rounds. */
#define EXP_COLUMN_TIME                                                                                                \
    { "measured_time_ns", "ns", "mean of the fastest quarter of the rounds: what speed-ups are made of", "clock" }
#define EXP_COLUMN_TIME_MEDIAN { "measured_time_median_ns", "ns", "median over the rounds", "clock" }
#define EXP_COLUMN_TIME_MIN    { "measured_time_min_ns", "ns", "fastest round", "clock" }
#define EXP_COLUMN_REPS        { "measured_reps", "", "timed rounds", "" }
#define EXP_COLUMN_GFLOPS      { "measured_gflops", "GFLOP/s", "2 * macs / measured_time_ns", "clock" }
#define EXP_COLUMN_SPEEDUP(where)                                                                                      \
    { "measured_speedup_vs_base", "", "base's measured_time_ns / this one" where, "clock" }

/* One round. */
#define EXP_COLUMN_REPETITION  { "repetition", "", "from 1, in the order of time", "" }
#define EXP_COLUMN_SAMPLE                                                                                              \
    { "time_ns", "ns", "of one run; by the thread's own clock, or the wall's with CLOCK=wall", "clock" }

/* The ruler's readings beside a timing: a struct exp_mark of the row. */
#define EXP_COLUMN_RULER_CLOCK                                                                                         \
    { "ruler_clock_ns", "ns",                                                                                          \
      "the slower of the ruler's readings before and after: divisions that wait for each other, which tell the "       \
      "core's frequency",                                                                                              \
      "clock" }
#define EXP_COLUMN_RULER_FMA                                                                                           \
    { "ruler_fma_ns", "ns", "multiply-adds, which a neighbour on the core's other thread slows down", "clock" }
#define EXP_COLUMN_RULER_LOADS_CLOCK { "ruler_loads_clock_ns", "ns", "the divisions beside the loads", "clock" }
#define EXP_COLUMN_RULER_LOADS { "ruler_loads_ns", "ns", "reading 128 KiB again and again", "clock" }
#define EXP_COLUMN_RULER_GHZ                                                                                           \
    { "ruler_ghz", "GHz", "cycles per ns: dependent additions, each of a cycle; mean of before and after; 0: unknown", \
      "clock" }
#define EXP_COLUMN_TAKEN_AGAIN                                                                                         \
    { "taken_again", "", "how often this timing was disturbed and taken again", "" }
#define EXP_FIELDS_MARK(row, mark, why)                                                                                \
    { EXP_COLUMN_RULER_CLOCK, REC_OR(row, mark.clock_ns, why) },                                                       \
    { EXP_COLUMN_RULER_FMA, REC_OR(row, mark.fma_ns, why) },                                                           \
    { EXP_COLUMN_RULER_LOADS_CLOCK, REC_OR(row, mark.loads_clock_ns, why) },                                           \
    { EXP_COLUMN_RULER_LOADS, REC_OR(row, mark.loads_ns, why) },                                                       \
    { EXP_COLUMN_RULER_GHZ, REC_OR(row, mark.ghz, why) },                                                              \
    { EXP_COLUMN_TAKEN_AGAIN, REC_OR(row, mark.n_again, why) }
#define EXP_NO_MARK "no ruler stood beside it"

/* Sums over the layers of a model. */
#define EXP_COLUMN_SUM                                                                                                 \
    { "measured_time_ns", "ns", "sum over the layers of the means of the fastest quarters of the rounds", "clock" }
#define EXP_COLUMN_SUM_MIN { "measured_time_min_ns", "ns", "sum over the layers of the fastest rounds", "clock" }
#define EXP_COLUMN_SUM_MEDIAN { "measured_time_median_ns", "ns", "sum over the layers of the medians", "clock" }

/* The interval of a speed-up. */
#define EXP_COLUMN_SPEEDUP_LOW                                                                                         \
    { "measured_speedup_low", "", "the same ratio in random halves of the rounds: 2.5th percentile", "clock" }
#define EXP_COLUMN_SPEEDUP_HIGH { "measured_speedup_high", "", "likewise: 97.5th percentile", "clock" }
#define EXP_COLUMN_SPEEDUP_BY_MEDIAN                                                                                   \
    { "measured_speedup_by_median", "", "base's sum of the medians / this sum, to compare", "clock" }

/*
 * The end of the rounds: a number and a text of the row, missing if there is a reason; `of` extends the meaning, or is
 * "".
 */
#define EXP_COLUMN_ROUNDS(of) { "measured_rounds", "", "timed rounds" of, "" }
#define EXP_COLUMN_END                                                                                                 \
    { "measured_end", "",                                                                                              \
      "why there were no more: the ratios no longer changed, REPS, LIMIT or the largest number of rounds", "" }
#define EXP_FIELDS_ROUNDS(row, n_rounds, end, why, of)                                                                 \
    { EXP_COLUMN_ROUNDS(of), REC_OR(row, n_rounds, why) }, { EXP_COLUMN_END, REC_OR(row, end, why) }

/* clang-format on */

#endif
