/* The files of exp_rank_report.h, one function each. Internal to it. */
#ifndef EXPERIMENTS_EXP_RANK_FILES_H
#define EXPERIMENTS_EXP_RANK_FILES_H

#include "experiments/polydl/exp_rank_report.h"
#include "experiments/record/record.h"

extern const struct rec_table exp_rank_layers_table, exp_rank_totals_table, exp_rank_learning_table;
extern const struct exp_csv_file exp_rank_picks_file, exp_rank_analyses_file;

void exp_rank_layers_write(struct exp_csv *csv, const struct exp_rank *r);
void exp_rank_totals_write(struct exp_csv *csv, const struct exp_rank *r);
void exp_rank_picks_write(struct exp_csv *csv, const struct exp_rank *r);
void exp_rank_analyses_write(struct exp_csv *csv, const struct exp_rank *r);
void exp_rank_learning_write(struct exp_csv *csv, const struct exp_rank *r);

#endif
