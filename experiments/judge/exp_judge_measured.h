/*
 * Times that `make experiment` measured on the machine that is judged: the layers.csv of its results folder. A row is
 * taken only if it is of the same layer, micro-kernel and state of the caches, and if the computer that was timed is
 * the machine.
 */
#ifndef EXPERIMENTS_EXP_JUDGE_MEASURED_H
#define EXPERIMENTS_EXP_JUDGE_MEASURED_H

#include "experiments/base/exp_error.h"
#include "experiments/record/record.h"
#include "experiments/setup/exp_case.h"

/*
 * Reads a layers.csv (exp_layers.h). Returns 0; -ENOENT if there is none, with a line that says how to make it; another
 * -errno with a line, for a file that cannot be read or lacks a column. rec_release releases it.
 */
int exp_judge_measured_read(struct rec_rows *layers, const char *path, struct exp_why *why);

struct exp_judge_time {
    double ns;                /* measured_time_ns; NaN: not measured */
    struct exp_ratio speedup; /* over Base */
};

/* Returns the times of a planned case. */
struct exp_judge_time exp_judge_measured_find(const struct rec_rows *layers, const struct exp_case *c,
                                              enum exp_cache_state caches);

#endif
