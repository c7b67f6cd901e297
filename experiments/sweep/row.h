/* The rows of a sweep's tables, for the files of this room. */
#ifndef EXPERIMENTS_SWEEP_ROW_H
#define EXPERIMENTS_SWEEP_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/value.h"
#include "experiments/sweep/sweep.h"

enum {
#define MEASURE(name, ...) SWEEP_##name,
#include "experiments/sweep/measures.def"
    SWEEP_N_MEASURES
};

/* A row of all three files. */
struct exp_sweep_row {
    const char *model, *layer, *algo;
    size_t layer_index, config; /* from 1 */
    const char *key;            /* stands for the values of VARY's keys */
    bool is_chosen;
    bool is_own; /* CSA's own tiles; of sums: in every layer */
    char plan[EXP_PLAN_TEXT_BYTES];
    struct value of[SWEEP_N_MEASURES];
    double cache_bytes, worst_cost;
    struct value percent; /* of the cost of the best configuration, for this model and algorithm */
    bool is_best, is_pareto;
};

static inline bool exp_sweep_is_simulated(const struct exp_sweep_row *row)
{
    return !row->of[SWEEP_cost].why;
}

static inline double exp_sweep_cost_of(const struct exp_sweep_row *row)
{
    return row->of[SWEEP_cost].number;
}

/* The sums of a model and algorithm, over all configurations. */
struct exp_sweep_group {
    const struct exp_sweep_row *sum, *best, *small,
        *worst; /* small: the least bytes of caches within a percent of the best */
};

struct exp_sweep_group exp_sweep_group_of(const struct exp_sweep_row *sum, size_t n_configs);

#endif
