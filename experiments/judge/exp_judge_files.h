/* The files of a judgement, a module each: their columns, and what writes them. Internal to exp_judge_report.h. */
#ifndef EXPERIMENTS_EXP_JUDGE_FILES_H
#define EXPERIMENTS_EXP_JUDGE_FILES_H

#include "experiments/base/exp_error.h"
#include "experiments/judge/exp_judge_report.h"

extern const struct exp_csv_file exp_judge_layers_file, exp_judge_models_file, exp_judge_ratios_file,
    exp_judge_speedups_file;

/* Writes the row of a layer to layers.csv, which is open. */
void exp_judge_put_layer(const struct exp_judge_report *r, const struct exp_judge_model *model,
                         const struct exp_judgement *v);

/* Write a whole file about all models. Return 0 or -errno with one line in why. */
int exp_judge_write_models(const struct exp_judge_report *r, const char *what, struct exp_why *why);
int exp_judge_write_ratios(const struct exp_judge_report *r, const char *what, struct exp_why *why);
int exp_judge_write_speedups(const struct exp_judge_report *r, const char *what, struct exp_why *why);

/* Writes a number, or why there is none: for that reason, or as it was divided by nothing. */
void exp_judge_put(struct exp_csv *csv, const char *column, double value, const char *why_not);

/* Writes such a number to the column that is called after a yardstick: <before><yardstick><after>. */
void exp_judge_put_by(struct exp_csv *csv, const char *before, enum exp_yardstick y, const char *after, double value,
                      const char *why_not);

/* Writes the value of each variant by a yardstick: <variant>_<yardstick>. */
void exp_judge_put_variants(struct exp_csv *csv, enum exp_yardstick y, const double value[EXP_N_VARIANTS],
                            const char *why_not);

/* Writes estimated cycles as milliseconds. */
void exp_judge_put_ms(struct exp_csv *csv, const char *column, double cycles, const struct sim_machine *m,
                      const char *why_not);

#endif
