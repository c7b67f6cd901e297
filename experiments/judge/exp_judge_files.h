/* The files of a judgement, a module each: their columns, and what writes them. Internal to exp_judge_report.h. */
#ifndef EXPERIMENTS_EXP_JUDGE_FILES_H
#define EXPERIMENTS_EXP_JUDGE_FILES_H

#include <math.h>

#include "experiments/base/exp_error.h"
#include "experiments/judge/exp_judge_report.h"
#include "experiments/record/record.h"

extern const struct rec_table exp_judge_layers_table, exp_judge_models_table, exp_judge_ratios_table,
    exp_judge_speedups_table;

/* Writes the row of a layer to layers.csv, which is open. */
void exp_judge_put_layer(const struct exp_judge_report *r, const struct exp_judge_model *model,
                         const struct exp_judgement *v);

/* Write a whole file about all models. Return 0 or -errno with one line in why. */
int exp_judge_write_models(const struct exp_judge_report *r, const char *what, struct exp_why *why);
int exp_judge_write_ratios(const struct exp_judge_report *r, const char *what, struct exp_why *why);
int exp_judge_write_speedups(const struct exp_judge_report *r, const char *what, struct exp_why *why);

/* Return a number, NaN where there is a reason; the reason, which of a number that is NaN is a division by nothing. */
static inline double exp_judge_number(double value, const char *why_not)
{
    return why_not ? (double)NAN : value;
}

static inline const char *exp_judge_reason(const char *why_not)
{
    return why_not ? why_not : "the better schedule moves nothing";
}

/* Estimated cycles as milliseconds. */
struct exp_judge_ms {
    double value;
    const char *why_not; /* where that is NaN */
};

struct exp_judge_ms exp_judge_ms_of(double cycles, const struct sim_machine *m, const char *why_not);

#endif
