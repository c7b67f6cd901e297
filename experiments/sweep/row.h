/* The rows of a sweep's tables, for the files of this room. */
#ifndef EXPERIMENTS_SWEEP_ROW_H
#define EXPERIMENTS_SWEEP_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/value.h"
#include "experiments/sweep/sweep.h"

/*
 * The values of a case, or of a sum of cases, each once: columns, sums and the enumeration are made of these lines. One
 * record each:
 *
 *     VALUE(number, name of the column, unit, meaning)
 */
/* clang-format off */
#define EACH_VALUE(VALUE)                                                                                              \
    VALUE(LOADS, "loads", "", "load instructions")                                                                     \
    VALUE(L1_MISSES, "l1_load_misses", "", "loads that the first level did not serve")                                 \
    VALUE(L2_MISSES, "l2_load_misses", "", "... nor the second")                                                       \
    VALUE(L3_MISSES, "l3_load_misses", "", "... nor the last")                                                         \
    VALUE(LINES_READ, "memory_read_lines", "lines", "fetched from memory")                                             \
    VALUE(LINES_WRITTEN, "memory_written_lines", "lines", "written back to memory")                                    \
    VALUE(ISSUE_CYCLES, "issue_cycles", "cycles", "estimate: instructions issued without waiting")                     \
    VALUE(MEMORY_CYCLES, "memory_cycles", "cycles", "estimate: Eq. 6 with simulated loads")                            \
    VALUE(CYCLES, "simulated_cycles", "cycles", "by the simulated core's clock (sim/core/clock.h)")                    \
    VALUE(COST, "cost", "",                                                                                            \
          "simulated_cycles, if all cases have some; else issue_cycles + memory_cycles; without an estimate, "         \
          "memory_read_lines + memory_written_lines")
/* clang-format on */

#define NUMBER(number, ...) number,
enum { EACH_VALUE(NUMBER) N_VALUES };
#undef NUMBER

/* A row of all three files. */
struct exp_sweep_row {
    const char *model, *layer, *algo;
    size_t layer_index, config; /* from 1 */
    const char *key;            /* stands for the values of VARY's keys */
    bool is_chosen;
    bool is_own; /* CSA's own tiles; of sums: in every layer */
    char plan[EXP_PLAN_TEXT_BYTES];
    double macs;
    struct value value[N_VALUES];
    double cache_bytes, worst_cost;
    struct value percent; /* of the cost of the best configuration, for this model and algorithm */
    bool is_best, is_pareto;
};

static inline bool exp_sweep_is_simulated(const struct exp_sweep_row *row)
{
    return !row->value[COST].why;
}

static inline double exp_sweep_cost_of(const struct exp_sweep_row *row)
{
    return row->value[COST].number;
}

#endif
