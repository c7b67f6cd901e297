/* The files of exp_rank_report.h, one function each. Internal to it. */
#ifndef EXPERIMENTS_EXP_RANK_FILES_H
#define EXPERIMENTS_EXP_RANK_FILES_H

#include "experiments/polydl/exp_rank_report.h"

extern const struct exp_csv_file exp_rank_layers_file, exp_rank_totals_file, exp_rank_picks_file,
    exp_rank_analyses_file, exp_rank_learning_file;

void exp_rank_layers_write(struct exp_csv *csv, const struct exp_rank *r);
void exp_rank_totals_write(struct exp_csv *csv, const struct exp_rank *r);
void exp_rank_picks_write(struct exp_csv *csv, const struct exp_rank *r);
void exp_rank_analyses_write(struct exp_csv *csv, const struct exp_rank *r);
void exp_rank_learning_write(struct exp_csv *csv, const struct exp_rank *r);

#endif
